// SPDX-License-Identifier: Apache-2.0
#include "process/doorbell.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sukima::objects::detail {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<std::uint64_t>::is_always_lock_free);

void doorbell::wake() noexcept {
  // Not a private futex: other processes sleep on it.
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_.word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void doorbell::ring(std::size_t bit) noexcept {
  set(bit);
  // If the word was `asleep` a wake-up is necessary: the listener sleeps in the futex, or is about to and
  // will find the word changed. pairs with: listen, sleep
  if (word_.word.exchange(doorbell_word::rung, std::memory_order_seq_cst) == doorbell_word::asleep) wake();
}

void doorbell::ring_and_wake(std::size_t bit) noexcept {
  set(bit);
  // Sequentially consistent: a plain release store would end the release sequence of other ringers, but the
  // listener that reads it must see their bits, too. pairs with: listen, sleep
  word_.word.store(doorbell_word::rung, std::memory_order_seq_cst);
  wake();
}

void doorbell::sleep() noexcept {
  std::uint32_t expected = doorbell_word::awake;
  // Fails if a process has rung since listen exchanged the word. pairs with: ring, ring_and_wake
  if (!word_.word.compare_exchange_strong(expected, doorbell_word::asleep, std::memory_order_seq_cst)) return;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_.word), FUTEX_WAIT, doorbell_word::asleep,
          nullptr, nullptr, 0);
}

}  // namespace sukima::objects::detail

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
  // After `asleep` a wake-up is needed: the listener is in the futex, or finds the word changed there.
  // Partners: listen, sleep().
  if (word_.word.exchange(doorbell_word::rung) == doorbell_word::asleep) wake();
}

void doorbell::ring_for_the_dead(std::size_t bit) noexcept {
  set(bit);
  // Sequentially consistent: a store does not pass on the releases of other ringers, but their bits must be
  // seen with it. Partners: listen, sleep().
  word_.word.store(doorbell_word::rung);
  wake();
}

void doorbell::sleep() noexcept {
  std::uint32_t expected = doorbell_word::awake;
  // Fails after a ring since listen exchanged the word. Partners: ring, ring_for_the_dead.
  if (!word_.word.compare_exchange_strong(expected, doorbell_word::asleep)) return;
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word_.word), FUTEX_WAIT, doorbell_word::asleep,
          nullptr, nullptr, 0);
}

}  // namespace sukima::objects::detail

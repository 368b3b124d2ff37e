// SPDX-License-Identifier: Apache-2.0
// Doorbells: a process rings the doorbell of another one after it has moved a stream's index.
//
// A ringer sets the stream's bit, then exchanges the word for `rung`. If the word was `asleep`, it wakes the
// futex. The listener exchanges the word for `awake` and takes the bits. Only if there were none, it changes
// the word from `awake` to `asleep` and sleeps, so it sees a ring in between. Bits are idempotent.
//
// A process that dies between two of these steps leaves at worst a bit without a ring, or `rung` without a
// wake-up. So the parent rings for all streams of a dead process, and wakes the listeners in any case.
// Model: src/objects/model/doorbell.pml.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sukima::objects::detail {

/// The word of a doorbell, in shared memory. Words of bits follow it.
struct doorbell_word {
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t rung = 1;
  static constexpr std::uint32_t asleep = 2;
  /// Sequentially consistent, as the bits: each of them stands for data that the ringer stored before.
  /// pairs with: listen; ring, ring_and_wake, sleep in doorbell.cpp
  alignas(64) std::atomic<std::uint32_t> word{awake};
};

class doorbell {
 public:
  doorbell(doorbell_word& word, std::atomic<std::uint64_t>* bits, std::size_t words) noexcept
      : word_(word), bits_(bits), words_(words) {}
  /// A value instead of a bit's number: rings without a bit, for other words that the listener reads.
  static constexpr std::size_t no_bit = ~std::size_t{0};
  void ring(std::size_t bit) noexcept;
  /// Wakes the listener even if a ringer died before its wake-up.
  void ring_and_wake(std::size_t bit) noexcept;
  /// For the listener: calls f(bit) for each bit that was set; sleeps until a ring if there was none.
  template <class F> void listen(F f) {
    // Before the bits are read: sleep() sees a ring that comes after this. The ringers set the bit first.
    // pairs with: ring, ring_and_wake
    bool any = word_.word.exchange(doorbell_word::awake, std::memory_order_seq_cst) == doorbell_word::rung;
    for (std::size_t w = 0; w < words_; ++w) {
      // Sequentially consistent, as the word. The exchange also takes bits that were set after this load.
      // pairs with: set
      if (bits_[w].load(std::memory_order_seq_cst) == 0) continue;
      any = true;
      for (std::uint64_t set = bits_[w].exchange(0, std::memory_order_seq_cst); set != 0; set &= set - 1)
        f(w * 64 + static_cast<std::size_t>(__builtin_ctzll(set)));
    }
    if (!any) sleep();
  }

 private:
  void set(std::size_t bit) noexcept {
    // Before the word is exchanged or stored. pairs with: listen
    if (bit != no_bit) bits_[bit / 64].fetch_or(std::uint64_t{1} << (bit % 64), std::memory_order_seq_cst);
  }
  void sleep() noexcept;
  void wake() noexcept;
  doorbell_word& word_;
  std::atomic<std::uint64_t>* bits_;  ///< pairs with: set, listen
  std::size_t words_;
};

}  // namespace sukima::objects::detail

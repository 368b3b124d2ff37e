// SPDX-License-Identifier: Apache-2.0
// The word on which a worker sleeps.
#pragma once

#include "park/priority_loan.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sukima::detail {

/// Counts the wake-ups of its worker. The worker reads the epoch before its last search for work, and sleeps
/// only while the epoch has not changed since. So a wake-up between the search and the sleep is not lost.
class wake_epoch {
 public:
  /// \param uses_condvar some wait of the runtime has the policy `condvar`
  /// \param inherits      some has `inherit`
  wake_epoch(bool uses_condvar, bool inherits) : uses_condvar_(uses_condvar), inherits_(inherits) {}
  wake_epoch(const wake_epoch&) = delete;
  wake_epoch& operator=(const wake_epoch&) = delete;

  /// Called by the worker before its last search for work.
  std::uint32_t read() const noexcept { return epoch_.load(std::memory_order_seq_cst); }
  /// Wakes the worker, now or when it is about to sleep. Costs a system call.
  void advance() noexcept;
  /// Sleeps until the epoch differs from `seen`; may return early.
  void wait(wait_policy policy, std::uint32_t seen) noexcept;
  /// The same, for at most this number of nanoseconds.
  void wait_for(wait_policy policy, std::uint32_t seen, std::uint64_t nanoseconds) noexcept;
  /// For the policy `inherit`: the next waits are for that thread; 0: for an unknown thread. If another
  /// thread calls advance(), such a wait notices that within a millisecond (tuning::longest_loan_ns).
  void lend_to(int thread) noexcept { borrower_ = static_cast<std::uint32_t>(thread); }

 private:
  /// Sleeps while the epoch is `seen`, lending this thread's priority. \return false: that cannot be done
  bool wait_lending(std::uint32_t seen, std::uint64_t nanoseconds) noexcept;

  atomic<std::uint32_t> epoch_{0};  ///< A futex. pairs with: advance, read, wait, wait_for, wait_lending
  const bool uses_condvar_;
  const bool inherits_;
  std::mutex lock_;  ///< with advanced_, for the policy `condvar`: held while the epoch is compared
  std::condition_variable advanced_;
  priority_loan loan_;  ///< for the policy `inherit`
  std::uint32_t borrower_ = 0;  ///< for its own worker
};

}  // namespace sukima::detail

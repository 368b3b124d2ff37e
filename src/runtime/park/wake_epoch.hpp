// SPDX-License-Identifier: Apache-2.0
// The word that a worker sleeps on.
#pragma once

#include "park/priority_loan.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sukima::detail {

/// Counts the calls to wake its worker. The worker reads it before its last look around, and sleeps only
/// while it has not changed since. So a call between the look and the sleep is not lost.
class wake_epoch {
 public:
  /// \param uses_condvar some wait of the runtime has the policy `condvar`
  /// \param inherits      some has `inherit`
  wake_epoch(bool uses_condvar, bool inherits) : uses_condvar_(uses_condvar), inherits_(inherits) {}
  wake_epoch(const wake_epoch&) = delete;
  wake_epoch& operator=(const wake_epoch&) = delete;

  /// The worker reads it before its last look around.
  std::uint32_t read() const noexcept { return epoch_.load(std::memory_order_seq_cst); }
  /// Wakes the worker, now or when it is about to sleep. Costs a system call.
  void advance() noexcept;
  /// Sleeps until the epoch is another one than `seen`; may return early.
  void wait(wait_policy policy, std::uint32_t seen) noexcept;
  /// The same for at most so many nanoseconds.
  void wait_for(wait_policy policy, std::uint32_t seen, std::uint64_t nanoseconds) noexcept;
  /// For the policy `inherit`: the next waits are for that thread; 0: for an unknown one. Such a wait notices
  /// within a millisecond (tuning::longest_loan_ns) that another thread has called advance().
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

// SPDX-License-Identifier: Apache-2.0
#include "park/wake_epoch.hpp"

#include "park/futex.hpp"
#include "stress.hpp"

#include <chrono>

namespace sukima::detail {

void wake_epoch::advance() noexcept {
  stress_point();
  epoch_.fetch_add(1);
  futex(epoch_, FUTEX_WAKE, 1, nullptr);
  if (!uses_condvar_) return;
  // A worker that compared the epoch before the addition holds the lock until it waits.
  {
    const std::lock_guard hold(lock_);
  }
  advanced_.notify_one();
}

void wake_epoch::wait(wait_policy policy, std::uint32_t seen) noexcept {
  if (policy != wait_policy::condvar) {
    futex(epoch_, FUTEX_WAIT, seen, nullptr);
    return;
  }
  std::unique_lock hold(lock_);
  advanced_.wait(hold, [&] { return epoch_.load() != seen; });
}

void wake_epoch::wait_for(wait_policy policy, std::uint32_t seen, std::uint64_t nanoseconds) noexcept {
  if (policy == wait_policy::condvar) {
    std::unique_lock hold(lock_);
    advanced_.wait_for(hold, std::chrono::nanoseconds(nanoseconds), [&] { return epoch_.load() != seen; });
    return;
  }
  const timespec t{static_cast<time_t>(nanoseconds / 1'000'000'000),
                   static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(epoch_, FUTEX_WAIT, seen, &t);
}

}  // namespace sukima::detail

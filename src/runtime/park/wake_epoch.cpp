// SPDX-License-Identifier: Apache-2.0
#include "park/wake_epoch.hpp"

#include "constants.hpp"
#include "park/futex.hpp"
#include "stress.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace sukima::detail {

void wake_epoch::advance() noexcept {
  stress_point();
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  futex(epoch_, FUTEX_WAKE, 1, nullptr);
  if (inherits_) loan_.end();
  if (!uses_condvar_) return;
  // A worker that compared the epoch before the addition holds the lock until it waits.
  {
    const std::lock_guard hold(lock_);
  }
  advanced_.notify_one();
}

bool wake_epoch::wait_lending(std::uint32_t seen, std::uint64_t nanoseconds) noexcept {
  using clock = std::chrono::steady_clock;
  const auto begun = clock::now();
  for (;;) {
    const auto waited = static_cast<std::uint64_t>((clock::now() - begun).count());
    if (waited >= nanoseconds) return true;
    loan_.begin(borrower_);
    // The other way round, advance() changes the epoch and then looks whether it ends a loan.
    const bool is_over = epoch_.load(std::memory_order_seq_cst) != seen;
    const bool slept = is_over || loan_.sleep(std::min(nanoseconds - waited, tuning::longest_loan_ns));
    loan_.take_back();
    if (is_over || epoch_.load(std::memory_order_seq_cst) != seen) return true;
    if (!slept) return false;
  }
}

void wake_epoch::wait(wait_policy policy, std::uint32_t seen) noexcept {
  constexpr std::uint64_t for_ever = std::numeric_limits<std::uint64_t>::max();
  if (policy == wait_policy::inherit && borrower_ != 0 && wait_lending(seen, for_ever)) return;
  if (policy != wait_policy::condvar) {
    futex(epoch_, FUTEX_WAIT, seen, nullptr);
    return;
  }
  std::unique_lock hold(lock_);
  advanced_.wait(hold, [&] { return epoch_.load(std::memory_order_seq_cst) != seen; });
}

void wake_epoch::wait_for(wait_policy policy, std::uint32_t seen, std::uint64_t nanoseconds) noexcept {
  if (policy == wait_policy::inherit && borrower_ != 0 && wait_lending(seen, nanoseconds)) return;
  if (policy == wait_policy::condvar) {
    std::unique_lock hold(lock_);
    advanced_.wait_for(hold, std::chrono::nanoseconds(nanoseconds),
                       [&] { return epoch_.load(std::memory_order_seq_cst) != seen; });
    return;
  }
  const timespec t{static_cast<time_t>(nanoseconds / 1'000'000'000),
                   static_cast<long>(nanoseconds % 1'000'000'000)};
  futex(epoch_, FUTEX_WAIT, seen, &t);
}

}  // namespace sukima::detail

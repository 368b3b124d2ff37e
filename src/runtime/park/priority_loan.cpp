// SPDX-License-Identifier: Apache-2.0
#include "park/priority_loan.hpp"

#include "park/futex.hpp"
#include "stress.hpp"

#include <cerrno>

namespace sukima::detail {

namespace {

/// FUTEX_LOCK_PI with a time-out on CLOCK_MONOTONIC: since Linux 5.14, in headers later than that.
constexpr int futex_lock_pi2 = 13;

std::uint32_t this_thread() noexcept { return static_cast<std::uint32_t>(syscall(SYS_gettid)); }

timespec after(std::uint64_t nanoseconds) noexcept {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  const std::uint64_t end = static_cast<std::uint64_t>(t.tv_nsec) + nanoseconds;
  t.tv_sec += static_cast<time_t>(end / 1'000'000'000);
  t.tv_nsec = static_cast<long>(end % 1'000'000'000);
  return t;
}

}  // namespace

bool priority_loan::sleep(std::uint64_t nanoseconds) noexcept {
  stress_point();
  const timespec end = after(nanoseconds);
  if (futex(word_, futex_lock_pi2, 0, &end) == 0) return true;
  return errno == ETIMEDOUT || errno == EINTR || errno == EAGAIN;
}

void priority_loan::take_back() noexcept {
  std::uint32_t self = this_thread();
  const bool is_mine = (word_.load(std::memory_order_seq_cst) & FUTEX_TID_MASK) == self;
  if (!is_mine)
    // The kernel rejects a borrower that is about to end the loan.
    word_.store(0, std::memory_order_seq_cst);
  else if (!word_.compare_exchange_strong(self, 0, std::memory_order_seq_cst))
    futex(word_, FUTEX_UNLOCK_PI, 0, nullptr);
}

void priority_loan::end() noexcept {
  const std::uint32_t seen = word_.load(std::memory_order_seq_cst);
  if (seen == 0) return;
  std::uint32_t self = this_thread();
  if ((seen & FUTEX_TID_MASK) != self) return;
  stress_point();
  if (!word_.compare_exchange_strong(self, 0, std::memory_order_seq_cst))
    futex(word_, FUTEX_UNLOCK_PI, 0, nullptr);
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
#include "choice/covered_segment.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace sukima::detail {

covered_segment::covered_segment(fiber& s, char* end) noexcept
    : fiber_(s),
      end_(end),
      segment_(s.segment),
      oldest_(s.oldest),
      running_(s.running),
      innermost_(s.innermost),
      unwinds_(std::uncaught_exceptions() > 0) {
  std::swap(s.steps, steps_);
  if (s.failure) return;  // it can no longer be split
  is_listed_ = true;
  below_ = std::exchange(s.newest_covered, this);
  (below_ != nullptr ? below_->above_ : s.oldest_covered) = this;
}

covered_segment::~covered_segment() {
  std::swap(fiber_.steps, steps_);
  SUKIMA_ASSERT(fiber_.segment == segment_ && fiber_.running == running_,
                "code on top of a segment leaves the segment unchanged");
  SUKIMA_ASSERT(above_ == nullptr, "segments end in the reverse order");
  if (is_listed_) unlink();
  fiber_.oldest = std::max(fiber_.oldest, oldest_);
  // Choice points pushed below `oldest` must take the slow poll, which moves `oldest` down. The limit is
  // still raised (execute).
  fiber_.clean_from = std::max(fiber_.clean_from, fiber_.oldest);
  if (!failure_) return;
  fiber_.failure = std::move(failure_);
  fiber_.failed_at = failed_at_;
  fiber_.oldest_ended_loop = all_ones;
  fiber_.abort_pending = true;
  fiber_.limit.request_poll();
}

void covered_segment::unlink() noexcept {
  is_listed_ = false;
  (below_ != nullptr ? below_->above_ : fiber_.oldest_covered) = above_;
  (above_ != nullptr ? above_->below_ : fiber_.newest_covered) = below_;
  above_ = nullptr;
}

/// Backtracking works on the running segment.
void covered_segment::exchange_with_running() noexcept {
  fiber& s = fiber_;
  std::swap(s.segment, segment_);
  std::swap(s.oldest, oldest_);
  std::swap(s.running, running_);
  std::swap(s.innermost, innermost_);
  std::swap(s.failure, failure_);
  std::swap(s.failed_at, failed_at_);
  std::swap(s.oldest_ended_loop, oldest_ended_loop_);
  std::swap(s.abort_pending, abort_pending_);
  std::swap(s.steps, steps_);
}

task* covered_segment::split(worker& w, taker receiver) noexcept {
  exchange_with_running();
  task* const t = split_in_segment(fiber_, reinterpret_cast<choice_point*>(end_), nullptr, w, receiver);
  exchange_with_running();
  // An exception that unwinds the segment above does not affect this one.
  if (t != nullptr && !unwinds_)
    t->cancellation_masked.store(false, std::memory_order_relaxed);  // not published
  return t;
}

bool covered_segment::has_work() noexcept {
  if (failure_) return false;
  auto* r = reinterpret_cast<choice_point*>(oldest_);
  while (reinterpret_cast<char*>(r) < end_ && !kind_of(r)->open(r)) r = detail::above(r);
  oldest_ = reinterpret_cast<char*>(r);
  return oldest_ < end_;
}

}  // namespace sukima::detail

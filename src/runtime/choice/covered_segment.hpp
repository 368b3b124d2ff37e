// SPDX-License-Identifier: Apache-2.0
// Segments with another one on top of them (covered_segment.cpp).
//
// A fiber that waits at a join has nothing left to split. A fiber that waits for a group may have work left.
// So while it runs a child of the group on top, thieves can still get work of its segments below, and the
// oldest choice point of all segments is split first.
#pragma once

#include "choice/backtrack.hpp"
#include "choice/known_steps.hpp"

#include <exception>

namespace sukima::detail {

/// A segment of a fiber while another segment runs on top of it. The object is in the frame that runs the
/// upper segment, from before its beginning to after its end. The fiber lists those that may have work left,
/// the oldest first. Used by the worker that runs the fiber, or that holds it while it is suspended. All of
/// it but `split` and `has_work` (backtrack.hpp) takes constant time.
class covered_segment {
 public:
  /// \param end one past the youngest choice point
  covered_segment(fiber& s, char* end) noexcept;
  /// If a callback has thrown since, the next join of this segment rethrows the exception.
  ~covered_segment();
  covered_segment(const covered_segment&) = delete;
  covered_segment& operator=(const covered_segment&) = delete;

  /// As split_oldest, in this segment only.
  task* split(worker& w, taker receiver) noexcept;
  /// Whether there is a choice point with work, including those whose guard refused.
  bool has_work() noexcept;
  /// Records that it has no work left. Segments below the running one get no new work.
  void unlink() noexcept;
  covered_segment* above() const noexcept { return above_; }

 private:
  void exchange_with_running() noexcept;

  fiber& fiber_;
  char* const end_;
  char* segment_;
  char* oldest_;
  task* running_;
  placed* innermost_;
  known_steps steps_;  ///< while it is covered nothing is pushed in it, so they stay true
  std::exception_ptr failure_;
  char* failed_at_ = nullptr;
  char* oldest_ended_loop_ = all_ones;
  bool abort_pending_ = false;
  bool is_listed_ = false;
  const bool unwinds_;  ///< it runs a destructor because an exception is on its way
  covered_segment* below_ = nullptr;
  covered_segment* above_ = nullptr;
};

}  // namespace sukima::detail

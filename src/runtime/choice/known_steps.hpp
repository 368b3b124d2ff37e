// SPDX-License-Identifier: Apache-2.0
// What backtracking remembers of a deep choice stack, so that a split does not look through all of it again.
//
// To split the oldest choice point, the steps in progress of all younger ones must be undone and replayed. A
// split finds them by looking through the stack from choice point to choice point. It remembers the steps up
// to the address `end()`. They stay true until a choice point is pushed below that address. Forks do nothing
// for this. Instead the poll limit is kept at `end()` or above (`true_limit` in poll.hpp): a choice point
// that is pushed below it polls slowly, and the slow path forgets the steps that are not true any more
// (`forget_from`).
//
// The price is that joins below `end()` are slow, too. So each slow join forgets twice as much as the one
// before. A stack that shrinks by n choice points after a split has about log n slow joins, and the next
// split looks through no more choice points again than the stack has shrunk by. So all splits together look
// through about as many choice points as were pushed and popped, however many are pending. A stack of fewer
// than `fewest` choice points is looked through each time, and its joins stay fast.
//
// Only for the worker that runs the fiber, or that holds it while it is suspended. Model: model/limit.pml.
#pragma once

#include <sukima/detail/task.hpp>

#include <cstddef>
#include <vector>

namespace sukima::detail {

class known_steps {
 public:
  /// Less than this is not remembered.
  static constexpr std::size_t fewest = 128;

  /// One past the last choice point that is remembered; null: none.
  char* end() const noexcept { return end_; }

  /// Looks through the choice points of [from, to), as far as that is not known. \returns how many those were
  /// \throws std::bad_alloc
  std::size_t look_through(char* from, char* to);
  /// The steps of [from, to) that were found: indices below `count()`, the oldest first.
  std::size_t first_at(const choice_point* from) const noexcept;
  std::size_t count() const noexcept { return steps_.size(); }
  choice_point* operator[](std::size_t i) const noexcept { return steps_[i]; }

  /// A choice point at this address polls: what was there and above it may be gone.
  void forget_from(const char* at) noexcept;
  /// Another segment begins or ends.
  void forget() noexcept {
    if (begin_ != nullptr) forget_all();
  }
  /// The same, and frees the memory: fibers are never destroyed.
  void release() noexcept;

 private:
  /// Every so many choice points an address is noted at which one begins.
  static constexpr std::size_t between_marks = 64;

  void drop_from(const char* at) noexcept;
  void forget_all() noexcept;

  char* begin_ = nullptr;  ///< null: nothing was looked through since the last forget()
  char* end_ = nullptr;
  std::vector<choice_point*> steps_;
  std::vector<char*> marks_;  ///< above begin_, up to end_
  std::size_t unmarked_ = 0;  ///< choice points since the last mark
  std::size_t slack_ = 0;  ///< so many marks more are forgotten next time
};

}  // namespace sukima::detail

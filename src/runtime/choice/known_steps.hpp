// SPDX-License-Identifier: Apache-2.0
// The steps of a deep choice stack that backtracking has found, so that the next split need not search the
// whole stack again.
//
// To split the oldest choice point, the steps in progress of all younger ones must be undone and replayed. A
// split finds these steps by going through the stack from choice point to choice point. It stores the steps
// up to the address `end()`. They stay valid until a choice point is pushed below that address. Forks do no
// work for this. Instead the poll limit is kept at `end()` or above (`true_limit` in poll.hpp). So a choice
// point that is pushed below `end()` takes the slow path of its poll, which removes the steps that are no
// longer valid (`forget_from`).
//
// The price is that joins below `end()` are slow, too. So each slow join removes twice as many steps as the
// one before. If a stack shrinks by n choice points after a split, it has about log n slow joins, and the
// next split visits at most n choice points again. So all splits together visit about as many choice points
// as were pushed and popped, however many are pending. For a stack of fewer than `fewest` choice points no
// steps are stored, and its joins stay fast.
//
// Only for the worker that runs the fiber, or that holds it while it is suspended. Model: model/limit.pml.
#pragma once

#include <sukima/detail/task.hpp>

#include <cstddef>
#include <vector>

namespace sukima::detail {

class known_steps {
 public:
  /// For stacks with fewer choice points no steps are stored.
  static constexpr std::size_t fewest = 128;

  /// One past the last choice point whose steps are stored; null: none.
  char* end() const noexcept { return end_; }

  /// Finds the steps of the choice points in [from, to) that are not stored yet. \returns how many it visited
  /// \throws std::bad_alloc
  std::size_t look_through(char* from, char* to);
  /// The steps of [from, to) that were found: indices below `count()`, the oldest first.
  std::size_t first_at(const choice_point* from) const noexcept;
  std::size_t count() const noexcept { return steps_.size(); }
  choice_point* operator[](std::size_t i) const noexcept { return steps_[i]; }

  /// A choice point at this address polls, so choice points at it and above it may be gone.
  void forget_from(const char* at) noexcept;
  /// Another segment begins or ends.
  void forget() noexcept {
    if (begin_ != nullptr) forget_all();
  }
  /// The same, and frees the memory: fibers are never destroyed.
  void release() noexcept;

 private:
  /// Number of choice points after which the address of one is stored.
  static constexpr std::size_t between_marks = 64;

  void drop_from(const char* at) noexcept;
  void forget_all() noexcept;

  char* begin_ = nullptr;  ///< null: nothing was looked through since the last forget()
  char* end_ = nullptr;
  std::vector<choice_point*> steps_;
  std::vector<char*> marks_;  ///< above begin_, up to end_
  std::size_t unmarked_ = 0;  ///< choice points since the last mark
  std::size_t slack_ = 0;  ///< number of additional marks to remove next time
};

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// Divides the ranges of TBB's algorithms: recursive forks, and blocks that take about a microsecond.
#pragma once

#include <sukima/detail/tbb/running.hpp>
#include <sukima/detail/ticks.hpp>
#include <sukima/fork.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace tbb {
/// Marks constructors that split a part off another object.
class split {};
/// The same, with the sizes of both parts.
class proportional_split {
 public:
  explicit proportional_split(std::size_t left = 1, std::size_t right = 1) noexcept
      : left_(left), right_(right) {}
  std::size_t left() const noexcept { return left_; }
  std::size_t right() const noexcept { return right_; }
  explicit operator split() const noexcept { return {}; }

 private:
  std::size_t left_;
  std::size_t right_;
};
}  // namespace tbb

namespace sukima::detail::tbb {

/// How a partitioner divides a range.
enum class division {
  fully,           ///< simple_partitioner: until no part is divisible
  adaptive,        ///< auto_partitioner
  proportionally,  ///< affinity_partitioner: adaptive, by proportional splits if the range has them
  evenly,          ///< static_partitioner: one part for each worker
};

/// The depth below which parts are not divided further. At first, parts are as small as possible. The depth
/// then grows or shrinks with the time that a part takes.
class adaptive_depth {
 public:
  bool divides_at(int depth) const noexcept { return depth < limit_.load(std::memory_order_relaxed); }
  /// Records the ticks that a part at this depth took.
  void took(int depth, std::uint64_t ticks) noexcept {
    if (ticks < short_part)
      limit_.store(depth - 1, std::memory_order_relaxed);
    else if (ticks > long_part)
      limit_.store(depth + 1, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t short_part = 3'000;  ///< about 1 µs
  static constexpr std::uint64_t long_part = 30'000;
  /// no partner: a wrong depth costs time only
  std::atomic<int> limit_{std::numeric_limits<int>::max()};
};

/// Splits off the right part of a range. \pre range is divisible
template <class Range> Range right_part(Range& range, std::size_t left, std::size_t right) {
  if constexpr (std::is_constructible_v<Range, Range&, ::tbb::proportional_split&>) {
    ::tbb::proportional_split sizes(left, right);
    return Range(range, sizes);
  } else {
    return Range(range, ::tbb::split());
  }
}

/// An algorithm over a range. \tparam Work  has
/// - `void leaf(Range&)`, which may throw: the work for a part that is not divided further
/// - `void fork(context, left, right)`, which calls left(context, work) and right(context, work)
template <class Range, class Work> class division_of {
 public:
  /// \param parts  the number of parts with division::evenly
  division_of(const running_state& task, division how, std::size_t parts) noexcept
      : task_(task), how_(how), parts_(parts) {}

  void run(context c, Range& range, Work& work) noexcept {
    if (how_ == division::evenly)
      divide_evenly(c, range, parts_, work);
    else
      divide(c, range, 0, work);
  }

 private:
  void divide(context c, Range& range, int depth, Work& work) noexcept {
    if (task_.group->is_cancelled()) return;
    if (how_ == division::fully || depth_.divides_at(depth)) {
      std::optional<Range> right;
      if (!take(c, range, right, [&] { return half_of(range); })) return;
      if (right) {
        work.fork(
            c, task_, [&, depth](context d, Work& w) { divide(d, range, depth + 1, w); },
            [&, depth](context d, Work& w) { divide(d, *right, depth + 1, w); });
        return;
      }
    }
    const std::uint64_t begin = ticks();
    tbb::run_body(c, task_, [&] { work.leaf(range); });
    if (how_ != division::fully) depth_.took(depth, ticks() - begin);
  }
  /// \pre range is divisible
  Range half_of(Range& range) const {
    return how_ == division::proportionally ? tbb::right_part(range, 1, 1) : Range(range, ::tbb::split());
  }
  void divide_evenly(context c, Range& range, std::size_t parts, Work& work) noexcept {
    if (task_.group->is_cancelled()) return;
    if (parts > 1) {
      const std::size_t rest = parts / 2;
      std::optional<Range> right;
      if (!take(c, range, right, [&] { return tbb::right_part(range, parts - rest, rest); })) return;
      if (right) {
        work.fork(
            c, task_, [&, parts, rest](context d, Work& w) { divide_evenly(d, range, parts - rest, w); },
            [&, rest](context d, Work& w) { divide_evenly(d, *right, rest, w); });
        return;
      }
    }
    tbb::run_body(c, task_, [&] { work.leaf(range); });
  }
  /// Divides the range if it is divisible. \returns false if the division threw
  template <class Make> bool take(context c, Range& range, std::optional<Range>& right, Make make) noexcept {
    bool taken = false;
    tbb::run_body(c, task_, [&] {
      if (range.is_divisible()) right.emplace(in_place_result<Make>{make});
      taken = true;
    });
    return taken;
  }
  /// Converts to the result of a function. std::optional constructs the result in place, without a move.
  template <class Make> struct in_place_result {
    Make& make;
    operator Range() const { return make(); }  // NOLINT(google-explicit-constructor)
  };

  running_state task_;
  division how_;
  std::size_t parts_;
  adaptive_depth depth_;
};

}  // namespace sukima::detail::tbb

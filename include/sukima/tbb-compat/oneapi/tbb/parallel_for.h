// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_for on Sukima's workers.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/profiling.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/algorithm.hpp>
#include <sukima/detail/tbb/errors.hpp>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace sukima::detail::tbb {

template <class Range, class Body> struct for_work {
  const Body& body;
  void leaf(Range& part) const { std::invoke(body, part); }
  template <class Left, class Right> void fork(context c, const running_state&, Left left, Right right) {
    sukima::fork2(c, [&](context d) { left(d, *this); }, [&](context d) { right(d, *this); });
  }
};

template <class Range, class Body, class Partitioner>
void parallel_for(const Range& range, const Body& body, const Partitioner&, ::tbb::task_group_context& of) {
  if (range.empty()) return;
  tbb::run_in(of, [&](context c, const running_state& task) {
    for_work<Range, Body> work{body};
    tbb::divide_range<Partitioner>(c, task, range, work);
  });
}

/// The type of the distance between two indices, which is a number.
template <class Index> using index_distance =
    std::conditional_t<std::is_arithmetic_v<decltype(std::declval<Index>() - std::declval<Index>())>,
                       decltype(std::declval<Index>() - std::declval<Index>()), std::size_t>;

/// Calls f(first + k * step) for k in a range.
template <class Index, class F> struct stepping_body {
  using distance = index_distance<Index>;
  const F& f;
  Index first;
  distance step;
  void operator()(const ::tbb::blocked_range<distance>& part) const {
    Index i = static_cast<Index>(Index(first) + part.begin() * step);
    for (distance k = part.begin(), end = part.end(); k < end; ++k, i = static_cast<Index>(i + step))
      std::invoke(f, i);
  }
};

/// Counts in distances, because an index that is not a number need not have a division.
template <class Index, class F, class Partitioner>
void parallel_for(Index first, Index last, Index step, const F& f, const Partitioner& p,
                  ::tbb::task_group_context& of) {
  using distance = index_distance<Index>;
  if (!(Index(0) < step)) tbb::throw_error(std::invalid_argument("Step must be positive"));
  if (!(first < last)) return;
  const distance each = static_cast<distance>(step - Index(0));
  // The count is above zero, but may overflow a distance. As in TBB, this is not checked.
  const distance count = (static_cast<distance>(last - first) - distance(1)) / each + distance(1);
  tbb::parallel_for(::tbb::blocked_range<distance>(distance(0), count),
                    stepping_body<Index, F>{f, first, each}, p, of);
}

}  // namespace sukima::detail::tbb

namespace tbb {

/// Calls body(part) for parts of a range. The last arguments are a partitioner, a task_group_context, or
/// both. \throws the first exception of the body
template <class Range, class Body, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_for_body<Body, Range>)
void parallel_for(const Range& range, const Body& body, Options&&... options) {
  ::sukima::detail::tbb::with_options<auto_partitioner>(
      [&](auto& partitioner, task_group_context& of) {
        ::sukima::detail::tbb::parallel_for(range, body, partitioner, of);
      },
      options...);
}
/// Calls f(i) for each i in [first, last).
template <class Index, class F, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> &&
           ::sukima::detail::tbb::parallel_for_index<Index> &&
           ::sukima::detail::tbb::parallel_for_function<F, Index>)
void parallel_for(Index first, Index last, const F& f, Options&&... options) {
  ::sukima::detail::tbb::with_options<auto_partitioner>(
      [&](auto& partitioner, task_group_context& of) {
        ::sukima::detail::tbb::parallel_for(first, last, Index(1), f, partitioner, of);
      },
      options...);
}
/// The same in steps. \throws std::invalid_argument if `step` is not positive
template <class Index, class F, class... Options>
  requires(::sukima::detail::tbb::algorithm_options<Options...> &&
           ::sukima::detail::tbb::parallel_for_index<Index> &&
           ::sukima::detail::tbb::parallel_for_function<F, Index>)
void parallel_for(Index first, Index last, Index step, const F& f, Options&&... options) {
  ::sukima::detail::tbb::with_options<auto_partitioner>(
      [&](auto& partitioner, task_group_context& of) {
        ::sukima::detail::tbb::parallel_for(first, last, step, f, partitioner, of);
      },
      options...);
}

}  // namespace tbb

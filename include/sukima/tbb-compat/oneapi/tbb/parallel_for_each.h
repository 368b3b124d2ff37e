// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_for_each, with its feeder, on Sukima's workers.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/for_each.hpp>

#include <iterator>
#include <utility>

namespace tbb {

/// Calls body(item) or body(item, feeder) for all items, and for the items that the feeder adds. \throws the
/// first exception of the body
template <class I, class Body>
  requires(std::input_iterator<I> && ::sukima::detail::tbb::for_each_iterator_body<Body, I>)
void parallel_for_each(I first, I last, const Body& body, task_group_context& of) {
  ::sukima::detail::tbb::for_each(first, last, body, of);
}
template <class I, class Body>
  requires(std::input_iterator<I> && ::sukima::detail::tbb::for_each_iterator_body<Body, I>)
void parallel_for_each(I first, I last, const Body& body) {
  task_group_context own;
  ::sukima::detail::tbb::for_each(first, last, body, own);
}
template <class Range, class Body>
  requires ::sukima::detail::tbb::for_each_range_body<Body, Range>
void parallel_for_each(Range&& range, const Body& body, task_group_context& of) {
  ::sukima::detail::tbb::for_each(std::begin(range), std::end(range), body, of);
}
template <class Range, class Body>
  requires ::sukima::detail::tbb::for_each_range_body<Body, Range>
void parallel_for_each(Range&& range, const Body& body) {
  task_group_context own;
  ::sukima::detail::tbb::for_each(std::begin(range), std::end(range), body, own);
}

}  // namespace tbb

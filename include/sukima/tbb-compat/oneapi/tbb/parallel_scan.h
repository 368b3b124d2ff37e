// SPDX-License-Identifier: Apache-2.0
// tbb::parallel_scan on Sukima's workers.
#pragma once

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/scan.hpp>

namespace tbb {

/// Computes running totals with a body, which is called with pre_scan_tag and final_scan_tag.
template <class Range, class Body, class... Options>
  requires(::sukima::detail::tbb::scan_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_scan_body<Body, Range>)
void parallel_scan(const Range& range, Body& body, const Options&...) {
  ::sukima::detail::tbb::parallel_scan(range, body, ::sukima::detail::tbb::division_by<Options...>());
}
/// Computes running totals: sum = scan(part, sum before the part, whether this is the final call).
/// \returns the sum of all elements
template <class Range, class Value, class Scan, class ReverseJoin, class... Options>
  requires(::sukima::detail::tbb::scan_options<Options...> && ::sukima::detail::tbb::tbb_range<Range> &&
           ::sukima::detail::tbb::parallel_scan_function<Scan, Range, Value> &&
           ::sukima::detail::tbb::parallel_scan_combine<ReverseJoin, Value>)
Value parallel_scan(const Range& range, const Value& identity, const Scan& scan,
                    const ReverseJoin& reverse_join, const Options&...) {
  ::sukima::detail::tbb::functional_scan<Range, Value, Scan, ReverseJoin> body(identity, scan, reverse_join);
  ::sukima::detail::tbb::parallel_scan(range, body, ::sukima::detail::tbb::division_by<Options...>());
  return std::move(body).result();
}

}  // namespace tbb

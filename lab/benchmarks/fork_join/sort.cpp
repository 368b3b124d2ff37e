// SPDX-License-Identifier: Apache-2.0
// sort: merge sort; halves are sorted in parallel, and large runs are merged in parallel.
#include "kernels/sort.hpp"

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using kernels::keys;

// Merges a and b into `to`: the middle of the longer one divides both.
void merge(auto c, keys a, keys b, keys to) {
  if (to.size() <= kernels::merge_leaf) return kernels::merge_run(a, b, to);
  if (a.size() < b.size()) std::swap(a, b);
  const std::size_t i = a.size() / 2;
  const auto j = static_cast<std::size_t>(std::lower_bound(b.begin(), b.end(), a[i]) - b.begin());
  c.fork2([&](auto below) { merge(below, a.first(i), b.first(j), to.first(i + j)); },
          [&](auto below) { merge(below, a.subspan(i), b.subspan(j), to.subspan(i + j)); });
}

// Sorts a, with the result in a or, if into_buffer, in the buffer of the same length.
void sort(auto c, keys a, keys buffer, bool into_buffer) {
  if (a.size() <= kernels::sort_leaf) return kernels::sort_run(a, buffer, into_buffer);
  const std::size_t half = a.size() / 2;
  c.fork2([&](auto below) { sort(below, a.first(half), buffer.first(half), !into_buffer); },
          [&](auto below) { sort(below, a.subspan(half), buffer.subspan(half), !into_buffer); });
  const keys from = into_buffer ? a : buffer, to = into_buffer ? buffer : a;
  merge(c, from.first(half), from.subspan(half), to);
}

void measure(bench::run& run) {
  kernels::sort_problem problem(static_cast<std::size_t>(run.size_between(1, 1 << 30)));
  run.time([&] { region([&](auto c) { sort(c, problem.data, problem.buffer, false); }); });
  if (!problem.sorted()) throw bench::wrong_result("the numbers are not in order");
  run.result(std::to_string(problem.sum));
}

const bench::registration registered{"sort", measure};

}  // namespace

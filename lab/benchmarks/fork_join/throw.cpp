// SPDX-License-Identifier: Apache-2.0
// throw: a search for n queens that ends by an exception after 0, 1, … 100 % of the solutions, caught outside
// the region. Seconds from throw to catch: the median, and as "p99" the 99th percentile.
#include <atomic>

#include "harness/batches.hpp"
#include "kernels/nqueens.hpp"
#include "system.hpp"

namespace {

using kernels::queens;

struct enough {
  double thrown_at;
};

// Counts a solution, and throws if it is the last one wanted. Relaxed: the counter publishes nothing else.
void count_solution(std::atomic<std::int64_t>& left) {
  if (left.fetch_sub(1, std::memory_order_relaxed) == 1) throw enough{bench::wall_seconds()};
}

int search(auto c, queens q, std::atomic<std::int64_t>& left) {
  if (q.complete()) {
    count_solution(left);
    return 0;
  }
  return c.template sum_of_bits<int>(
      q.free(), [=, &left](auto below, std::uint32_t bit) { return search(below, q.with(bit), left); });
}

void measure(bench::run& run) {
  const queens empty = queens::empty(run.size_between(4, kernels::most_queens));
  std::atomic<std::int64_t> found{0};
  region([&](auto c) {
    found = std::int64_t{1} << 62;
    search(c, empty, found);
    found = (std::int64_t{1} << 62) - found;
  });
  std::vector<double> seconds;
  const double cpu = bench::process_cpu_seconds();
  for (int percent = 0; percent <= 100; ++percent) {
    std::atomic<std::int64_t> left{std::max<std::int64_t>(1, found * percent / 100)};
    try {
      region([&](auto c) { search(c, empty, left); });
    } catch (const enough& e) {
      seconds.push_back(bench::wall_seconds() - e.thrown_at);
    }
  }
  const std::size_t caught = seconds.size();
  if (caught != 101) throw bench::wrong_result("caught " + std::to_string(caught) + " of 101 exceptions");
  run.record(bench::quantile(seconds, 0.5), bench::process_cpu_seconds() - cpu);
  run.field("p99", bench::quantile(seconds, 0.99));
  run.result(found.load());
}

const bench::registration registered{"throw", measure};

}  // namespace

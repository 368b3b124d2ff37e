// SPDX-License-Identifier: Apache-2.0
// The programs of docs/migrating.md: what other systems have, written for Sukima.
#include <sukima/sukima.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

namespace {

/// TBB's parallel_for over a blocked_range; `omp parallel for`; rayon's par_iter_mut.
void scale(std::vector<double>& x, double by) {
  sukima::parallel_for(x, [&](double& element) { element *= by; });
}

/// TBB's parallel_reduce; `omp parallel for reduction(+: sum)`; rayon's sum.
double sum_of(const std::vector<double>& x) {
  return sukima::parallel_reduce(
      std::size_t{0}, x.size(), 0.0, [&](std::size_t i) { return x[i]; }, std::plus{});
}

/// `reduction(max: …)`: any associative function.
double largest_of(const std::vector<double>& x) {
  return sukima::parallel_reduce(
      std::size_t{0}, x.size(), -std::numeric_limits<double>::infinity(), [&](std::size_t i) { return x[i]; },
      [](double a, double b) { return std::max(a, b); });
}

/// TBB's parallel_invoke; `omp task` with `taskwait`; rayon's join; cilk_spawn with cilk_sync. No cut-off.
long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

/// TBB's task_group; `omp taskgroup`; rayon's scope.
int nodes_of_a_tree(int depth) {
  std::atomic<int> nodes{0};
  sukima::run([&](sukima::context c) {
    sukima::task_group group(c);
    const std::function<void(int)> visit = [&](int level) {
      ++nodes;
      for (int child = 0; child < 2 && level > 0; ++child) group.run([&visit, level] { visit(level - 1); });
    };
    visit(depth);
    group.wait(c);
  });
  return nodes;
}

/// TBB's enumerable_thread_specific and combinable; `threadprivate`; a Cilk reducer.
long count_even(const std::vector<double>& x) {
  sukima::worker_local<long> counts;
  sukima::parallel_for(x, [&](double element) { counts.local() += static_cast<long>(element) % 2 == 0; });
  return counts.combine(std::plus{});
}

/// `num_threads(2)`; tbb::global_control; rayon's ThreadPoolBuilder: a runtime with at most two workers.
long with_two_workers(int n) {
  sukima::settings settings;
  settings.workers = 2;
  sukima::runtime two(settings);
  return two.run([=](sukima::context c) { return fib(c, n); });
}

}  // namespace

int main() {
  std::vector<double> x(1000);
  std::iota(x.begin(), x.end(), 1.0);
  scale(x, 2);
  std::printf("sum %g, largest %g\n", sum_of(x), largest_of(x));
  std::printf("fib %ld, with two workers %ld\n", sukima::run([](sukima::context c) { return fib(c, 20); }),
              with_two_workers(20));
  std::printf("%d nodes, %ld even numbers\n", nodes_of_a_tree(6), count_even(x));
}

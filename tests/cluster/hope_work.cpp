// SPDX-License-Identifier: Apache-2.0
// How much work four nodes with one worker each do under hierarchical omission, all together, in relation to
// the work of the sequential program: what two nodes compute, or what is thrown away, counts twice. A table
// for `make measure`: it depends on how the machine lets the nodes run side by side.
//
// hope_work SECONDS [RUNS [PROGRAM]]: programs of about so many seconds of sequential work. It fails if the
// median of the runs of a program is above the bar.
#include "hope_support.hpp"
#include "random_programs.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace hope_support;
using random_programs::mixed;
using sukima::call;

constexpr unsigned nodes_of_all = 4;
constexpr double bar = 1.10;
/// Steps of work in a second, about.
constexpr double steps_per_second = 50000;

/// Steps of work on all nodes.
std::atomic<std::uint64_t> done{0};

/// Some 20 µs. \returns 1, but the compiler does not know that
std::uint64_t step(std::uint64_t seed) {
  std::uint64_t value = seed;
  for (unsigned i = 0; i < 10000; ++i) value = mixed(value);
  done.fetch_add(1, std::memory_order_relaxed);  // read between entries
  return value == seed ? 0 : 1;
}
std::uint64_t steps(std::uint64_t seed, std::uint64_t count) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) sum += step(seed + i);
  return sum;
}

// Each program returns the number of its steps: its sequential work.

std::uint64_t balanced(sukima::context c, std::uint64_t seed, std::uint64_t size) {
  if (size <= 3) return steps(seed, size);
  const auto [a, b] = sukima::fork2(c, call<balanced>(mixed(seed), size / 2),
                                    call<balanced>(mixed(seed + 1), size - size / 2));
  return a + b;
}

/// As the calls of fib, with different arguments everywhere: equal ones would be computed once.
std::uint64_t golden(sukima::context c, std::uint64_t seed, std::uint64_t size) {
  if (size <= 3) return steps(seed, size);
  const auto first = static_cast<std::uint64_t>(0.618 * static_cast<double>(size));
  const auto [a, b] =
      sukima::fork2(c, call<golden>(mixed(seed), first), call<golden>(mixed(seed + 1), size - first));
  return a + b;
}

/// Parts of very different sizes: as in the simulations of the design, shares are those of squares of
/// normally distributed numbers; here two to four parts.
std::uint64_t unbalanced(sukima::context c, std::uint64_t seed, std::uint64_t size) {
  if (size <= 4) return steps(seed, size);
  std::uint64_t part[4];
  std::uint64_t left = size;
  for (unsigned i = 0; i < 4; ++i) {
    const double share = static_cast<double>(mixed(seed + 4 + i) >> 11) * 0x1p-53;
    part[i] = i == 3 ? left : static_cast<std::uint64_t>(share * share * static_cast<double>(left));
    left -= part[i];
  }
  const auto [p, q, r, s] =
      sukima::fork(c, call<unbalanced>(mixed(seed), part[0]), call<unbalanced>(mixed(seed + 1), part[1]),
                   call<unbalanced>(mixed(seed + 2), part[2]), call<unbalanced>(mixed(seed + 3), part[3]));
  return p + q + r + s;
}

/// The queens that are placed in the first rows; a column more is a piece of a loop.
std::uint64_t queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right,
                     unsigned steps_each);
std::uint64_t queen_at(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right,
                       unsigned steps_each, unsigned column) {
  const unsigned bit = 1u << column;
  if (((taken | left | right) & bit) != 0) return 0;
  return queens(c, size, taken | bit, (left | bit) << 1, (right | bit) >> 1, steps_each);
}
std::uint64_t queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right,
                     unsigned steps_each) {
  const std::uint64_t here = steps(taken, steps_each);
  if (taken == (1u << size) - 1) return here;
  return here + sukima::parallel_reduce(c, 0u, size, std::uint64_t{0},
                                        call<queen_at>(size, taken, left, right, steps_each), std::plus{});
}

struct program {
  const char* name;
  std::uint64_t (*run)(hope_nodes& nodes, std::uint64_t seed, std::uint64_t size);
};
template <auto f> std::uint64_t tree(hope_nodes& nodes, std::uint64_t seed, std::uint64_t size) {
  return nodes.everywhere(call<f>(seed, size)).front();
}
std::uint64_t boards(hope_nodes& nodes, std::uint64_t /*seed*/, std::uint64_t size) {
  // All boards with eight queens or less that do not attack each other: 2,057.
  constexpr std::uint64_t boards_of_eight = 2057;
  const auto each = static_cast<unsigned>(std::max<std::uint64_t>(1, size / boards_of_eight));
  return nodes.everywhere(call<queens>(8u, 0u, 0u, 0u, each)).front();
}
constexpr program programs[]{{"balanced", tree<balanced>},
                             {"golden", tree<golden>},
                             {"unbalanced", tree<unbalanced>},
                             {"queens", boards}};

double seconds_since(clock::time_point then) {
  return std::chrono::duration<double>(clock::now() - then).count();
}

/// \returns work done / sequential work
double run_once(const program& p, std::uint64_t seed, std::uint64_t size) {
  hope_nodes nodes({.nodes = nodes_of_all, .seed = seed}, {});
  done = 0;
  const clock::time_point begin = clock::now();
  const std::uint64_t sequential = p.run(nodes, seed, size);
  const double time = seconds_since(begin);
  const double ratio = static_cast<double>(done) / static_cast<double>(sequential);
  const hope::counts c = nodes.sum();
  std::printf("%-10s %4llu %6.2f s %8llu %6.3f %7llu %7llu %6llu %7llu %6llu %6llu %7llu\n", p.name,
              static_cast<unsigned long long>(seed), time, static_cast<unsigned long long>(sequential), ratio,
              static_cast<unsigned long long>(c.named), static_cast<unsigned long long>(c.omitted),
              static_cast<unsigned long long>(c.cut), static_cast<unsigned long long>(c.computed),
              static_cast<unsigned long long>(c.helped), static_cast<unsigned long long>(c.yielded),
              static_cast<unsigned long long>(c.notes));
  std::fflush(stdout);
  return ratio;
}

}  // namespace

int main(int count, char** arguments) {
  const double seconds = count > 1 ? std::atof(arguments[1]) : 10;
  const unsigned runs = count > 2 ? static_cast<unsigned>(std::atoi(arguments[2])) : 3;
  const std::string only = count > 3 ? arguments[3] : "";
  std::printf("%-10s %4s %8s %8s %6s %7s %7s %6s %7s %6s %6s %7s\n", "program", "seed", "time", "steps",
              "work", "named", "omitted", "cut", "comput.", "helped", "yield.", "notes");
  bool is_good = true;
  for (const program& p : programs) {
    if (!only.empty() && only != p.name) continue;
    std::vector<double> ratios;
    for (unsigned i = 1; i <= runs; ++i)
      ratios.push_back(run_once(p, i, static_cast<std::uint64_t>(seconds * steps_per_second)));
    std::ranges::sort(ratios);
    const double median = ratios[ratios.size() / 2];
    std::printf("%-10s median of work / sequential work %.3f, bar %.2f\n", p.name, median, bar);
    is_good = is_good && median <= bar;
  }
  return is_good ? 0 : 1;
}

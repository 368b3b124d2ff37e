// SPDX-License-Identifier: Apache-2.0
// Programs whose instructions are counted: counted-hints on|fork SIZE, on one worker.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using sukima::context;
using sukima::place;

[[gnu::noinline]] long plus_one(long n) { return n + 1; }

/// Branches that are too short for their hint.
long short_branches(context c, long size, place where) {
  long sum = 0;
  for (long i = 0; i < size; ++i) sum += sukima::on(c, where, [i] { return plus_one(i); });
  return sum;
}

/// Fibonacci's numbers with a hint at each call: most branches are too short for it, and some are not.
[[gnu::noinline]] long by_hinted_forks(context c, long n, place where, place other) {
  if (n < 2) return n;
  const auto [a, b] = sukima::fork2(
      c, [=](context below) { return by_hinted_forks(below, n - 1, where, other); },
      [=](context below) { return by_hinted_forks(below, n - 2, other, where); }, sukima::on(where));
  return a + b;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fputs("usage: counted-hints on|fork SIZE\n", stderr);
    return 2;
  }
  const bool forks = std::strcmp(arguments[1], "fork") == 0;
  const long size = std::strtol(arguments[2], nullptr, 10);
  sukima::settings one_worker;
  one_worker.workers = 1;
  // Also under valgrind all branches are shorter than the part of it that counts.
  one_worker.hint_threshold_ns = 64'000'000;
  sukima::runtime one(one_worker);
  const place where = sukima::places(sukima::place_level::core).front();
  const place other = where.around(sukima::place_level::machine);
  const long result = one.run([=](context c) {
    return forks ? by_hinted_forks(c, size, where, other) : short_branches(c, size, where);
  });
  std::printf("%ld\n", result);
}

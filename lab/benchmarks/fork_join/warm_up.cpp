// SPDX-License-Identifier: Apache-2.0
// The first parallel work of every program: some milliseconds of forks in which all threads can take part.
#include "harness/harness.hpp"
#include "system.hpp"

namespace {

std::int64_t leaves(auto c, int depth) {
  if (depth == 0) return 1;
  std::int64_t a = 0, b = 0;
  c.fork2([&](auto below) { a = leaves(below, depth - 1); },
          [&](auto below) { b = leaves(below, depth - 1); });
  return a + b;
}

}  // namespace

void bench::warm_up() {
  const double start = wall_seconds();
  while (wall_seconds() - start < 0.005)
    region([](auto c) {
      if (leaves(c, 10) != 1 << 10) throw wrong_result("the warm-up counted wrong");
    });
}

// SPDX-License-Identifier: Apache-2.0
// memory-spine: the other shape of `memory`. The first branch is the deep one, so each level's frames stay on
// the stack while thieves take the second branches.
#include "harness/harness.hpp"
#include "kernels/small.hpp"
#include "system.hpp"

namespace {

/// A bush: work for thieves, with forks of its own.
std::int64_t bush(sukima::context c, int levels) {
  if (levels == 0) return static_cast<std::int64_t>(kernels::short_work(1) & 1);
  auto [a, b] = sukima::fork2(
      c, [levels](sukima::context below) { return bush(below, levels - 1); },
      [levels](sukima::context below) { return bush(below, levels - 1); });
  return a + b;
}

constexpr int bush_levels = 3;

/// The number of levels below this one, plus the nodes of the bushes.
std::int64_t spine(sukima::context c, int levels) {
  if (levels == 0) return 0;
  auto [a, b] = sukima::fork2(
      c, [levels](sukima::context below) { return spine(below, levels - 1); },
      [](sukima::context below) { return bush(below, bush_levels); });
  return a + b + 1;
}

void measure(bench::run& r) {
  const int levels = r.size_between(1, 1'000'000);
  const double bytes = kernels::status_bytes("VmHWM");
  std::int64_t result = 0;
  bench::with_system(r.workers(), [&] {
    r.time([&] { result = system_runtime().run([levels](sukima::context c) { return spine(c, levels); }); });
    bench::fields_of_system(r);
  });
  const auto each = 1 + static_cast<std::int64_t>(kernels::short_work(1) & 1) * (1 << bush_levels);
  if (result != levels * each) throw bench::wrong_result("a branch is missing");
  r.field("bytes", kernels::status_bytes("VmHWM") - bytes);
  r.result(levels);
}

const bench::registration registered{"memory-spine", measure, bench::start::cold};

}  // namespace

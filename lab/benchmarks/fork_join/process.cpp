// SPDX-License-Identifier: Apache-2.0
// startup and memory, each in a fresh process: what a system costs before and beside its work.
#include "kernels/small.hpp"

#include <atomic>

#include "harness/harness.hpp"
#include "system.hpp"

namespace {

using bench::run;

void measure_startup(run& r) {
  if (r.size() != 1) throw bench::bad_argument("there is no such size: use --size 1");
  const double bytes = kernels::status_bytes("VmRSS");
  const double cpu = bench::process_cpu_seconds(), start = bench::wall_seconds();
  bench::with_system(r.workers(), [&] {
    int branches = 0;
    std::atomic_ref<int> count(branches);
    region([&](auto c) { c.fork2([&](auto) { ++count; }, [&](auto) { ++count; }); });
    r.record(bench::wall_seconds() - start, bench::process_cpu_seconds() - cpu);
    if (branches != 2) throw bench::wrong_result("a branch did not run");
  });
  r.field("bytes", kernels::status_bytes("VmRSS") - bytes);
  r.result("1");
}

const bench::registration startup{"startup", measure_startup, bench::start::cold};

// Levels below this one, each a fork of a short branch and the next level.
int descend(auto c, int levels, std::atomic<std::uint64_t>& work) {
  if (levels == 0) return 0;
  int below = 0;
  c.fork2([&](auto) { work.fetch_add(kernels::short_work(1), std::memory_order_relaxed); },
          [&](auto next) { below = descend(next, levels - 1, work); });
  return below + 1;
}

/// The system's own counts, if it has any.
template <class Run>
void add_fields_of_system(Run& r) {
  if constexpr (requires { fields_of_system(r); }) fields_of_system(r);
}

void measure_memory(run& r) {
  const int levels = r.size_between(1, 100'000'000);
  const double bytes = kernels::status_bytes("VmHWM");
  std::atomic<std::uint64_t> work{0};
  int done = 0;
  bench::with_system(r.workers(), [&] {
    r.time([&] { region([&](auto c) { done = descend(c, levels, work); }); });
    add_fields_of_system(r);
  });
  if (work != kernels::short_work(1) * static_cast<std::uint64_t>(levels))
    throw bench::wrong_result("a short branch is missing");
  r.field("bytes", kernels::status_bytes("VmHWM") - bytes);
  r.result(done);
}

const bench::registration memory{"memory", measure_memory, bench::start::cold};

}  // namespace

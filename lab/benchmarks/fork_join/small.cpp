// SPDX-License-Identifier: Apache-2.0
// empty, coarse (each also after silence), saxpy, idle and idle-silence: what a region costs besides its
// work.
#include "kernels/small.hpp"

#include "harness/batches.hpp"
#include "kernels/saxpy.hpp"
#include "system.hpp"

namespace {

using bench::run;
using kernels::sleep_milliseconds;

void fork_nothing() {
  region([](auto c) { c.fork2([](auto) { kernels::nothing(); }, [](auto) { kernels::nothing(); }); });
}

void measure_empty(run& r) {
  constexpr std::size_t batch = 50;
  const int calls = r.size_between(batch, 100'000'000);
  bench::time_median(r, static_cast<std::size_t>(calls), batch, fork_nothing);
  r.result("ok");
}

const bench::registration empty{"empty", measure_empty};

void measure_empty_after_silence(run& r) {
  const int calls = r.size_between(1, 100'000);
  std::vector<double> seconds;
  double cpu = 0;
  for (int i = 0; i < calls; ++i) {
    sleep_milliseconds(1);
    run once(1, r.workers());
    once.time(fork_nothing);
    seconds.push_back(once.seconds());
    cpu += once.cpu_seconds();
  }
  r.record(bench::quantile(std::move(seconds), 0.5), cpu);
  r.result("ok");
}

const bench::registration empty_after_silence{"empty-after-silence", measure_empty_after_silence};

void time_coarse(run& r, double seconds_each) {
  const auto branch = [seconds_each](auto) { kernels::use_cpu(seconds_each); };
  r.time([&] { region([&](auto c) { c.fork2(branch, branch); }); });
  r.result("ok");
}

void measure_coarse(run& r) { time_coarse(r, r.size_between(1, 60'000) * 1e-3); }

const bench::registration coarse{"coarse", measure_coarse};

void measure_coarse_after_silence(run& r) {
  sleep_milliseconds(r.size_between(0, 3'600'000));
  time_coarse(r, 0.1);
}

const bench::registration coarse_after_silence{"coarse-after-silence", measure_coarse_after_silence};

void measure_saxpy(run& r) {
  const int n = r.size_between(1, 1 << 28);
  kernels::saxpy_problem p(static_cast<std::size_t>(n));
  const float a = p.a;
  const float* x = p.x.data();
  float* y = p.y.data();
  bench::time_median(r, p.calls(), p.batch(), [=] { loop(0, n, [=](int i) { y[i] += a * x[i]; }); });
  if (!p.right()) throw bench::wrong_result("an element is wrong");
  r.result("ok");
}

const bench::registration saxpy{"saxpy", measure_saxpy};

// The sequential task runs on one thread; all CPU time that the process uses beyond that thread's is waste.
void measure_idle(run& harness) {
  const double seconds = harness.size_between(1, 600'000) * 1e-3;
  const double before = bench::process_cpu_seconds(), start = bench::wall_seconds();
  double task_cpu = 0;
  region([&](auto c) {
    c.fork2(
        [&](auto) {
          const double own = kernels::thread_cpu_seconds();
          kernels::use_cpu(seconds);
          task_cpu = kernels::thread_cpu_seconds() - own;
        },
        [](auto) { kernels::nothing(); });
  });
  const double end = bench::wall_seconds();
  harness.record(end - start, std::max(0.0, bench::process_cpu_seconds() - before - task_cpu));
  harness.result("ok");
}

const bench::registration idle{"idle", measure_idle};

void measure_idle_silence(run& r) {
  const int silence = r.size_between(1, 600'000);
  bench::warm_up();
  r.time([&] { sleep_milliseconds(silence); });
  r.result("ok");
}

const bench::registration idle_silence{"idle-silence", measure_idle_silence};

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Scenes about an elastic runtime beside threads of other runtimes. This program takes the part of the
// preload library of `sukima run`, and of OpenMP: it defines the functions that the runtime looks up.
#include "scene.hpp"

#include "control/threads_beside.hpp"

#include <sukima/other_threads.hpp>
#include <sukima/suspend.hpp>

#include <capacity/shared/side_by_side.h>

#include <cstdlib>
#include <memory>
#include <vector>

namespace {

const cap_side_by_side* met = nullptr;
thread_local bool in_region = false;

}  // namespace

extern "C" {

[[gnu::visibility("default")]] void sukima_preload_meet(const cap_side_by_side* runtime) { met = runtime; }
[[gnu::visibility("default")]] int omp_in_parallel() { return in_region ? 1 : 0; }

}  // extern "C"

namespace sukima::simulation {

namespace {

using detail::atomic;

constexpr unsigned cpus = 4;

/// Settings of a runtime with a variable number of workers, on a machine with that number of CPUs.
settings elastic() {
  setenv("SUKIMA_CPUS", "4", 1);
  settings s;
  s.workers = cpus;
  s.pin = pin_policy::none;
  s.stack = std::size_t{1} << 20;
  return s;
}

/// Passes time in which the monitor may sample, sleep, or be about to do either.
void pass_time(stage& stage) {
  if (stage.random.once_in(2)) sleep_us(stage.number(0, 60'000));
}

/// Waits until the runtime has that number of workers. If the monitor never learns of a change, this loops
/// endlessly.
void wait_for_workers(const sukima::runtime& of, unsigned count) {
  while (of.workers_now() != count) sleep_us(700);
}

void follow_regions(stage& stage) {
  sukima::runtime own(elastic());
  own.run([&](context c) {
    for (int round = stage.number(1, 2); round > 0; --round) {
      {
        const other_threads team(2);  // one of them is this worker
        wait_for_workers(own, cpus - 1);
        stage.expect(fibonacci(c, 4) == fibonacci(4), "a wrong result beside a region");
      }
      wait_for_workers(own, cpus);
    }
  });
}

void enter_during_a_region(stage& stage) {
  sukima::runtime own(elastic());
  for (int round = stage.number(1, 2); round > 0; --round) {
    pass_time(stage);
    {
      const other_threads team(cpus);
      pass_time(stage);
      own.run([&] { wait_for_workers(own, 1); });
      pass_time(stage);
    }
    own.run([&] { wait_for_workers(own, cpus); });
  }
}

void region_of_an_outside_thread(stage& stage) {
  sukima::runtime own(elastic());
  own.run([&] {
    std::thread other([&, delay = stage.number(0, 40'000)] {
      sleep_us(delay);
      const other_threads team(2);
      wait_for_workers(own, cpus - 2);
    });
    other.join();
    wait_for_workers(own, cpus);
  });
}

/// The other threads of a region may wait for a thread that enters the runtime, so that thread gets all
/// workers.
void enter_from_a_region(stage& stage) {
  sukima::runtime own(elastic());
  const other_threads team(cpus);
  if (stage.random.once_in(2)) own.run([&] { wait_for_workers(own, 1); });
  std::thread member([&, rounds = stage.number(1, 2)] {
    in_region = true;
    for (int i = 0; i < rounds; ++i) own.run([&] { wait_for_workers(own, cpus); });
    in_region = false;
    own.run([&] { wait_for_workers(own, 1); });
  });
  member.join();
  own.run([&] { wait_for_workers(own, 1); });
}

/// Launches a future, and waits for it in a way that the runtime does not notice.
void wait_for_a_launched_future(sukima::runtime& in) {
  const auto begun = std::make_shared<atomic<bool>>(false);
  const auto launched = in.run([&] { return launch([begun] { begun->store(true); }); });
  while (!begun->load()) sleep_us(700);
}

void launch_beside_a_region(stage& stage) {
  sukima::runtime own(elastic());
  const other_threads team(cpus);
  if (stage.random.once_in(2)) own.run([&] { wait_for_workers(own, 1); });
  wait_for_a_launched_future(own);  // while no thread is inside the runtime
  own.run([&] {
    wait_for_workers(own, 1);
    std::thread other([&] { wait_for_a_launched_future(own); });
    other.join();
  });
}

void report_regions(stage& stage) {
  sukima::runtime own(elastic());
  met->was_used();
  stage.expect(!met->was_used(), "a runtime that no thread has entered was used");
  pass_time(stage);
  std::thread enters([&] {
    own.run([&](context c) {
      stage.expect(met->was_used(), "a runtime was not used while a thread was inside");
      const unsigned before = *detail::running_thread_bindings();
      const std::uint64_t region = met->region_begins(cpus + 1);
      stage.expect(*detail::running_thread_bindings() == before + 1, "a region may change its thread");
      if (stage.random.once_in(2)) wait_for_workers(own, 1);
      stage.expect(fibonacci(c, 5) == fibonacci(5), "a wrong result in a region");
      met->region_ends(region);
      stage.expect(*detail::running_thread_bindings() == before, "a region that ended keeps its thread");
      wait_for_workers(own, cpus);
    });
  });
  enters.join();
  own.run([] {});
  stage.expect(met->was_used(), "an entry is forgotten");
  stage.expect(!met->was_used(), "an entry is noted twice");
}

/// Regions begin and end while threads enter, and while a runtime is made and destroyed.
void regions_come_and_go(stage& stage) {
  sukima::runtime own(elastic());
  std::vector<std::thread> threads;
  for (int t = stage.number(1, 2); t > 0; --t)
    threads.emplace_back([rounds = stage.number(1, 3), pause = stage.number(0, 2'000)] {
      for (int i = 0; i < rounds; ++i) {
        const other_threads team(2);
        sleep_us(pause);
      }
    });
  for (int round = stage.number(1, 3); round > 0; --round) {
    sukima::runtime another(elastic());
    another.run([] {});
    own.run([] {});
  }
  for (std::thread& t : threads) t.join();
  stage.expect(detail::others.count() == 0, "a region that ended still counts");
  own.run([&] { wait_for_workers(own, cpus); });
}

}  // namespace

std::span<const scene> scenes_of_regions() noexcept {
  static constexpr scene scenes[] = {
      {"regions", follow_regions},
      {"entry during a region", enter_during_a_region},
      {"region of an outside thread", region_of_an_outside_thread},
      {"entry from a region", enter_from_a_region},
      {"launch beside a region", launch_beside_a_region},
      {"reported regions", report_regions},
      {"regions that come and go", regions_come_and_go},
  };
  return scenes;
}

}  // namespace sukima::simulation

// SPDX-License-Identifier: Apache-2.0
// sukima-measured KIND: a parallel program in a guest whose speed is measured. It has as many threads as the
// host advertises, or as the guest has CPUs; reports its progress; and prints twice a second a line of JSON:
// what it has done, and its number of threads.
//   barrier      steps of a fixed amount of work, divided among the threads, which then spin at a barrier
//   lock         operations of which a part is done under a spinning lock
//   independent  operations that have nothing to do with each other
//   sukima       fork-join on Sukima's runtime, which follows the number by itself
#include <sukima/capacity/estimate.h>
#include <sukima/capacity/progress.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <sukima/sukima.hpp>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

/// Turns of a loop of a few instructions; emulated, 1,000 of them take some 10 µs.
constexpr unsigned step_of_barrier = 24000, operation = 6000, held = 600;
/// Operations between two reports.
constexpr unsigned batch = 16;
constexpr int depth = 12;

unsigned cpus = 1;
std::atomic<unsigned> wanted_threads = 1;
std::atomic<unsigned long> done = 0;

void work(unsigned turns) {
  volatile unsigned value = 1;
  for (unsigned i = 0; i < turns; ++i) value = value * 1103515245U + 12345U;
}

void count(unsigned amount) {
  done += amount;
  sukima_progress_add(amount);
}

/// A barrier whose last one says how many come to the next.
class spinning_steps {
 public:
  [[noreturn]] void run(unsigned id) {
    for (;;) {
      const unsigned long now = state_;
      const unsigned threads = now & 0xff;
      if (id >= threads) {
        std::this_thread::sleep_for(5ms);  // as one that waits for its turn would
        continue;
      }
      work(step_of_barrier / threads);
      if (++arrived_ == threads) {
        arrived_ = 0;
        count(1);
        state_ = ((now >> 8) + 1) << 8 | wanted_threads;
      } else {
        while (state_ == now) {
        }
      }
    }
  }

 private:
  std::atomic<unsigned long> state_ = 1;  ///< the step's number, and its threads in the last eight bits
  std::atomic<unsigned> arrived_ = 0;
};

/// Operations of threads, in part under a lock.
class operations {
 public:
  explicit operations(bool locks) : locks_(locks) {}
  [[noreturn]] void run(unsigned id) {
    for (unsigned since = 0;;) {
      if (id >= wanted_threads) {
        std::this_thread::sleep_for(5ms);
        continue;
      }
      if (locks_) {
        work(operation - held);
        while (lock_.exchange(true)) {
          while (lock_) {
          }
        }
        work(held);
        lock_ = false;
      } else {
        work(operation);
      }
      if (++since == batch) count(std::exchange(since, 0));
    }
  }

 private:
  bool locks_;
  std::atomic<bool> lock_ = false;
};

long tree(sukima::context c, int levels) {
  if (levels == 0) {
    work(operation / 16);
    return 1;
  }
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return tree(below, levels - 1); },
      [=](sukima::context below) { return tree(below, levels - 1); });
  return a + b;
}

[[noreturn]] void run_trees(sukima::runtime& on) {
  for (;;) {
    on.run([](sukima::context c) { return tree(c, depth); });
    count(1);
  }
}

unsigned number() {
  const double advertised = sukima_capacity_advertised(nullptr);
  if (std::isnan(advertised)) return cpus;
  return std::clamp(static_cast<unsigned>(std::lround(advertised)), 1U, cpus);
}

template <typename Threads>
void start(Threads& all) {
  for (unsigned id = 0; id < cpus; ++id) std::thread([&all, id] { all.run(id); }).detach();
}

[[noreturn]] void report(const sukima::runtime* on) {
  for (int look = 0;; ++look) {
    std::this_thread::sleep_for(100ms);
    wanted_threads = number();
    if (look % 5 != 0) continue;
    std::printf("{\"done\": %lu, \"threads\": %u}\n", done.load(),
                on == nullptr ? wanted_threads.load() : on->workers_now());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string kind = argc == 2 ? argv[1] : "";
  cpus = static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN));
  wanted_threads = number();
  static spinning_steps steps;
  static operations locked(true), independent(false);
  if (kind == "barrier")
    start(steps);
  else if (kind == "lock")
    start(locked);
  else if (kind == "independent")
    start(independent);
  else if (kind != "sukima") {
    std::fprintf(stderr, "sukima-measured: give barrier, lock, independent or sukima\n");
    return 2;
  }
  if (kind != "sukima") report(nullptr);
  sukima::settings chosen = sukima::settings::from_environment();
  chosen.workers = cpus;
  chosen.elastic = true;
  static sukima::runtime on(chosen);
  std::thread(run_trees, std::ref(on)).detach();
  report(&on);
}

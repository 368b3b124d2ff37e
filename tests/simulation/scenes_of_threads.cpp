// SPDX-License-Identifier: Apache-2.0
// Scenes about ordinary threads that enter a runtime, code that blocks, and algorithms of the library.
#include "scene.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <vector>

namespace sukima::simulation {

namespace {

void enter_by_several(stage& stage) {
  std::vector<std::thread> threads;
  for (int t = stage.number(1, 4); t > 0; --t)
    threads.emplace_back(
        [&stage, n = stage.number(0, 6), rounds = stage.number(1, 4), pause = stage.number(-300, 300)] {
          for (int i = 0; i < rounds; ++i) {
            const long sum = stage.runtime.run([&](context c) { return fibonacci(c, n); });
            stage.expect(sum == fibonacci(n), "an entry has a wrong result");
            if (pause > 0) sleep_us(pause);  // lets the workers fall asleep
          }
        });
  for (std::thread& t : threads) t.join();
}

/// A thread resumes parked forks while other threads enter.
void enter_while_others_park(stage& stage) {
  event one;
  std::thread other([&, n = stage.number(0, 5)] {
    stage.expect(stage.runtime.run([&](context c) { return fibonacci(c, n); }) == fibonacci(n),
                 "a wrong result");
    while (!one.begun.load()) sleep_us(7);
    one.happen();
  });
  stage.runtime.run(
      [&](context c) { fork2(c, [&](context b) { one.wait(b); }, [&](context b) { fibonacci(b, 4); }); });
  other.join();
}

/// Waits for that number of arrivals.
class arrivals {
 public:
  explicit arrivals(int expected) : missing_(expected) {}
  void arrive_and_wait() {
    std::unique_lock hold(lock_);
    if (--missing_ <= 0) changed_.notify_all();
    changed_.wait(hold, [this] { return missing_ <= 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int missing_;
};

/// Iterations wait for each other; there are more of them than workers.
void block_in_iterations(stage& stage) {
  const int count = static_cast<int>(stage.runtime.workers()) + stage.number(0, 2);
  for (int round = stage.number(1, 2); round > 0; --round) {
    arrivals all(count);
    stage.runtime.run([&](context c) {
      parallel_for(c, 0, count, [&](context b, int) { blocking(b, [&] { all.arrive_and_wait(); }); });
    });
  }
}

/// Blocking code waits for an older fork, which other workers must be able to take.
void block_above_a_fork(stage& stage) {
  detail::atomic<bool> other_ran{false};
  stage.runtime.run([&](context c) {
    fork2(
        c,
        [&](context b) {
          fork2(
              b,
              [&](context d) {
                blocking(d, [&] {
                  while (!other_ran.load()) sleep_us(50);
                });
              },
              [] {});
        },
        [&] { other_ran.store(true); });
  });
}

std::vector<int> some_numbers(stage& stage) {
  std::vector<int> all(static_cast<std::size_t>(stage.number(0, 300)));
  for (int& one : all) one = stage.number(0, 20);
  return all;
}

void scan(stage& stage) {
  const std::vector<int> in = some_numbers(stage);
  std::vector<int> out(in.size());
  std::vector<int> expected(in.size());
  const bool inclusive = stage.random.once_in(2);
  if (inclusive)
    std::inclusive_scan(in.begin(), in.end(), expected.begin());
  else
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), 7);
  stage.runtime.run([&](context c) {
    if (inclusive)
      parallel_scan(c, in, out.begin());
    else
      parallel_exclusive_scan(c, in, out.begin(), 7);
  });
  stage.expect(out == expected, "a scan has a wrong result");
}

void sort(stage& stage) {
  std::vector<std::pair<int, int>> all;
  for (const int one : some_numbers(stage)) all.emplace_back(one, static_cast<int>(all.size()));
  const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::vector<std::pair<int, int>> expected = all;
  std::stable_sort(expected.begin(), expected.end(), by_key);
  stage.runtime.run([&](context c) { parallel_stable_sort(c, all, by_key); });
  stage.expect(all == expected, "a stable sort has a wrong result");
}

/// The loop does not begin at 0, so that a split in the wrong place is detected.
void loop(stage& stage) {
  const int first = stage.number(-50, 50);
  const int count = stage.number(0, 200);
  std::vector<std::atomic<int>> ran(static_cast<std::size_t>(count));
  stage.runtime.run([&](context c) {
    parallel_for(c, first, first + count, [&](int i) { ++ran[static_cast<std::size_t>(i - first)]; });
  });
  stage.expect(std::all_of(ran.begin(), ran.end(), [](const auto& n) { return n == 1; }),
               "an iteration did not run once");
}

}  // namespace

std::span<const scene> scenes_of_threads() noexcept {
  static constexpr scene scenes[] = {
      {"threads that enter", enter_by_several},
      {"threads that enter while others park", enter_while_others_park},
      {"iterations that block", block_in_iterations},
      {"blocking above a fork", block_above_a_fork},
      {"scan", scan},
      {"stable sort", sort},
      {"loop", loop},
  };
  return scenes;
}

const scene& scene_of(std::uint64_t seed) noexcept {
  std::uint64_t at = random_programs::numbers(seed ^ 0x5CE4E).next();
  const std::span<const scene> all[]{scenes_of_futures(), scenes_of_control(), scenes_of_threads(),
                                     scenes_of_sharing(), scenes_of_regions()};
  std::size_t count = 0;
  for (const auto& some : all) count += some.size();
  at %= count;
  std::size_t part = 0;
  while (at >= all[part].size()) at -= all[part++].size();
  return all[part][at];
}

}  // namespace sukima::simulation

// SPDX-License-Identifier: Apache-2.0
// The number of workers follows the available CPU, and results do not depend on it.
#include "fiber/fiber.hpp"
#include "park/call_home.hpp"
#include "support.hpp"
#include "worker.hpp"

#include <sukima/capacity.h>
#include <sukima/detail/executor.hpp>

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>

namespace {

using sukima::context;
using support::fib;

sukima::settings elastic_settings(unsigned workers) {
  sukima::settings s = support::with_workers(workers);
  s.elastic = true;
  return s;
}

unsigned usable_cpus() {
  sukima_capacity_facts facts;
  sukima_capacity_read(nullptr, &facts);
  return static_cast<unsigned>(std::max(1.0, std::ceil(facts.usable)));
}

/// One of everything that a fiber can be in the middle of when its worker has to go.
long mixed(context c, int depth) {
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2(
      c, [=](context below) { return mixed(below, depth - 1); },
      [=](context below) {
        return sukima::parallel_reduce(
            below, 0, 4, 0L, [=](context deeper, int) { return fib(deeper, 5 + depth % 3); }, std::plus{});
      });
  return a + b;
}

TEST(worker_controller, starts_with_the_cpus_that_are_usable) {
  sukima::runtime many(elastic_settings(usable_cpus() + 6));
  EXPECT_EQ(many.workers(), usable_cpus() + 6);
  EXPECT_EQ(many.workers_now(), usable_cpus());
  ASSERT_FALSE(many.decisions().empty());
  EXPECT_EQ(many.decisions()[0].setting, "workers");
  EXPECT_EQ(many.decisions()[0].after, usable_cpus());
  EXPECT_NE(many.decisions()[0].reason.find("usable"), std::string::npos);
  EXPECT_EQ(many.run([](context c) { return fib(c, 20); }), 6765);
}

TEST(worker_controller, can_be_switched_off) {
  sukima::runtime many(support::with_workers(usable_cpus() + 6));
  EXPECT_EQ(many.workers_now(), usable_cpus() + 6);
}

/// The masks of blocked signals of all threads of this process but the calling one.
std::vector<unsigned long long> masks_of_other_threads() {
  std::vector<unsigned long long> masks;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == std::to_string(gettid())) continue;
    std::ifstream status(task.path() / "status");
    std::string line;
    while (std::getline(status, line)) {  // no lines of a thread that has ended
      if (line.starts_with("SigBlk:")) masks.push_back(std::stoull(line.substr(7), nullptr, 16));
    }
  }
  return masks;
}

TEST(worker_controller, no_thread_of_the_runtime_gets_the_programs_signals) {
  sukima::runtime two(elastic_settings(2));
  two.run([](context c) { return fib(c, 20); });
  const auto masks = masks_of_other_threads();
  EXPECT_GE(masks.size(), 1u);  // the monitor, and a worker where there is more than one CPU
  for (unsigned long long blocked : masks) EXPECT_NE(blocked & (1ull << (SIGUSR1 - 1)), 0u);
}

class resized : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, resized, support::worker_counts(), support::name_of_count);
class resized_from_several : public resized {};
INSTANTIATE_TEST_SUITE_P(workers, resized_from_several, testing::Values(2u, 4u, 16u), support::name_of_count);

TEST_P(resized, keeps_to_the_limit) {
  const unsigned all = runtime.workers();
  runtime.limit_workers(1);
  EXPECT_EQ(runtime.workers_now(), 1u);
  EXPECT_EQ(runtime.run([](context c) { return fib(c, 20); }), 6765);
  runtime.limit_workers(all + 100);
  EXPECT_EQ(runtime.workers_now(), all);
  runtime.limit_workers(0);
  EXPECT_EQ(runtime.workers_now(), all);
  EXPECT_EQ(runtime.run([](context c) { return fib(c, 20); }), 6765);
}

TEST_P(resized, no_other_worker_works_while_the_limit_is_one) {
  runtime.run([](context c) { fib(c, 20); });
  runtime.limit_workers(1);
  const auto here = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  // Surplus workers that are in the middle of a search go home at once.
  EXPECT_TRUE(support::sleep_until([&] {
    elsewhere = 0;
    runtime.run([&](context c) {
      sukima::parallel_for(c, 0, 1000,
                           [&](context, int) { elsewhere += std::this_thread::get_id() != here; });
    });
    return elsewhere == 0;
  }));
}

TEST_P(resized, gives_right_results_while_workers_come_and_go) {
  std::atomic<bool> ended{false};
  std::atomic<long> changes{0};
  std::thread changer([&] {
    std::minstd_rand random(GetParam());
    while (!ended) {
      runtime.limit_workers(static_cast<unsigned>(random() % (GetParam() + 2)));
      ++changes;
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 1000));
    }
  });
  const long expected = sukima::runtime(support::with_workers(1)).run([](context c) { return mixed(c, 40); });
  long runs = 0;
  while (changes < 300 || runs < 10) {
    ASSERT_EQ(runtime.run([](context c) { return mixed(c, 40); }), expected);
    ++runs;
  }
  ended = true;
  changer.join();
}

/// The worker is called home while its fiber is bound to the thread, and the fiber polls there. No other
/// event makes it poll slowly afterwards.
TEST(resizing, lets_a_worker_leave_once_its_fiber_is_no_longer_thread_bound) {
  const support::must_end within("the wait for a surplus worker whose fiber was thread-bound");
  sukima::runtime two(support::with_workers(2));
  std::atomic<sukima::detail::worker*> surplus{nullptr};
  std::atomic<bool> has_left{false};
  two.run([&](context c) {
    sukima::fork2(
        c,
        [&] {
          while (surplus == nullptr) std::this_thread::yield();
          two.limit_workers(1);
          while (surplus.load()->current.load() != nullptr) std::this_thread::yield();
          has_left = true;
        },
        [&](context below) {
          sukima::detail::worker& here = *sukima::detail::this_fiber_now()->on;
          sukima::thread_bound([&] {
            surplus = &here;
            while (!sukima::detail::is_called_home(here)) std::this_thread::yield();
            for (int i = 0; i < 100; ++i) sukima::fork2(below, [] {}, [] {});
          });
          while (!has_left) sukima::fork2(below, [] {}, [] {});
        });
  });
}

/// SUKIMA_TEST_CHANGES says how many times; `make check` says 60,000.
TEST(resizing, thousands_of_times_loses_nothing) {
  const char* const given = std::getenv("SUKIMA_TEST_CHANGES");
  const long wanted = given == nullptr ? 2000 : std::strtol(given, nullptr, 10);
  sukima::runtime runtime(support::with_workers(4));
  std::atomic<bool> ended{false};
  std::atomic<long> changes{0};
  std::thread changer([&] {
    auto next = std::chrono::steady_clock::now();
    while (!ended) {
      runtime.limit_workers(1 + static_cast<unsigned>(changes++ % 4));
      next += std::chrono::milliseconds(1);  // made up for afterwards, if this thread had no CPU
      std::this_thread::sleep_until(next);
    }
  });
  const long expected = sukima::runtime(support::with_workers(1)).run([](context c) { return mixed(c, 40); });
  bool right = true;
  while (right && changes < wanted) right = runtime.run([](context c) { return mixed(c, 40); }) == expected;
  ended = true;
  changer.join();
  EXPECT_TRUE(right);
}

TEST_P(resized_from_several, fibers_of_a_worker_that_left_go_on_elsewhere) {
  std::atomic<bool> left{false};
  const auto here = std::this_thread::get_id();
  std::atomic<bool> moved{false};
  runtime.run([&](context c) {
    std::atomic<bool> begun{false};
    sukima::fork2(
        c,
        [&](context below) {
          EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); }));
          runtime.limit_workers(1);
          left = true;
        },
        [&](context below) {
          begun = true;
          EXPECT_TRUE(
              support::poll_until(below, [&] { return left.load() && std::this_thread::get_id() == here; }));
          moved = true;
        });
  });
  EXPECT_TRUE(moved.load());
  runtime.limit_workers(0);
  EXPECT_EQ(runtime.run([](context c) { return fib(c, 15); }), 610);
}

TEST_P(resized, pinned_fibers_stay) {
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 8, [&](context below, int) {
      sukima::thread_bound([&] {
        const auto before = std::this_thread::get_id();
        runtime.limit_workers(1);
        fib(below, 10);
        runtime.limit_workers(0);
        fib(below, 10);
        EXPECT_EQ(std::this_thread::get_id(), before);
      });
    });
  });
}

sukima::settings waiting_by(sukima::wait_policy policy, unsigned workers) {
  sukima::settings s = support::with_workers(workers);
  s.wait = policy;
  return s;
}
constexpr sukima::wait_policy all_policies[] = {sukima::wait_policy::adaptive, sukima::wait_policy::block,
                                                sukima::wait_policy::spin,     sukima::wait_policy::pause,
                                                sukima::wait_policy::yield,    sukima::wait_policy::condvar,
                                                sukima::wait_policy::inherit};

/// The thief of a thread-bound join has to leave its worker in the middle of what it stole.
TEST(thread_bound_join, ends_when_its_thief_becomes_surplus) {
  const support::must_end within("a thread-bound join");
  for (const sukima::wait_policy policy : all_policies) {
    sukima::runtime two(waiting_by(policy, 2));
    for (int round = 0; round < 5; ++round) {
      std::atomic<bool> stolen{false};
      std::atomic<bool> shrunk{false};
      std::atomic<bool> ended{false};
      two.run([&](context c) {
        sukima::thread_bound([&] {
          sukima::fork2(
              c,
              [&](context below) {
                EXPECT_TRUE(support::poll_until(below, [&] { return stolen.load(); }));
                two.limit_workers(1);
                shrunk = true;
              },
              [&](context below) {
                stolen = true;
                EXPECT_TRUE(support::poll_until(below, [&] { return shrunk.load(); }));
                fib(below, 12);
                ended = true;
              });
        });
        EXPECT_TRUE(ended);
        EXPECT_EQ(fib(c, 12), 144);
      });
      two.limit_workers(0);
    }
  }
}

/// The same where what was stolen is suspended, and resumed when no other worker is left.
TEST(thread_bound_join, ends_when_what_was_stolen_is_resumed_after_its_worker_has_left) {
  const support::must_end within("a thread-bound join");
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> suspended{false};
    sukima::resumer stolen;
    std::thread other;
    two.run([&](context c) {
      sukima::thread_bound([&] {
        sukima::fork2(
            c,
            [&](context below) {
              EXPECT_TRUE(support::poll_until(below, [&] { return suspended.load(); }));
              two.limit_workers(1);
              other = std::thread([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(3));
                stolen.resume();
              });
            },
            [&](context below) {
              sukima::suspend(below, [&](sukima::resumer r) {
                stolen = r;
                suspended = true;
              });
              fib(below, 12);
            });
      });
    });
    other.join();
    two.limit_workers(0);
  }
}

/// With one worker the thief is the worker that runs instead of a blocked one, and is surplus afterwards.
TEST(thread_bound_join, ends_when_its_thief_ran_instead_of_a_blocked_worker) {
  const support::must_end within("a thread-bound join");
  sukima::runtime one(support::with_workers(1));
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> stolen{false};
    std::atomic<bool> unblocked{false};
    one.run([&](context c) {
      sukima::thread_bound([&] {
        sukima::fork2(
            c,
            [&](context below) {
              sukima::blocking(below,
                               [&] { EXPECT_TRUE(support::sleep_until([&] { return stolen.load(); })); });
              unblocked = true;
            },
            [&](context below) {
              stolen = true;
              EXPECT_TRUE(support::poll_until(below, [&] { return unblocked.load(); }));
              fib(below, 12);
            });
      });
    });
    EXPECT_TRUE(support::sleep_until([&] { return one.workers_now() == 1; }));
  }
}

/// Joins within joins: each level needs one worker more while it waits.
TEST(thread_bound_join, ends_when_what_it_waits_for_waits_so_itself) {
  const support::must_end within("thread-bound joins within each other");
  sukima::runtime four(support::with_workers(4));
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> stolen{0};
    const std::function<void(context, int)> level = [&](context c, int depth) {
      if (depth == 3) {
        four.limit_workers(1);
        return;
      }
      sukima::thread_bound([&] {
        sukima::fork2(
            c,
            [&](context below) { EXPECT_TRUE(support::poll_until(below, [&] { return stolen > depth; })); },
            [&, depth](context below) {
              stolen = depth + 1;
              level(below, depth + 1);
              EXPECT_EQ(fib(below, 12), 144);
            });
      });
    };
    four.run([&](context c) { level(c, 0); });
    four.limit_workers(0);
  }
}

/// It suspends in place, and what resumes it is its own second branch, which one worker alone must not run.
TEST(thread_bound_suspension, gives_what_it_waits_for_to_another_worker) {
  const support::must_end within("a thread-bound suspension");
  for (const unsigned workers : {1u, 2u}) {
    sukima::runtime runtime(support::with_workers(workers));
    for (int round = 0; round < 5; ++round)
      runtime.run([](context c) {
        sukima::thread_bound([&] {
          sukima::resumer sleeper;
          std::atomic<bool> parked{false};
          sukima::fork2(
              c,
              [&](context below) {
                sukima::suspend(below, [&](sukima::resumer r) {
                  sleeper = r;
                  parked = true;
                });
              },
              [&] {
                EXPECT_TRUE(support::sleep_until([&] { return parked.load(); }));
                sleeper.resume();
              });
        });
      });
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Runtimes: several at once, entered by many threads, nested, shut down; statistics.
#include "../comma_locale.hpp"
#include "sleeping_thread.hpp"
#include "support.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using support::fib;
using support::with_workers;

template <class F> void in_threads(int count, F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([=] { f(i); });
  for (std::thread& t : threads) t.join();
}

TEST(runtime, knows_its_workers) {
  EXPECT_EQ(sukima::runtime(with_workers(3)).workers(), 3u);
  EXPECT_GE(sukima::runtime(with_workers(0)).workers(), 1u);
  EXPECT_EQ(sukima::worker_id(), -1);
  sukima::runtime two(with_workers(2));
  EXPECT_GE(two.run([] { return sukima::worker_id(); }), 0);
  EXPECT_EQ(sukima::worker_id(), -1);
}

TEST(runtime, returns_what_the_function_returns) {
  sukima::runtime two(with_workers(2));
  EXPECT_EQ(*two.run([] { return std::make_unique<int>(5); }), 5);
  static_assert(std::is_void_v<decltype(two.run([] {}))>);
  two.run([](context) {});
  EXPECT_EQ(sukima::run([](context c) { return fib(c, 10); }), 55);
}

TEST(runtime, is_entered_by_many_threads) {
  sukima::runtime two(with_workers(2));
  in_threads(8, [&](int i) {
    for (int round = 0; round < 50; ++round)
      EXPECT_EQ(two.run([&](context c) { return fib(c, 10 + i); }), support::plain_fib(10 + i));
  });
}

TEST(runtime, gives_its_thread_back_to_the_caller) {
  sukima::runtime many(with_workers(4));
  in_threads(4, [&](int) {
    const auto here = std::this_thread::get_id();
    for (int round = 0; round < 100; ++round) {
      many.run([](context c) {
        sukima::parallel_for(c, 0, 20, [](context below, int k) { fib(below, k % 12); });
      });
      EXPECT_EQ(std::this_thread::get_id(), here);
    }
  });
}

TEST(runtime, exists_beside_others) {
  std::vector<std::unique_ptr<sukima::runtime>> runtimes;
  for (unsigned n = 1; n <= 4; ++n) runtimes.push_back(std::make_unique<sukima::runtime>(with_workers(n)));
  in_threads(4, [&](int i) {
    for (int round = 0; round < 50; ++round)
      EXPECT_EQ(
          runtimes[static_cast<std::size_t>((i + round) % 4)]->run([](context c) { return fib(c, 15); }),
          610);
  });
}

TEST(runtime, is_entered_from_another_one) {
  sukima::runtime outer(with_workers(3));
  sukima::runtime inner(with_workers(2));
  for (int round = 0; round < 20; ++round) {
    const long sum = outer.run([&](context c) {
      return sukima::parallel_reduce(
          c, 0, 20, 0L,
          [&](context, int i) {
            return inner.run(
                [&](context d) { return fib(d, i % 12) + outer.run([&](context e) { return fib(e, 5); }); });
          },
          std::plus{});
    });
    long expected = 0;
    for (int i = 0; i < 20; ++i) expected += support::plain_fib(i % 12) + 5;
    EXPECT_EQ(sum, expected);
  }
}

TEST(runtime, is_entered_from_itself) {
  sukima::runtime two(with_workers(2));
  EXPECT_EQ(two.run([&](context c) {
    return sukima::parallel_reduce(
        c, 0, 50, 0L, [&](context, int i) { return two.run([&](context d) { return fib(d, i % 10); }); },
        std::plus{});
  }),
            two.run([&] {
              return sukima::parallel_reduce(
                  0, 50, 0L, [&](int i) { return two.run([&] { return support::plain_fib(i % 10); }); },
                  std::plus{});
            }));
}

TEST(runtime, passes_exceptions_between_runtimes) {
  sukima::runtime outer(with_workers(2));
  sukima::runtime inner(with_workers(2));
  EXPECT_THROW(outer.run([&](context c) {
    sukima::fork2(
        c, [](context d) { fib(d, 10); },
        [&] { inner.run([](context e) { sukima::fork2(e, [] {}, [] { throw support::test_error(1); }); }); });
  }),
               support::test_error);
}

TEST(runtime, cannot_be_used_after_it_was_shut_down) {
  sukima::runtime two(with_workers(2));
  EXPECT_EQ(two.run([](context c) { return fib(c, 10); }), 55);
  two.shutdown();
  EXPECT_THROW(two.run([] {}), sukima::usage_error);
  two.shutdown();
  EXPECT_EQ(two.workers(), 2u);
  EXPECT_FALSE(two.statistics().workers.empty());
}

TEST(runtime, waits_for_those_inside_when_it_is_shut_down) {
  sukima::runtime two(with_workers(2));
  std::atomic<bool> inside{false};
  std::atomic<bool> finished{false};
  std::thread other([&] {
    two.run([&](context c) {
      inside = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      fib(c, 15);
      finished = true;
    });
  });
  EXPECT_TRUE(support::sleep_until([&] { return inside.load(); }));
  two.shutdown();
  EXPECT_TRUE(finished);
  other.join();
}

/// The second call begins while the first one waits for the end of a worker's thread.
TEST(runtime, is_shut_down_by_two_threads_at_once) {
  std::atomic<bool> ends{false};
  std::atomic<pid_t> second_thread{0};
  std::atomic<bool> second_is_over{false};
  sukima::settings s = with_workers(2);
  s.on_worker_end = [&](int) {
    ends = true;
    EXPECT_TRUE(support::sleep_until(
        [&] { return second_is_over || (second_thread != 0 && support::sleeps(second_thread)); }));
  };
  sukima::runtime two(s);
  std::thread second([&] {
    EXPECT_TRUE(support::sleep_until([&] { return ends.load(); }));
    second_thread = support::this_thread();
    EXPECT_NO_THROW(two.shutdown());
    second_is_over = true;
  });
  EXPECT_NO_THROW(two.shutdown());
  second.join();
}

TEST(runtime, cannot_be_shut_down_by_its_own_worker) {
  sukima::runtime two(with_workers(2));
  two.run([&] { EXPECT_THROW(two.shutdown(), sukima::usage_error); });
  EXPECT_EQ(two.run([](context c) { return fib(c, 10); }), 55);
}

/// The call of the outer runtime would wait for its own end.
TEST(runtime, cannot_be_shut_down_in_a_call_of_another_one) {
  sukima::runtime outer(with_workers(2));
  sukima::runtime inner(with_workers(2));
  sukima::runtime unrelated(with_workers(2));
  outer.run([&] {
    inner.run([&](context c) {
      std::atomic<bool> is_elsewhere{false};
      sukima::fork2(
          c,
          [&] {
            EXPECT_THROW(outer.shutdown(), sukima::usage_error);
            while (!is_elsewhere) std::this_thread::yield();
          },
          [&] {  // on another thread, which has not entered
            EXPECT_THROW(outer.shutdown(), sukima::usage_error);
            is_elsewhere = true;
          });
      unrelated.shutdown();
    });
    EXPECT_THROW(outer.shutdown(), sukima::usage_error);
    inner.shutdown();
  });
  EXPECT_EQ(outer.run([](context c) { return fib(c, 10); }), 55);
}

TEST(runtime, starts_and_ends_often) {
  for (unsigned i = 0; i < 100; ++i) {
    sukima::runtime r(with_workers(1 + i % 4));
    if (i % 3 != 0) {
      EXPECT_EQ(r.run([](context c) { return fib(c, 8); }), 21);
    }
  }
}

TEST(runtime, lets_one_worker_make_progress) {
  sukima::runtime one(with_workers(1));
  EXPECT_EQ(one.run([&](context c) {
    return sukima::parallel_reduce(
        c, 0, 1000, 0L,
        [&](context below, int i) {
          sukima::suspend(below, [](sukima::resumer r) { r.resume(); });
          return sukima::fork2(below, [&] { return 1L; }, [&](context d) { return fib(d, i % 5); }).first;
        },
        std::plus{});
  }),
            1000);
}

#if !defined(SUKIMA_SANITIZED)  // sanitizers take too much memory for each thread
TEST(runtime, allows_many_workers) {
  sukima::settings s = with_workers(1024);
  s.stack = 1 << 20;
  s.choices = 1 << 20;
  sukima::runtime many(s);
  EXPECT_EQ(many.run([](context c) { return fib(c, 22); }), 17711);
}
#endif

/// How often the runtime's threads, known by their names, have slept; ThreadSanitizer has a thread, too.
struct runtime_threads {
  int count = 0;
  long sleeps = 0;
};
runtime_threads threads_of_the_runtime() {
  runtime_threads found;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name, line;
    std::getline(std::ifstream(thread.path() / "comm"), name);
    if (!name.starts_with("sukima")) continue;
    ++found.count;
    constexpr std::string_view field = "voluntary_ctxt_switches:";
    for (std::ifstream status(thread.path() / "status"); std::getline(status, line);)
      if (line.starts_with(field)) found.sleeps += std::stol(line.substr(field.size()));
  }
  return found;
}

TEST(runtime, sleeps_through_silence) {
  sukima::settings s = with_workers(2);
  s.elastic = true;  // with a monitor
  sukima::runtime two(s);
  two.run([](context c) { fib(c, 15); });
  // The monitor and the workers but the first, one or none; a thread gets its name when it begins.
  ASSERT_TRUE(support::sleep_until(
      [&] { return threads_of_the_runtime().count >= static_cast<int>(two.workers_now()); }));
  const long before = threads_of_the_runtime().sleeps;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  // The sentinel until it parks, the monitor until it dozes; each thread may have been about to sleep.
  EXPECT_LE(threads_of_the_runtime().sleeps - before, 13);
}

/// One place that enters, with branches of several lengths.
class place_that_enters {
 public:
  template <class F> void enter(F first) {
    two_.run([&](context c) { sukima::fork2(c, first, [] {}); });
  }
  /// Enters until the roots of this place, which end at once, are so frequent that their first poll is
  /// ignored: no task is made any more. False: it took too long, which only a sanitizer may cause.
  template <class F> bool learns(F first) {
    const auto deadline =
        std::chrono::steady_clock::now() + (support::sanitized ? std::chrono::seconds(2) : support::patience);
    while (std::chrono::steady_clock::now() < deadline) {
      const auto before = tasks();
      for (int i = 0; i < 4; ++i) enter(first);
      if (tasks() == before) return true;
    }
    return false;
  }
  std::uint64_t tasks() const { return two_.statistics().promotions; }

 private:
  sukima::runtime two_{with_workers(2)};
};

TEST(short_roots, make_no_tasks_in_the_end) {
  place_that_enters place;
  const auto before = place.tasks();
  if (!place.learns([] {})) {
    EXPECT_TRUE(support::sanitized) << "no root is short here";
    return;
  }
  EXPECT_GE(place.tasks() - before, 8u);  // the first ones did
}

TEST(short_roots, publish_again_after_a_long_one) {
  place_that_enters place;
  auto length = std::chrono::microseconds(0);
  const auto sleeps = [&length] {
    if (length.count() != 0) std::this_thread::sleep_for(length);
  };
  if (!place.learns(sleeps)) {
    EXPECT_TRUE(support::sanitized) << "no root is short here";
    return;
  }
  length = std::chrono::milliseconds(1);
  place.enter(sleeps);
  const auto before = place.tasks();
  place.enter(sleeps);
  EXPECT_EQ(place.tasks() - before, 1u);
}

TEST(short_roots, that_are_long_publish_at_their_second_poll) {
  place_that_enters place;
  bool is_long = false;
  std::uint64_t by_first_poll = 0;
  std::uint64_t by_second_poll = 0;
  const auto branch = [&](context c) {
    if (!is_long) return;
    by_first_poll = place.tasks();
    sukima::fork2(c, [] {}, [] {});
    by_second_poll = place.tasks();
  };
  // If the last short one was interrupted, the next one's first poll is not ignored.
  for (;;) {
    is_long = false;
    if (!place.learns(branch)) {
      EXPECT_TRUE(support::sanitized) << "no root is short here";
      return;
    }
    is_long = true;
    const auto before = place.tasks();
    place.enter(branch);
    if (by_first_poll == before) break;
  }
  EXPECT_GE(by_second_poll - by_first_poll, 1u);
}

TEST(short_roots, are_aborted_like_others) {
  place_that_enters place;
  bool fails = false;
  const auto branch = [&fails] {
    if (fails) throw std::runtime_error("expected");
  };
  if (!place.learns(branch)) {
    EXPECT_TRUE(support::sanitized) << "no root is short here";
    return;
  }
  fails = true;
  EXPECT_THROW(place.enter(branch), std::runtime_error);
}

TEST(statistics, count_what_happens) {
  sukima::runtime two(with_workers(2));
  std::atomic<bool> stolen{false};
  two.run([&](context c) {
    sukima::fork2(
        c, [&](context d) { EXPECT_TRUE(support::poll_until(d, [&] { return stolen.load(); })); },
        [&] { stolen = true; });
    sukima::suspend(c, [](sukima::resumer r) { r.resume(); });
  });
  const sukima::statistics s = two.statistics();
  EXPECT_GE(s.steals, 1u);
  EXPECT_GE(s.promotions, s.steals);
  EXPECT_GE(s.polls_answered, 1u);
  EXPECT_EQ(s.suspensions, 1u);
  EXPECT_EQ(s.aborts, 0u);
  EXPECT_GE(s.fibers_peak, 2u);
  EXPECT_GT(s.working_seconds, 0.0);
  ASSERT_EQ(s.workers.size(), 2u);
  EXPECT_EQ(s.workers[0].steals + s.workers[1].steals, s.steals);
  EXPECT_THROW(two.run([](context c) { sukima::fork2(c, [] { throw 1; }, [](context d) { fib(d, 5); }); }),
               int);
}

TEST(statistics, of_one_worker_show_no_sharing) {
  sukima::runtime one(with_workers(1));
  one.run([](context c) { return fib(c, 20); });
  const sukima::statistics s = one.statistics();
  EXPECT_EQ(s.promotions, 0u);
  EXPECT_EQ(s.steals, 0u);
  EXPECT_EQ(s.parks, 0u);
  EXPECT_EQ(s.fibers_peak, 1u);
}

TEST(statistics, are_json_in_each_locale) {
  const support::comma_locale set;
  sukima::runtime two(with_workers(2));
  two.run([](context c) { return fib(c, 20); });
  const sukima::statistics s = two.statistics();
  EXPECT_NEAR(nlohmann::json::parse(s.json()).at("working_seconds").get<double>(), s.working_seconds, 1e-6);
}

TEST(statistics, are_written_as_json_and_text) {
  sukima::runtime two(with_workers(2));
  two.run([](context c) { return fib(c, 20); });
  const sukima::statistics s = two.statistics();
  const auto json = nlohmann::json::parse(s.json());
  EXPECT_EQ(json.at("steals"), s.steals);
  EXPECT_EQ(json.at("promotions"), s.promotions);
  EXPECT_EQ(json.at("fibers_peak"), s.fibers_peak);
  EXPECT_EQ(json.at("parked_peak"), s.parked_peak);
  EXPECT_EQ(json.at("launched_peak"), s.launched_peak);
  EXPECT_EQ(json.at("offers_taken_elsewhere"), s.offers_taken_elsewhere);
  EXPECT_EQ(json.at("at_home_seconds"), s.at_home_seconds);
  ASSERT_EQ(json.at("workers").size(), s.workers.size());
  for (std::size_t i = 0; i < s.workers.size(); ++i) {
    EXPECT_EQ(json.at("workers")[i].at("reclaims"), s.workers[i].reclaims);
    EXPECT_NEAR(json.at("workers")[i].at("working_seconds").get<double>(), s.workers[i].working_seconds,
                1e-6);
  }
  const std::string text = s.text();
  for (const char* word :
       {"worker 0", "worker 1", "polls_answered", "wakeups", "sleeping_seconds", "parked_peak"})
    EXPECT_NE(text.find(word), std::string::npos) << word;
}

class worker_observers : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, worker_observers, support::worker_counts(), support::name_of_count);

/// Set by the observer: which worker this thread is.
thread_local int observed_worker = 0;

TEST_P(worker_observers, are_called_for_each_thread_before_its_first_task_and_after_its_last) {
  std::mutex lock;
  std::map<std::thread::id, int> alive;
  std::set<int> workers;
  int ends = 0;
  sukima::settings s = support::with_workers(GetParam());
  s.on_worker_start = [&](int worker) {
    observed_worker = worker;
    const std::lock_guard hold(lock);
    EXPECT_TRUE(alive.emplace(std::this_thread::get_id(), worker).second);
    EXPECT_TRUE(workers.insert(worker).second);
  };
  s.on_worker_end = [&](int worker) {
    const std::lock_guard hold(lock);
    EXPECT_EQ(alive.at(std::this_thread::get_id()), worker);
    alive.erase(std::this_thread::get_id());
    ++ends;
  };
  {
    sukima::runtime runtime(s);
    std::atomic<int> wrong{0};
    for (int round = 0; round < 20; ++round)
      runtime.run([&](sukima::context c) {
        sukima::parallel_for(c, 0, 200, [&](sukima::context, int) {
          // The entering thread is no thread of the runtime.
          if (sukima::worker_id() != observed_worker) ++wrong;
          const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
          while (std::chrono::steady_clock::now() < until) {
          }
        });
      });
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(support::sleep_until([&] {
      const std::lock_guard hold(lock);
      return workers.size() == GetParam() - 1;
    }));
    runtime.shutdown();
    EXPECT_EQ(ends, static_cast<int>(GetParam()) - 1);
  }
  EXPECT_TRUE(alive.empty());
  EXPECT_FALSE(workers.contains(0));
}
}  // namespace

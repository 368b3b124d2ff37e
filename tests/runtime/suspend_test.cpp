// SPDX-License-Identifier: Apache-2.0
// suspend: resumed by any thread, once, early or late; many parked fibers; the rest of their work is given
// away.
#include "support.hpp"

#include <sys/resource.h>

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::resumer;
using support::counted;
using support::test_error;

class suspend_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, suspend_test, support::worker_counts(), support::name_of_count);

TEST_P(suspend_test, goes_on_when_it_was_resumed_at_once) {
  const int n = runtime.run([](context c) {
    int passed = 0;
    for (int i = 0; i < 100; ++i) {
      sukima::suspend(c, [](resumer r) { r.resume(); });
      sukima::suspend([](resumer r) { r.resume(); });
      ++passed;
    }
    return passed;
  });
  EXPECT_EQ(n, 100);
  EXPECT_EQ(runtime.statistics().suspensions, 200u);
}

TEST_P(suspend_test, is_resumed_by_another_thread) {
  for (int i = 0; i < 20; ++i) {
    std::thread other;
    std::atomic<bool> resumed{false};
    runtime.run([&](context c) {
      sukima::suspend(c, [&](resumer r) {
        other = std::thread([&resumed, r, i] {
          if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          resumed = true;
          r.resume();
        });
      });
      EXPECT_TRUE(resumed);
    });
    other.join();
  }
}

TEST_P(suspend_test, is_resumed_by_the_other_branch) {
  for (int i = 0; i < 50; ++i)
    runtime.run([](context c) {
      resumer sleeper;
      std::atomic<bool> parked{false};
      sukima::fork2(
          c,
          [&](context below) {
            sukima::suspend(below, [&](resumer r) {
              sleeper = r;
              parked = true;
            });
          },
          [&] {
            EXPECT_TRUE(support::sleep_until([&] { return parked.load(); }));
            sleeper.resume();
          });
    });
}

TEST_P(suspend_test, lets_the_worker_do_other_work) {
  std::thread other;
  std::atomic<int> done{0};
  runtime.run([&](context c) {
    sukima::fork2(
        c,
        [&](context below) {
          sukima::suspend(below, [&](resumer r) {
            other = std::thread([&done, r] {
              EXPECT_TRUE(support::sleep_until([&] { return done == 100; }));
              r.resume();
            });
          });
        },
        [&](context below) { sukima::parallel_for(below, 0, 100, [&](int) { ++done; }); });
  });
  other.join();
  EXPECT_EQ(done, 100);
}

TEST_P(suspend_test, refuses_a_second_resumption) {
  resumer kept;
  runtime.run([&](context c) {
    sukima::suspend(c, [&](resumer r) {
      kept = r;
      r.resume();
      EXPECT_THROW(r.resume(), sukima::usage_error);
    });
    EXPECT_THROW(kept.resume(), sukima::usage_error);
    std::thread other;
    sukima::suspend(c, [&](resumer r) {
      EXPECT_THROW(kept.resume(), sukima::usage_error) << "it belongs to the suspension before";
      other = std::thread([r] { r.resume(); });
    });
    other.join();
  });
  EXPECT_THROW(kept.resume(), sukima::usage_error);
}

/// The inner wait would end the outer suspension.
TEST_P(suspend_test, refuses_to_wait_in_its_function) {
  runtime.run([](context c) {
    for (const bool is_resumed : {false, true}) {
      resumer outer;
      sukima::suspend(c, [&](resumer r) {
        outer = r;
        if (is_resumed) r.resume();
        const std::string message = support::message_of<sukima::usage_error>(
            [&] { sukima::suspend(c, [](resumer) { ADD_FAILURE() << "it suspends twice"; }); });
        EXPECT_NE(message.find("passed to suspend"), std::string::npos) << message;
        sukima::fork2(c, [] {}, [] {});
        if (!is_resumed) outer.resume();
      });
      sukima::suspend(c, [](resumer r) { r.resume(); });
    }
  });
}

TEST(suspend, refuses_an_empty_resumer) {
  EXPECT_FALSE(resumer());
  EXPECT_THROW(resumer().resume(), sukima::usage_error);
}

TEST(suspend, needs_a_runtime) {
  EXPECT_THROW(sukima::suspend([](resumer) { FAIL(); }), sukima::usage_error);
}

TEST_P(suspend_test, throws_what_its_function_throws) {
  runtime.run([](context c) {
    for (int i = 0; i < 10; ++i) {
      EXPECT_THROW(sukima::suspend(c, [](resumer) { throw test_error(1); }), test_error);
      sukima::suspend(c, [](resumer r) { r.resume(); });
    }
  });
}

TEST_P(suspend_test, keeps_the_exception_being_handled) {
  std::vector<std::thread> others(20);
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 20, [&](context below, int i) {
      try {
        throw test_error(i);
      } catch (const test_error&) {
        sukima::suspend(below, [&](resumer r) {
          others[static_cast<std::size_t>(i)] = std::thread([r] { r.resume(); });
        });
        try {
          throw;
        } catch (const test_error& e) {
          EXPECT_EQ(e.number, i);
        }
      }
      EXPECT_EQ(std::current_exception(), nullptr);
    });
  });
  for (std::thread& t : others) t.join();
}

TEST_P(suspend_test, is_aborted_when_it_goes_on) {
  std::mutex lock;
  std::vector<resumer> parked;
  std::atomic<int> left{0};
  EXPECT_THROW(runtime.run([&](context c) {
    sukima::fork2(
        c,
        [&](context below) {
          struct leaving {
            std::atomic<int>& count;
            ~leaving() { ++count; }
          } at_end{left};
          sukima::suspend(below, [&](resumer r) {
            const std::lock_guard hold(lock);
            parked.push_back(r);
          });
          support::fork_for_ever(below);
        },
        [&] {
          EXPECT_TRUE(support::sleep_until([&] {
            const std::lock_guard hold(lock);
            return !parked.empty();
          }));
          parked.front().resume();
          throw test_error(4);
        });
  }),
               test_error);
  EXPECT_EQ(left, 1);
}

/// A helper splits off the rest of a parked search, and undoes and redoes the search's workspace.
TEST_P(suspend_test, leaves_a_consistent_workspace_to_helpers) {
  struct trail {
    std::vector<int> steps;
  };
  const std::vector<int> choices{0, 1, 2, 3};
  std::mutex lock;
  std::vector<std::thread> others;
  const std::function<long(context, trail&, int)> walk = [&](context c, trail& p, int depth) -> long {
    const std::vector<int> before = p.steps;
    if (depth == 2 && before.back() % 2 == 0) {
      sukima::suspend(c, [&](resumer r) {
        const std::lock_guard hold(lock);
        others.emplace_back([r] {
          std::this_thread::sleep_for(std::chrono::microseconds(200));
          r.resume();
        });
      });
      EXPECT_EQ(p.steps, before);
    }
    if (depth == 0) return 1;
    const long sum = sukima::search(
        c, p, choices, [](trail& q, int s) { q.steps.push_back(s); },
        [](trail& q, int) { q.steps.pop_back(); },
        [&](context below, trail& q, int) { return walk(below, q, depth - 1); }, std::plus{});
    EXPECT_EQ(p.steps, before);
    return sum;
  };
  trail p;
  EXPECT_EQ(runtime.run([&](context c) { return walk(c, p, 5); }), 1024);
  EXPECT_TRUE(p.steps.empty());
  for (std::thread& t : others) t.join();
}

TEST_P(suspend_test, keeps_a_pinned_fiber_on_its_thread) {
  std::thread other;
  runtime.run([&](context c) {
    sukima::thread_bound([&] {
      const auto here = std::this_thread::get_id();
      for (int i = 0; i < 20; ++i) {
        sukima::suspend(c, [&](resumer r) {
          if (other.joinable()) other.join();
          other = std::thread([r] { r.resume(); });
        });
        EXPECT_EQ(std::this_thread::get_id(), here);
        EXPECT_EQ(support::fib(c, 12), 144);
        EXPECT_EQ(std::this_thread::get_id(), here);
      }
    });
  });
  other.join();
}

std::size_t number_of_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

/// ThreadSanitizer knows about 8000 fibers.
constexpr int parked_fibers = support::sanitized ? 3000 : 100'000;

TEST(suspend, parks_very_many_small_fibers) {
  sukima::settings s = support::with_workers(2);
  s.stack = 16 * 1024;
  s.fibers = 1'000'000;
  sukima::runtime two(s);
  std::vector<resumer> parked(parked_fibers);
  std::atomic<int> count{0};
  std::atomic<int> resumed{0};
  const std::size_t before = support::private_bytes().value_or(0);
  std::size_t used = 0;
  std::size_t mappings = 0;
  std::thread other([&] {
    EXPECT_TRUE(support::sleep_until([&] { return count == parked_fibers; }));
    used = support::private_bytes().value_or(0) - before;
    mappings = number_of_mappings();
    for (const resumer& r : parked)
      if (r) r.resume();
  });
  two.run([&](context c) {
    sukima::parallel_for(c, 0, parked_fibers, [&](context below, int i) {
      sukima::suspend(below, [&](resumer r) {
        parked[static_cast<std::size_t>(i)] = r;
        ++count;
      });
      ++resumed;
    });
  });
  other.join();
  EXPECT_EQ(resumed, parked_fibers);
  if (!support::sanitized) {
    EXPECT_LT(used, std::size_t{1} << 30);
    EXPECT_LT(mappings, 65'530u);
    RecordProperty("bytes_for_each_fiber", static_cast<int>(used / parked_fibers));
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// cancellable with a std::stop_token and with deadlines.
#include "support.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace {

using sukima::cancellable;
using sukima::context;
using support::counted;
using support::test_error;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class stop_test : public support::runtimes {
 protected:
  void SetUp() override { counted::reset(); }
  void TearDown() override {
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, stop_test, support::worker_counts(), support::name_of_count);

class deadline_test : public stop_test {};
INSTANTIATE_TEST_SUITE_P(workers, deadline_test, support::worker_counts(), support::name_of_count);

TEST_P(stop_test, returns_the_result_without_a_stop_request) {
  const std::stop_source source;
  runtime.run([&](context c) {
    EXPECT_EQ(cancellable(c, source.get_token(), [](context below) { return support::fib(below, 15); }), 610);
    EXPECT_EQ(cancellable(c, std::stop_token(), [] { return std::string("done"); }), "done");
    EXPECT_TRUE(cancellable(c, source.get_token(), [](context) {}));
  });
  runtime.run([&] { EXPECT_TRUE(cancellable(source.get_token(), [] {})); });
}

TEST_P(stop_test, is_ended_by_another_thread) {
  for (int i = 0; i < 20; ++i) {
    std::stop_source source;
    std::atomic<bool> ready{false};
    std::thread other([&] {
      EXPECT_TRUE(support::sleep_until([&] { return ready.load(); }));
      source.request_stop();
    });
    EXPECT_FALSE(runtime.run([&](context c) {
      return cancellable(c, source.get_token(), [&](context below) -> int {
        const counted capture(i);
        ready = true;
        support::fork_for_ever(below);
      });
    }));
    other.join();
  }
}

TEST_P(stop_test, is_ended_from_within) {
  for (int i = 0; i < 20; ++i) {
    std::stop_source source;
    EXPECT_FALSE(runtime.run([&] {
      return cancellable(source.get_token(), [&](context below) {
        sukima::parallel_for(below, 0, 1'000'000'000, [&](context, int k) {
          if (k == 3) source.request_stop();
        });
      });
    }));
  }
}

TEST_P(stop_test, does_not_begin_after_a_request) {
  std::stop_source source;
  source.request_stop();
  runtime.run([&](context c) {
    EXPECT_FALSE(cancellable(c, source.get_token(), [] { ADD_FAILURE(); }));
    EXPECT_EQ(cancellable(c, source.get_token(), [] { return 1; }), std::nullopt);
  });
}

TEST_P(stop_test, stops_all_scopes_of_one_token) {
  std::stop_source source;
  std::atomic<int> begun{0};
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 20, [&](context below, int i) {
      // The last one to begin stops all; with one worker they come one after the other, and the first one
      // does.
      EXPECT_FALSE(cancellable(below, source.get_token(), [&](context deeper) {
        if (++begun >= 1 && i % 4 == 0) source.request_stop();
        support::fork_for_ever(deeper);
      }));
      if (!source.stop_requested()) ADD_FAILURE();
    });
  });
  EXPECT_GE(begun, 1);
}

TEST_P(stop_test, does_nothing_after_the_end) {
  std::stop_source source;
  runtime.run([&](context c) {
    EXPECT_EQ(cancellable(c, source.get_token(), [] { return 1; }), 1);
    source.request_stop();
    EXPECT_EQ(support::fib(c, 10), 55);
  });
}

TEST_P(stop_test, lets_exceptions_pass) {
  const std::stop_source source;
  runtime.run([&](context c) {
    EXPECT_THROW(cancellable(c, source.get_token(), [] { throw test_error(1); }), test_error);
    EXPECT_THROW(cancellable(c, 1h, [] { throw test_error(1); }), test_error);
    EXPECT_EQ(support::fib(c, 12), 144);
  });
}

/// Requests that come at any moment of short scopes.
TEST_P(stop_test, races_with_the_end) {
  for (int i = 0; i < 300; ++i) {
    std::stop_source source;
    std::atomic<bool> ready{false};
    std::thread other([&] {
      while (!ready) std::this_thread::yield();
      source.request_stop();
    });
    runtime.run([&](context c) {
      ready = true;
      const auto result =
          cancellable(c, source.get_token(), [&](context below) { return support::fib(below, i % 12); });
      if (result) {
        EXPECT_EQ(*result, support::plain_fib(i % 12));
      }
      EXPECT_EQ(support::fib(c, 8), 21);
    });
    other.join();
  }
}

TEST_P(deadline_test, ends_what_takes_too_long) {
  runtime.run([](context c) {
    const auto begun = steady::now();
    EXPECT_FALSE(cancellable(c, 20ms, [](context below) {
      const counted capture(1);
      support::fork_for_ever(below);
    }));
    EXPECT_GE(steady::now() - begun, 20ms);
    EXPECT_FALSE(cancellable(c, steady::now() + 5ms, [](context below) { support::fork_for_ever(below); }));
    EXPECT_FALSE(cancellable(c, std::chrono::system_clock::now() + 5ms,
                             [](context below) { support::fork_for_ever(below); }));
    EXPECT_FALSE(cancellable(c, std::chrono::duration<float>(0.005f),
                             [](context below) { support::fork_for_ever(below); }));
  });
}

TEST_P(deadline_test, returns_what_is_done_in_time) {
  runtime.run([](context c) {
    EXPECT_EQ(cancellable(c, 1h, [](context below) { return support::fib(below, 15); }), 610);
    EXPECT_EQ(cancellable(c, steady::time_point::max(), [] { return 2; }), 2);
    EXPECT_EQ(cancellable(c, std::chrono::hours::max(), [] { return 3; }), 3);
    using by_seconds = std::chrono::time_point<steady, std::chrono::seconds>;
    EXPECT_EQ(cancellable(c, by_seconds::max(), [] { return 5; }), 5);
    EXPECT_FALSE(cancellable(c, by_seconds::min(), [] { ADD_FAILURE() << "it is long past"; }));
    EXPECT_EQ(cancellable(c, std::chrono::duration<double>(std::numeric_limits<double>::infinity()),
                          [] { return 4; }),
              4);
  });
  runtime.run([] {
    EXPECT_TRUE(cancellable(1h, [] {}));
    EXPECT_EQ(cancellable(steady::now() + 1h, [](context below) { return support::fib(below, 10); }), 55);
  });
}

/// It ends long after the moment, without having polled: too late.
TEST_P(deadline_test, a_function_without_polls_has_no_result_after_the_moment) {
  runtime.run([](context c) {
    const auto sleep = [] { std::this_thread::sleep_for(30ms); };
    EXPECT_FALSE(cancellable(c, 1ms, sleep));
    EXPECT_EQ(cancellable(c, 1ms,
                          [&] {
                            sleep();
                            return 1;
                          }),
              std::nullopt);
    EXPECT_TRUE(cancellable(c, 1h, sleep));
    EXPECT_EQ(support::fib(c, 12), 144);
  });
}

TEST_P(deadline_test, and_a_token_end_one_scope) {
  runtime.run([](context c) {
    std::stop_source source;
    const std::stop_token token = source.get_token();
    EXPECT_EQ(cancellable(c, token, 1h, [](context below) { return support::fib(below, 12); }), 144);
    EXPECT_EQ(cancellable(c, token, steady::now() + 1h, [] { return 1; }), 1);
    EXPECT_FALSE(cancellable(c, token, 5ms, [](context below) { support::fork_for_ever(below); }));
    EXPECT_FALSE(cancellable(c, token, 0s, [] { ADD_FAILURE(); }));
    EXPECT_FALSE(cancellable(c, token, 1h, [&](context below) {
      source.request_stop();
      support::fork_for_ever(below);
    }));
    EXPECT_FALSE(cancellable(c, token, 1h, [] { ADD_FAILURE(); })) << "a stop was requested before";
  });
  runtime.run([] {
    const std::stop_source source;
    EXPECT_TRUE(cancellable(source.get_token(), 1h, [] {}));
    EXPECT_FALSE(cancellable(source.get_token(), steady::now() + 3ms,
                             [](context below) { support::fork_for_ever(below); }));
  });
}

TEST_P(deadline_test, does_not_begin_after_the_moment) {
  runtime.run([](context c) {
    EXPECT_FALSE(cancellable(c, 0s, [] { ADD_FAILURE(); }));
    EXPECT_FALSE(cancellable(c, -1s, [] { ADD_FAILURE(); }));
    EXPECT_FALSE(cancellable(c, steady::now() - 1ms, [] { ADD_FAILURE(); }));
    EXPECT_FALSE(cancellable(c, std::chrono::system_clock::time_point::min(), [] { ADD_FAILURE(); }));
    EXPECT_FALSE(cancellable(c, std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN()),
                             [] { ADD_FAILURE(); }));
  });
}

TEST_P(deadline_test, the_nearest_of_nested_ones_counts) {
  runtime.run([](context c) {
    EXPECT_EQ(
        cancellable(c, 1h,
                    [](context c1) {
                      EXPECT_FALSE(cancellable(c1, 5ms, [](context c2) { support::fork_for_ever(c2); }));
                      return 1;
                    }),
        1);
    EXPECT_FALSE(cancellable(c, 5ms, [](context c1) {
      cancellable(c1, 1h, [](context c2) { support::fork_for_ever(c2); });
      ADD_FAILURE();
    }));
  });
}

/// How often the thread of the deadlines has gone to sleep; nothing: there is none.
std::optional<long> sleeps_of_the_clock() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream comm(task.path() / "comm"), status(task.path() / "status");
    std::string word;
    if (!std::getline(comm, word) || word != "sukima-clock") continue;
    while (status >> word)
      if (long sleeps = 0; word == "voluntary_ctxt_switches:" && status >> sleeps) return sleeps;
  }
  return {};
}

TEST_P(deadline_test, a_nearer_one_wakes_a_clock_that_sleeps_for_longer) {
  runtime.run([](context c) {
    cancellable(c, 1h, [](context) {});  // the clock is there, and soon has its name
    std::optional<long> before;
    ASSERT_TRUE(support::sleep_until([&] { return (before = sleeps_of_the_clock()).has_value(); }));
    cancellable(c, 1h, [&](context c1) {
      // It has been woken by this deadline, and sleeps again: for an hour.
      ASSERT_TRUE(support::sleep_until([&] { return sleeps_of_the_clock() > before; }));
      EXPECT_FALSE(cancellable(c1, 5ms, [](context c2) { support::fork_for_ever(c2); }));
    });
  });
}

TEST_P(deadline_test, many_at_once_end_in_any_order) {
  std::atomic<int> late{0};
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, 200, [&](context below, int i) {
      const auto span = std::chrono::microseconds(i * 37 % 1000);
      if (!cancellable(below, span, [](context deeper) { return support::fib(deeper, 14); })) ++late;
    });
  });
  EXPECT_GE(late, 1);  // the one without time
  EXPECT_LE(late, 200);
}

}  // namespace

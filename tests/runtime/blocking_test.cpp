// SPDX-License-Identifier: Apache-2.0
// blocking: another worker runs while one waits outside the runtime.
#include "support.hpp"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace {

using sukima::context;

/// Waits for so many arrivals; the last one releases all.
class meeting {
 public:
  explicit meeting(int expected) : missing_(expected) {}
  bool arrive_and_wait() {
    std::unique_lock hold(lock_);
    if (--missing_ <= 0) changed_.notify_all();
    return changed_.wait_for(hold, support::patience, [this] { return missing_ <= 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable changed_;
  int missing_;
};

class blocking_test : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, blocking_test, support::worker_counts(), support::name_of_count);

TEST_P(blocking_test, returns_what_the_function_returns) {
  EXPECT_EQ(runtime.run([](context c) { return sukima::blocking(c, [] { return 7; }); }), 7);
  EXPECT_EQ(runtime.run([] { return sukima::blocking([] { return std::string("text"); }); }), "text");
  EXPECT_EQ(sukima::blocking([] { return 3; }), 3) << "on an ordinary thread";
}

TEST_P(blocking_test, lets_exceptions_out) {
  EXPECT_THROW(runtime.run([](context c) { sukima::blocking(c, [] { throw std::runtime_error("no"); }); }),
               std::runtime_error);
  EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
}

TEST_P(blocking_test, lets_as_many_iterations_wait_for_each_other_as_there_are) {
  // Two more than there are workers: each of them has to be made up for.
  const int count = static_cast<int>(GetParam()) + 2;
  meeting all(count);
  std::atomic<int> met{0};
  runtime.run([&](context c) {
    sukima::parallel_for(c, 0, count, [&](context below, int) {
      if (sukima::blocking(below, [&] { return all.arrive_and_wait(); })) ++met;
    });
  });
  EXPECT_EQ(met.load(), count);
}

TEST_P(blocking_test, gives_older_forks_away_first) {
  std::atomic<bool> other_ran{false};
  bool seen = false;
  runtime.run([&](context c) {
    sukima::fork2(
        c,
        [&](context below) {
          sukima::fork2(
              below,
              [&](context deepest) {
                seen = sukima::blocking(
                    deepest, [&] { return support::sleep_until([&] { return other_ran.load(); }); });
              },
              [] {});
        },
        [&] { other_ran = true; });
  });
  EXPECT_TRUE(seen);
}

TEST_P(blocking_test, works_again_and_again) {
  const long sum = runtime.run([](context c) {
    return sukima::parallel_reduce(
        c, 0, 300, 0L,
        [](context below, int i) {
          return sukima::blocking(below, [i] {
            if (i % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
            return static_cast<long>(i);
          });
        },
        std::plus{});
  });
  EXPECT_EQ(sum, 300L * 299 / 2);
}

TEST_P(blocking_test, may_contain_forks) {
  const long value = runtime.run([](context c) {
    auto [a, b] = sukima::fork2(
        c, [](context below) { return sukima::blocking(below, [&] { return support::fib(below, 15); }); },
        [] {
          return sukima::blocking(
              [] { return sukima::run([](context inner) { return support::fib(inner, 14); }); });
        });
    return a + b;
  });
  EXPECT_EQ(value, 610 + 377);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Where the parallel algorithms run, and what aborts and exceptions do to them.
#include "support.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <execution>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using sukima::context;

TEST(policy, elements_are_treated_by_several_workers) {
  sukima::runtime two(support::with_workers(2));
  std::vector<int> x(10'000);
  std::mutex lock;
  std::set<pid_t> threads;
  const auto seen = [&] {
    const std::scoped_lock keep(lock);
    return threads.size();
  };
  two.run([&] {
    while (seen() < 2)
      std::for_each(std::execution::par, x.begin(), x.end(), [&](int&) {
        const std::scoped_lock keep(lock);
        threads.insert(support::this_thread());
      });
  });
}

TEST(policy, the_default_runtime_serves_ordinary_threads) {
  std::vector<int> x(100'000, 1);
  std::array<int, 4> sums{};
  {
    std::vector<std::jthread> threads;
    for (int& sum : sums)
      threads.emplace_back([&x, &sum] { sum = std::reduce(std::execution::par, x.begin(), x.end()); });
  }
  EXPECT_EQ(sums, (std::array{100'000, 100'000, 100'000, 100'000}));
}

/// A caller may hold a mutex, which only its thread may unlock.
TEST(policy, an_algorithm_returns_on_the_thread_that_called_it) {
  sukima::runtime four(support::with_workers(4));
  std::vector<int> x(2'000);
  four.run([&](context c) {
    sukima::parallel_for(c, 0, 200, [&](int) {
      const pid_t before = support::this_thread();
      std::vector<int> mine(x);
      std::sort(std::execution::par, mine.begin(), mine.end());
      EXPECT_EQ(support::this_thread(), before);
    });
  });
}

TEST(policy, algorithms_nest) {
  sukima::runtime four(support::with_workers(4));
  std::vector<std::vector<int>> rows(50, std::vector<int>(1000, 1));
  four.run([&] {
    EXPECT_EQ(std::transform_reduce(std::execution::par, rows.begin(), rows.end(), 0, std::plus<>(),
                                    [](const std::vector<int>& row) {
                                      return std::reduce(std::execution::par, row.begin(), row.end());
                                    }),
              50'000);
  });
}

/// libstdc++ ends the program if an exception leaves a parallel algorithm: an abort must wait.
TEST(policy, an_abort_takes_effect_after_the_algorithm) {
  sukima::runtime two(support::with_workers(2));
  std::vector<int> x(1000, 1);
  int sum = 0;
  two.run([&](context c) {
    EXPECT_FALSE(sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
      cancel.cancel();
      sum = std::reduce(std::execution::par, x.begin(), x.end());
      for (;;) sukima::fork2(below, [] {}, [] {});
    }));
  });
  EXPECT_EQ(sum, 1000);
}

TEST(policy_death_test, an_exception_ends_the_program_as_the_standard_says) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  const std::vector<int> x(1000);
  EXPECT_DEATH(
      std::for_each(std::execution::par, x.begin(), x.end(), [](int) { throw std::runtime_error("mine"); }),
      "");
}

}  // namespace

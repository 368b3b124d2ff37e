// SPDX-License-Identifier: Apache-2.0
// guard and split: what may be given away, and how much of it.
#include "support.hpp"

#include <cmath>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::guard;

/// Which of two nested forks was given away: 0 none, 1 the outer one, 2 the inner one.
template <class OuterGuard, class InnerGuard>
int given_away(OuterGuard outer, InnerGuard inner, std::chrono::milliseconds patience) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<int> first{0};
  const auto here = std::this_thread::get_id();
  const auto branch = [&](int number) {
    return [&first, number, here] {
      int none = 0;
      if (std::this_thread::get_id() != here) first.compare_exchange_strong(none, number);
    };
  };
  two.run([&](context c) {
    sukima::fork2(
        c,
        [&](context c1) {
          sukima::fork2(
              c1,
              [&](context c2) {
                const auto deadline = std::chrono::steady_clock::now() + patience;
                while (first == 0 && std::chrono::steady_clock::now() < deadline) {
                  sukima::fork2(c2, [] {}, [] {}, guard(0));
                  std::this_thread::yield();
                }
              },
              branch(2), inner);
        },
        branch(1), outer);
  });
  return first;
}

using std::chrono::milliseconds;

TEST(hints, guard_of_one_gives_away) { EXPECT_EQ(given_away(guard(1), guard(1), support::patience), 1); }

TEST(hints, guard_above_one_gives_away) { EXPECT_EQ(given_away(guard(2.5), guard(0), support::patience), 1); }

TEST(hints, guard_that_refuses_lets_the_next_one_go) {
  EXPECT_EQ(given_away(guard(0), guard(1), support::patience), 2);
  EXPECT_EQ(given_away(guard(-3), guard(1), support::patience), 2);
  EXPECT_EQ(given_away(guard(std::numeric_limits<double>::quiet_NaN()), guard(1), support::patience), 2);
  EXPECT_EQ(given_away(guard([] { return 0.0; }), guard(1), support::patience), 2);
}

TEST(hints, guards_that_refuse_give_nothing_away) {
  EXPECT_EQ(given_away(guard(0), guard(0), milliseconds(100)), 0);
}

TEST(hints, guard_is_a_probability) {
  std::atomic<long> asked{0};
  const auto half = guard([&] {
    ++asked;
    return 0.5;
  });
  // A thief that is refused asks again at a later poll, so nearly all forks are given away in the end, after
  // two requests each. Draws begin with the time, so the loop continues until both answers have come.
  int outer = 0;
  for (int i = 0; i < 40 || outer <= 2 || asked <= outer + 4; ++i)
    outer += given_away(half, guard(1), support::patience) == 1 ? 1 : 0;
}

TEST(hints, guard_sees_the_workspace_of_its_choice) {
  sukima::runtime two(support::with_workers(2));
  std::vector<int> workspace;
  std::atomic<int> asked{0};
  std::atomic<int> wrong{0};
  const std::vector<int> choices{1, 2, 3};
  const auto push = [](std::vector<int>& w, int x) { w.push_back(x); };
  const auto pop = [](std::vector<int>& w, int) { w.pop_back(); };
  two.run([&](context c) {
    sukima::search(
        c, workspace, choices, push, pop,
        [&](context c1, std::vector<int>& w1, int) {
          return sukima::search(
              c1, w1, choices, push, pop,
              [&](context c2, std::vector<int>&, int) {
                EXPECT_TRUE(support::poll_until(c2, [&] { return asked.load() > 0; }));
                return 0;
              },
              0, std::plus{});
        },
        0, std::plus{}, guard([&] {
          ++asked;
          if (!workspace.empty()) ++wrong;
          return 0.0;
        }));
  });
  EXPECT_GT(asked, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(hints, split_says_where) {
  sukima::runtime two(support::with_workers(2));
  std::mutex lock;
  std::vector<std::pair<std::int64_t, std::int64_t>> asked;
  std::atomic<bool> other{false};
  std::atomic<int> first_of_other{-1};
  const auto here = std::this_thread::get_id();
  two.run([&](context c) {
    sukima::parallel_for(
        c, 0, 100,
        [&](context below, int i) {
          if (std::this_thread::get_id() == here) {
            if (i == 0) {
              EXPECT_TRUE(support::poll_until(below, [&] { return other.load(); }));
            }
            return;
          }
          int none = -1;
          first_of_other.compare_exchange_strong(none, i);
          other = true;
        },
        sukima::split([&](std::int64_t next, std::int64_t end) {
          const std::lock_guard hold(lock);
          asked.emplace_back(next, end);
          return std::int64_t{90};
        }));
  });
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked.front(), std::make_pair(std::int64_t{1}, std::int64_t{100}));
  EXPECT_EQ(first_of_other, 90);
}

TEST(hints, split_out_of_range_is_clamped) {
  sukima::runtime many(support::with_workers(4));
  for (const std::int64_t place : {std::int64_t{-100}, std::int64_t{1} << 60, std::int64_t{0}}) {
    std::vector<std::atomic<int>> seen(3000);
    many.run([&](context c) {
      sukima::parallel_for(
          c, 0, 3000, [&](context, int i) { seen[static_cast<std::size_t>(i)] += 1; },
          sukima::split([place](std::int64_t, std::int64_t) { return place; }));
    });
    for (const auto& n : seen) ASSERT_EQ(n, 1);
  }
}

}  // namespace

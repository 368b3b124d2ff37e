// SPDX-License-Identifier: Apache-2.0
// Deep choice stacks: what backtracking looks through, counted in choice points.
#include "support.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace {

using sukima::context;

/// A left spine: the second branch of each level is short, and polls.
template <class Leaf> long spine(context c, int levels, const Leaf& leaf) {
  if (levels == 0) return leaf(c);
  const auto [a, b] = sukima::fork2(
      c, [&leaf, levels](context below) { return spine(below, levels - 1, leaf); },
      [](context below) {
        sukima::fork2(below, [] {}, [] {});
        return 1L;
      });
  return a + b;
}

/// Steps are counted, not time. Each split that looked through all that is pending would make it
/// levels × splits, 2 × 10^8 and more.
TEST(deep_spine, is_looked_through_once_for_all_splits_on_the_way_down_and_up) {
  constexpr int levels = support::sanitized ? 20'000 : 100'000;
  constexpr std::uint64_t splits = 2'000;
  struct protocol {
    unsigned published;
    unsigned interval_us;
  };
  for (const protocol& p : {protocol{3, 0}, protocol{0, 0}, protocol{0, 1}}) {
    sukima::settings s = support::with_workers(2);
    s.published_tasks = p.published;
    s.request_interval_us = p.interval_us;
    sukima::runtime two(s);
    const auto promotions = [&] { return two.statistics().promotions; };
    long sum = 0;
    two.run([&](context c) {
      sum = spine(c, levels, [&](context below) {
        EXPECT_TRUE(support::poll_until(below, [&] { return promotions() >= splits; }));
        return 1L;
      });
    });
    EXPECT_EQ(sum, levels + 1);
    const sukima::statistics all = two.statistics();
    EXPECT_GE(all.promotions, splits);
    EXPECT_LE(all.choice_points_scanned, 4 * levels + 300 * all.promotions) << all.text();
  }
}

/// The same for a loop whose steps have to be undone and replayed: they are found again where they are.
TEST(deep_spine, has_its_steps_undone_and_replayed_in_order) {
  struct place {
    std::vector<int> steps;
  };
  sukima::runtime two(support::with_workers(2));
  constexpr int levels = 300;
  std::atomic<int> wrong{0};
  const std::function<long(context, place&, int)> go = [&](context c, place& at, int level) -> long {
    if (level == levels) {
      for (int i = 0; i < levels; ++i)
        if (at.steps[static_cast<std::size_t>(i)] / 2 != i) ++wrong;
      sukima::fork2(c, [] {}, [] {});
      return 1;
    }
    const std::array<int, 2> choices{2 * level, 2 * level + 1};
    return sukima::search(
        c, at, std::span(choices).first(level % 40 == 0 ? 2 : 1),
        [](place& p, int step) { p.steps.push_back(step); },
        [&](place& p, int step) {
          if (p.steps.back() != step) ++wrong;
          p.steps.pop_back();
        },
        [&](context below, place& p, int) {
          const auto [a, b] = sukima::fork2(
              below, [&](context deeper) { return go(deeper, p, level + 1); }, [] { return 0L; });
          return a + b;
        },
        std::plus{});
  };
  for (int round = 0; round < (support::sanitized ? 2 : 10); ++round)
    two.run([&](context c) {
      place start;
      EXPECT_EQ(go(c, start, 0), 1L << 8);
      EXPECT_TRUE(start.steps.empty());
    });
  EXPECT_EQ(wrong, 0);
}

}  // namespace

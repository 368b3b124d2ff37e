// SPDX-License-Identifier: Apache-2.0
// The optimiser against synthetic programs at 5 % noise, with fixed seeds. host_optimise_check has the
// whole table.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "runs.hpp"

namespace {

using namespace synthetic;

constexpr unsigned runs = 40;
constexpr std::uint64_t seed = 1000;
constexpr double noise = 0.05;

class each_shape : public testing::TestWithParam<shape> {};

TEST_P(each_shape, by_progress_is_near_the_best_and_loses_little_and_rests) {
  const summary found = summarise(method::progress, GetParam(), {.noise = noise}, runs, seed);
  EXPECT_GE(found.near, 0.95);
  EXPECT_LE(found.lost, 3);
  EXPECT_LE(found.changes_an_hour, 1.2);
}

/// Each change of the number of threads stops the program for a quarter of a second.
constexpr double expensive = 0.25;

TEST_P(each_shape, by_progress_expensive_changes_are_rare) {
  const summary found =
      summarise(method::progress, GetParam(), {.noise = noise, .change_cost = expensive}, runs, seed);
  EXPECT_GE(found.near, 0.95);
  EXPECT_LE(found.lost, 2.5);
  EXPECT_LE(found.changes_an_hour, 1.2);
}

TEST_P(each_shape, by_use_never_flaps) {
  EXPECT_EQ(summarise(method::use, GetParam(), {.noise = noise}, runs, seed).changes_an_hour, 0);
}

/// Use alone finds the paper's shapes. It does not where use and speed differ, nor a best count that the use
/// does not show.
TEST_P(each_shape, by_use_alone_is_as_good_as_use_can_be) {
  const summary found = summarise(method::use, GetParam(), {.noise = noise}, runs, seed);
  switch (GetParam()) {
    case shape::flat:
    case shape::oscillates:
      EXPECT_GE(found.near, 0.95);
      EXPECT_LE(found.lost, 5);
      break;
    case shape::rises:
    case shape::drops:
      EXPECT_GE(found.near, GetParam() == shape::drops ? 0.95 : 0.9);
      EXPECT_LE(found.median, 1);
      EXPECT_LE(found.lost, 5);
      break;
    case shape::oscillates_best_above:
      EXPECT_LE(found.median, 14);
      EXPECT_LE(found.lost, 18);
      break;
    case shape::use_misleads:
    case shape::best_below:
      EXPECT_LE(found.median, 20);
      EXPECT_LE(found.lost, 20);
      break;
  }
}

INSTANTIATE_TEST_SUITE_P(synthetic, each_shape, testing::ValuesIn(all_shapes),
                         [](const auto& one) { return "shape_" + std::to_string(one.index); });

TEST(synthetic, after_another_program_began_the_best_is_found_again) {
  const summary found = summarise_change(method::progress, noise, 2 * runs, seed);
  EXPECT_GE(found.near, 0.93);
  EXPECT_LE(found.median, 0.5);
  EXPECT_LE(found.lost, 4);
}

/// They take turns, so it takes longer; 20 runs of four programs.
TEST(synthetic, four_programs_of_a_group_all_find_their_best) {
  using namespace sukima::host;
  unsigned near = 0;
  for (std::uint64_t i = 0; i < 20; i++) {
    draws from(seed + i);
    optimiser all(seed + i);
    std::vector<world> worlds;
    for (std::size_t vm = 0; vm < 4; vm++) {
      const program drawn = draw_program(all_shapes[from.number(0, std::size(all_shapes) - 1)], from);
      worlds.emplace_back(drawn, circumstances{}, draws(from.next()));
      all.add("vm" + std::to_string(vm), {.most = most});
      all.event(vm, 0, vm_event::opted_in);
    }
    for (unsigned cycle = 1; cycle * 1.5 < run_seconds; cycle++) {
      const double at = cycle * 1.5;
      std::vector<vm_report> seen;
      for (std::size_t vm = 0; vm < 4; vm++) {
        const unsigned usable = worlds[vm].now().usable, count = all.wanted(vm).value_or(usable);
        const window one = worlds[vm].measure(count);
        const vm_status status{at, static_cast<double>(usable), usable, one.use, 1000};
        measured_window measured{.at = at, .count = count, .use = one.use};
        measured.progress = one.speed;
        measured.share = std::exp(from.normal(0.02));
        seen.push_back({vm, status, measured});
      }
      all.cycle(seen);
    }
    for (std::size_t vm = 0; vm < 4; vm++) near += worlds[vm].now().below_best(all.resting(vm)) <= 5 ? 1 : 0;
  }
  EXPECT_GE(near, 72U);  // of 80: now and then noise fires the guard, and ten minutes are held
}

TEST(synthetic, two_per_cent_noise_hardly_ever_moves_the_resting_count) {
  for (const shape of : all_shapes)
    EXPECT_LE(summarise(method::progress, of, {.noise = 0.02}, runs, seed).changes_an_hour, 0.6)
        << name_of(of);
}

/// The programs are what they are meant to be.
TEST(synthetic, programs_have_their_shapes) {
  for (std::uint64_t i = 0; i < 100; i++) {
    draws from(i);
    for (const shape of : all_shapes) {
      const program p = draw_program(of, from);
      const unsigned c = p.usable;
      EXPECT_DOUBLE_EQ(p.below_best(p.best()), 0);
      const unsigned expected = of == shape::rises || of == shape::drops ? c + p.reach
                                : of == shape::oscillates_best_above     ? c + 2
                                : of == shape::best_below                ? p.lowest
                                                                         : c;
      EXPECT_EQ(p.best(), expected) << name_of(of);
      EXPECT_EQ(p.use(c) < p.use(c + 1), of == shape::rises || of == shape::use_misleads) << name_of(of);
      EXPECT_EQ(p.use(c) > p.use(c + 1),
                of == shape::drops || of == shape::oscillates || of == shape::oscillates_best_above)
          << name_of(of);
    }
  }
}

TEST(synthetic, the_static_count_and_the_papers_rule_lose_what_the_table_says) {
  const auto lost = [](method by, shape of) { return summarise(by, of, {.noise = noise}, runs, seed).lost; };
  EXPECT_NEAR(lost(method::fixed, shape::rises), 20, 0.1);
  EXPECT_NEAR(lost(method::fixed, shape::drops), 23, 0.1);
  EXPECT_NEAR(lost(method::paper, shape::oscillates), 23, 3);
  EXPECT_NEAR(lost(method::paper, shape::oscillates_best_above), 35, 3);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The whole table of docs/host-optimiser.md, printed, and held to what the optimiser promises.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>

#include "runs.hpp"

namespace {

using namespace synthetic;

constexpr unsigned runs_a_cell = 50;
constexpr std::uint64_t seed = 1;

void print(const summary& cell) {
  std::printf(" %.1f / %.1f (%.0f %%); %.1f; %.1f |", cell.median, cell.p95, 100 * cell.near, cell.lost,
              cell.changes_an_hour);
}

void print_head(double noise) {
  std::printf(
      "\nNoise %.0f %% a window, %u runs a cell: %% below the best count at the end, median / p95 (runs "
      "within "
      "5 %%); %% of the whole run lost; changes of the resting count an hour\n\n"
      "| shape | VCPU-Bal (static) | paper's rule | `use` | `progress` |\n| --- | --- | --- | --- | --- |\n",
      100 * noise, runs_a_cell);
}

summary row(shape of, double noise) {
  std::printf("| %s |", name_of(of));
  summary last;
  for (const method by : all_methods) print(last = summarise(by, of, {.noise = noise}, runs_a_cell, seed));
  std::printf("\n");
  return last;
}

class table : public testing::TestWithParam<double> {};

TEST_P(table, by_progress_is_near_the_best_in_every_shape) {
  const double noise = GetParam();
  print_head(noise);
  for (const shape of : all_shapes) {
    SCOPED_TRACE(name_of(of));
    const summary progress = row(of, noise);
    if (noise > 0.05) continue;  // shown, not promised: longer windows would be needed
    EXPECT_GE(progress.near, 0.95);
    EXPECT_LE(progress.lost, 3);
    EXPECT_LE(progress.changes_an_hour, 1.2);
  }
}

INSTANTIATE_TEST_SUITE_P(noise, table, testing::Values(0.02, 0.05, 0.10),
                         [](const auto& one) { return std::to_string(static_cast<int>(100 * one.param)); });

TEST(table, another_program_after_300_s) {
  std::printf("| another program after 300 s |");
  summary last;
  for (const method by : all_methods) print(last = summarise_change(by, 0.05, 2 * runs_a_cell, seed));
  std::printf("\n");
  EXPECT_GE(last.near, 0.95);
  EXPECT_LE(last.lost, 4);
}

TEST(table, longer_windows_at_10_per_cent_noise) {
  const auto print_and_take = [](shape of, unsigned seconds) {
    const circumstances in{.noise = 0.10, .window_seconds = seconds};
    const summary found = summarise(method::progress, of, in, 400, seed);
    std::printf("windows of %u s, %-36s", seconds, name_of(of));
    print(found);
    std::printf("\n");
    return found;
  };
  for (const shape of : all_shapes) {
    SCOPED_TRACE(name_of(of));
    const double of_one = print_and_take(of, 1).near;
    print_and_take(of, 2);
    const double of_four = print_and_take(of, 4).near;
    EXPECT_GE(of_four, of_one);
    EXPECT_GE(of_four, 0.9);
  }
}

/// The same promises on fresh programs: 1000 runs a shape.
TEST(table, fresh_seeds) {
  const std::uint64_t fresh = std::random_device{}() * std::uint64_t{1'000'000};
  std::printf("seed %llu\n", static_cast<unsigned long long>(fresh));
  for (const shape of : all_shapes) {
    SCOPED_TRACE(name_of(of));
    const summary found = summarise(method::progress, of, {.noise = 0.05}, 1000, fresh);
    std::printf("%-36s %.1f %% of the runs within 5 %%, %.2f %% lost, %.2f changes an hour\n", name_of(of),
                100 * found.near, found.lost, found.changes_an_hour);
    EXPECT_GE(found.near, 0.95);
    EXPECT_LE(found.lost, 3);
    EXPECT_LE(found.changes_an_hour, 1.2);
  }
}

}  // namespace

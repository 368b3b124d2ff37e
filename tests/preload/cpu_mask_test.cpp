// SPDX-License-Identifier: Apache-2.0
// Narrowing affinity masks, against a plain model.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

extern "C" {
#include "cpu_mask.h"
}

namespace {

using mask = std::array<unsigned char, 16>;

mask mask_of(const std::vector<unsigned>& cpus) {
  mask m{};
  for (const unsigned cpu : cpus) m[cpu / 8] = static_cast<unsigned char>(m[cpu / 8] | (1U << (cpu % 8)));
  return m;
}

std::vector<unsigned> cpus_of(const mask& m) {
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < m.size() * 8; ++cpu)
    if ((m[cpu / 8] >> (cpu % 8) & 1U) != 0) cpus.push_back(cpu);
  return cpus;
}

mask narrowed(mask m, unsigned keep, unsigned first) {
  preload_narrow(m.data(), m.size(), keep, first);
  return m;
}

TEST(cpu_mask, keeps_neighbours_from_the_first_on_and_around) {
  const mask m = mask_of({1, 3, 8, 40, 127});
  EXPECT_EQ(cpus_of(narrowed(m, 2, 0)), (std::vector<unsigned>{1, 3}));
  EXPECT_EQ(cpus_of(narrowed(m, 2, 1)), (std::vector<unsigned>{3, 8}));
  EXPECT_EQ(cpus_of(narrowed(m, 3, 4)), (std::vector<unsigned>{1, 3, 127}));
  EXPECT_EQ(cpus_of(narrowed(m, 2, 5)), (std::vector<unsigned>{1, 3}));
}

TEST(cpu_mask, leaves_small_masks_alone) {
  const mask m = mask_of({5, 6});
  EXPECT_EQ(narrowed(m, 2, 7), m);
  EXPECT_EQ(narrowed(m, 9, 1), m);
  EXPECT_EQ(narrowed(m, 0, 1), m) << "0 means that no number is wished";
  EXPECT_EQ(narrowed(mask{}, 1, 1), mask{});
}

TEST(cpu_mask, random_masks_keep_a_subset_of_the_right_size_and_do_not_change_again) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    mask m{};
    // NOLINTNEXTLINE(misc-redundant-expression): two draws
    for (unsigned char& byte : m) byte = static_cast<unsigned char>(random() & random());
    const auto before = static_cast<unsigned>(cpus_of(m).size());
    const unsigned keep = 1 + static_cast<unsigned>(random() % 40);
    const unsigned first = static_cast<unsigned>(random());
    const mask after = narrowed(m, keep, first);
    EXPECT_EQ(preload_count_cpus(after.data(), after.size()), std::min(before, keep));
    for (std::size_t i = 0; i < m.size(); ++i) EXPECT_EQ(after[i] & ~m[i], 0);
    EXPECT_EQ(narrowed(after, keep, first), after);
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Bounds of memory: fibers in use and parked on deep trees; what a runtime costs to start.
#include "support.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using support::with_workers;

/// f(d) = fork2(short, f(d − 1)): each level leaves its rest to a thief.
long chain(context c, long depth) {
  if (depth == 0) return 0;
  auto [a, b] = sukima::fork2(
      c,
      [=](context below) {
        if (depth % 64 == 0) support::fib(below, 4);
        return 1L;
      },
      [=](context below) { return chain(below, depth - 1); });
  return a + b;
}

/// A tree with one deep path and bushes beside it.
long deep_tree(context c, int depth) {
  if (depth == 0) return 1;
  auto [a, b] = sukima::fork2(
      c, [=](context below) { return deep_tree(below, depth - 1); },
      [=](context below) { return support::fib(below, 6); });
  return a + b;
}

class fibers_of : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, fibers_of, testing::Values(1u, 2u, 8u, 64u), support::name_of_count);

/// Few fibers wait at a time, and memory follows: the stack of each worker, and 32 KiB for each parked
/// fiber.
TEST_P(fibers_of, a_deep_chain_are_few) {
  sukima::settings s = with_workers(GetParam());
  s.stack = std::size_t{2} << 30;
  sukima::runtime r(s);
  const long depth = support::sanitized ? 20'000 : 1'000'000;
  EXPECT_EQ(r.run([=](context c) { return chain(c, depth); }), depth);
  EXPECT_LE(r.statistics().parked_peak, 64u * GetParam());
}

TEST_P(fibers_of, a_deep_tree_are_few) {
  sukima::runtime r(with_workers(GetParam()));
  const int depth = support::sanitized ? 1000 : 20'000;
  for (int round = 0; round < 5; ++round)
    EXPECT_EQ(r.run([=](context c) { return deep_tree(c, depth); }), 1 + 8L * depth);
  EXPECT_LE(r.statistics().parked_peak, 64u * GetParam());
  EXPECT_LE(r.statistics().fibers_peak, 65u * GetParam() + 1);
}

/// By which bits of an address AMD's Zen chooses a way of its first-level data cache.
unsigned way_of(std::uintptr_t address) {
  unsigned hash = 0;
  for (const auto& [low, high] :
       {std::pair{12, 27}, {13, 26}, {14, 25}, {15, 20}, {16, 21}, {17, 22}, {18, 23}, {19, 24}})
    hash = hash * 2 + ((address >> low ^ address >> high) & 1);
  return hash;
}

/// Else a line of one and a line of the other push each other out of that cache.
TEST(stacks_of_a_fiber, share_no_way_of_the_cache_but_in_their_common_page) {
  constexpr std::uintptr_t page = 4096;
  std::vector<std::unique_ptr<sukima::runtime>> at_many_addresses(4);
  for (auto& r : at_many_addresses) {
    r = std::make_unique<sukima::runtime>(with_workers(1));
    r->run([=](context c) {
      const auto local = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / page * page;
      const auto top = reinterpret_cast<std::uintptr_t>(c.top) / page * page;
      for (std::uintptr_t i = 0; i < 16; ++i)
        for (std::uintptr_t j = 0; j < 16; ++j)
          if (local - i * page != top + j * page) {
            EXPECT_NE(way_of(local - i * page), way_of(top + j * page));
          }
    });
  }
}

class memory : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::private_bytes()) GTEST_SKIP() << "this kernel does not say how much memory a process has";
  }
};

/// With a sanitizer, too: it has a false stack for each fiber.
TEST_F(memory, of_fibers_that_ended_is_used_again) {
  sukima::runtime r(with_workers(4));
  const auto run_often = [&](int times) {
    for (int i = 0; i < times; ++i) r.run([](context c) { return support::fib(c, 15); });
  };
  run_often(20);
  const std::size_t before = *support::private_bytes();
  run_often(400);
  EXPECT_LT(*support::private_bytes(), before + (std::size_t{32} << 20));
}

#if !defined(SUKIMA_SANITIZED)  // sanitizers need memory of their own

TEST_F(memory, of_a_new_runtime_is_small) {
  constexpr unsigned workers = 16;
  const std::size_t before = *support::private_bytes();
  sukima::runtime r(with_workers(workers));
  r.run([](context c) { return support::fib(c, 15); });
  EXPECT_LT(*support::private_bytes(), before + workers * (std::size_t{1} << 20));
}

TEST_F(memory, of_deep_recursions_is_given_back) {
  sukima::settings s = with_workers(1);
  s.stack = std::size_t{2} << 30;
  sukima::runtime r(s);
  r.run([](context c) { return chain(c, 10); });
  const std::size_t before = *support::private_bytes();
  EXPECT_EQ(r.run([](context c) { return deep_tree(c, 300'000); }), 1 + 8L * 300'000);
  EXPECT_LT(*support::private_bytes(), before + (std::size_t{4} << 20));
}

#endif

}  // namespace

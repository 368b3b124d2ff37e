// SPDX-License-Identifier: Apache-2.0
// How long clones may be: the longer, the longer no worker has asked for work.
#include "choice/clone_grain.hpp"
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "steal/publish.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>
#include <sukima/sukima.hpp>

#include <gtest/gtest.h>

#include <cstdint>

namespace {

using sukima::context;
using namespace sukima::detail;

/// Calls f(fiber, gate, ticks of the shortest grain) in a region of one worker.
template <class F> void in_fiber(unsigned clones_ns, F f) {
  sukima::settings chosen;
  chosen.workers = 1;
  chosen.clones_ns = clones_ns;
  sukima::runtime runtime(chosen);
  runtime.run([&](context c) {
    fiber& s = fiber_of(c.top);
    f(s, gate_of(c.top), std::uint64_t{s.pool->shortest_clone_grain()});
  });
}

TEST(clone_grain, is_a_part_of_the_time_since_work_was_split_off) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    const std::uint64_t now = s.on->split_at + 3 * shortest * tuning::clones_in_unasked_time;
    fit_clone_grain(s, now);
    EXPECT_EQ(g.clone_grain, 3 * shortest);
  });
}

TEST(clone_grain, has_a_least_and_a_greatest_length) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    fit_clone_grain(s, s.on->split_at + 1);
    EXPECT_EQ(g.clone_grain, shortest);
    fit_clone_grain(s, s.on->split_at + 1'000'000 * shortest);
    EXPECT_EQ(g.clone_grain, tuning::longest_clone_factor * shortest);
  });
  // The product of the longest setting and the factor does not fit into the word.
  in_fiber(1'000'000'000, [](fiber& s, const gate& g, std::uint64_t) {
    fit_clone_grain(s, ~std::uint64_t{0});
    EXPECT_EQ(g.clone_grain, ~std::uint32_t{0});
  });
}

TEST(clone_grain, is_short_again_once_work_is_split_off) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    const std::uint64_t later = s.on->split_at + 1'000'000 * shortest;
    fit_clone_grain(s, later);
    note_split(s, later);
    EXPECT_EQ(g.clone_grain, shortest);
    EXPECT_EQ(s.on->split_at, later);
  });
}

TEST(clone_grain, is_short_again_once_another_worker_wants_work) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    s.on->split_at -= 1'000'000 * shortest;
    fit_clone_grain(s, ticks());
    auto* const end = reinterpret_cast<choice_point*>(s.oldest);
    EXPECT_EQ(try_to_split({s, end, end, poll_place::clone}, ticks()), nullptr);
    EXPECT_EQ(g.clone_grain, shortest);
  });
}

TEST(clone_grain, stays_short_where_the_clock_of_another_cpu_is_behind) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    fit_clone_grain(s, s.on->split_at - 1);
    EXPECT_EQ(g.clone_grain, shortest);
  });
}

TEST(clone_grain, stays_0_where_clones_are_off) {
  in_fiber(0, [](fiber& s, const gate& g, std::uint64_t) {
    fit_clone_grain(s, ~std::uint64_t{0});
    EXPECT_EQ(g.clone_grain, 0u);
  });
}

TEST(clone_grain, follows_the_calls_that_are_timed) {
  in_fiber(20'000, [](fiber& s, const gate& g, std::uint64_t shortest) {
    s.on->split_at -= 1'000'000 * shortest;
    sukima_clone_site site{};
    sukima_clone_learn(&site, "", 0, 100);
    EXPECT_EQ(g.clone_grain, tuning::longest_clone_factor * shortest);
  });
}

}  // namespace

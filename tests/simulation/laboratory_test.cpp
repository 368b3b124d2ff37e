// SPDX-License-Identifier: Apache-2.0
// Tests of the laboratory's virtual CPUs: the time that programs take on them.
#include "isolated.hpp"
#include "overcommit.hpp"
#include "passing_time.hpp"

#include <sukima/sukima.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace sukima::simulation;

/// Runs a program in a laboratory, as thread 0. \returns its error
std::string run(const laboratory_setup& setup, const program& p) {
  return run_isolated(
             [&](const limits& most, hang_handler hangs) {
               return std::make_unique<laboratory>(setup, most, std::move(hangs));
             },
             p)
      .text;
}

/// Runs a function on a thread of a guest. \returns its error
template <class F> std::string run_in(std::size_t guest, F f) {
  std::string error;
  the_laboratory().start_threads_in(guest);
  std::thread([&] { error = f(); }).join();
  return error;
}

std::string differs(const char* what, std::uint64_t found, std::uint64_t expected) {
  if (found == expected) return {};
  return std::string(what) + ": " + std::to_string(found) + " instead of " + std::to_string(expected);
}

TEST(laboratory, charges_work_and_costs_exactly) {
  EXPECT_EQ(run({},
                [] {
                  laboratory& lab = the_laboratory();
                  const std::size_t guest = lab.add_guest({1});
                  return run_in(guest, [&] {
                    const search_shape shape{7, 3, 200, 10'000};
                    sukima::settings s;
                    s.workers = 1;
                    s.elastic = false;
                    sukima::runtime worker(s);
                    const account before = lab.account_of(guest);
                    const std::uint64_t begin = lab.now();
                    for (unsigned round = 0; round < shape.rounds; ++round)
                      worker.run([&](sukima::context c) { search(c, shape, round); });
                    const account after = lab.account_of(guest);
                    const std::uint64_t took = lab.now() - begin;
                    if (std::string e = differs("work", after.work - before.work, work_of(shape)); !e.empty())
                      return e;
                    const std::uint64_t costs = after.costs() - before.costs();
                    if (costs == 0) return std::string("no costs");
                    return differs("time", took, work_of(shape) + costs);
                  });
                }),
            "");
}

TEST(laboratory, sleeps_in_simulated_time) {
  EXPECT_EQ(run({},
                [] {
                  laboratory& lab = the_laboratory();
                  return run_in(lab.add_guest({1}), [&] {
                    const std::uint64_t begin = lab.now();
                    std::this_thread::sleep_for(std::chrono::seconds(5));
                    const std::uint64_t late = lab.now() - begin - 5 * second;
                    return late < 10 * microsecond ? "" : differs("late", late, 0);
                  });
                }),
            "");
}

TEST(laboratory, stops_the_clock_of_no_virtual_cpu_without_a_cpu) {
  // Beside a busy neighbour the same work takes twice the time, and alternates with slices of the neighbour.
  EXPECT_EQ(run({},
                [] {
                  laboratory& lab = the_laboratory();
                  lab.make_busy(lab.add_guest({1}));
                  return run_in(lab.add_guest({1}), [&] {
                    const std::uint64_t begin = lab.now();
                    std::uint64_t longest = 0;
                    for (int i = 0; i < 1000; ++i) {
                      const std::uint64_t before = lab.now();
                      lab.work(100 * microsecond);
                      longest = std::max(longest, lab.now() - before);
                    }
                    const std::uint64_t took = lab.now() - begin;
                    if (took < 195 * millisecond || took > 206 * millisecond)
                      return differs("time", took, 200 * millisecond);
                    return longest >= 3 * millisecond ? "" : differs("hole", longest, 3 * millisecond);
                  });
                }),
            "");
}

TEST(laboratory, lets_threads_share_a_virtual_cpu) {
  laboratory_setup two;
  two.pcpus = 2;
  EXPECT_EQ(run(two,
                [] {
                  laboratory& lab = the_laboratory();
                  return run_in(lab.add_guest({2}), [&] {
                    const std::uint64_t begin = lab.now();
                    std::vector<std::uint64_t> ends(4);
                    std::vector<std::thread> all;
                    for (std::uint64_t& end : ends)
                      all.emplace_back([&] {
                        for (int i = 0; i < 100; ++i) lab.work(millisecond);
                        end = lab.now() - begin;
                      });
                    for (std::thread& t : all) t.join();
                    for (const std::uint64_t end : ends)
                      if (end < 185 * millisecond || end > 205 * millisecond)
                        return differs("end", end, 200 * millisecond);
                    return std::string();
                  });
                }),
            "");
}

/// Runs a vCPU beside a busy neighbour. The vCPU pauses in a loop, with work of length `gap` between two
/// pauses.
/// \returns the number of its exits, and how long it had a CPU
std::pair<std::uint64_t, std::uint64_t> pause_beside_neighbour(std::uint64_t gap, bool in_guest) {
  std::pair<std::uint64_t, std::uint64_t> seen;
  laboratory_setup setup;
  setup.exits.gap = 200;
  setup.exits.in_guest = in_guest;
  const std::string text = run(setup, [&] {
    laboratory& lab = the_laboratory();
    lab.make_busy(lab.add_guest({1}));
    const std::size_t guest = lab.add_guest({1});
    return run_in(guest, [&] {
      const std::uint64_t begin = lab.now();
      while (lab.now() < begin + 100 * millisecond) {
        lab.work(gap);
        lab.pause();
      }
      return std::to_string(lab.account_of(guest).exits) + ' ' + std::to_string(lab.pcpus().used(guest));
    });
  });
  std::istringstream(text) >> seen.first >> seen.second;
  return seen;
}

TEST(laboratory, ends_loops_of_pauses) {
  const auto [exits, used] = pause_beside_neighbour(100, false);
  // At each exit the neighbour runs for a slice, or until this vCPU is behind it.
  EXPECT_GT(exits, 10u);
  EXPECT_LT(used, 10 * millisecond);
  const auto [none, all] = pause_beside_neighbour(300, false);
  EXPECT_EQ(none, 0u);
  EXPECT_GT(all, 40 * millisecond);
  const auto [alone, kept] = pause_beside_neighbour(100, true);
  EXPECT_GT(alone, 10u);
  EXPECT_GT(kept, 40 * millisecond);
}

TEST(laboratory, finds_a_hang) {
  const auto hangs = [] {
    laboratory& lab = the_laboratory();
    return run_in(lab.add_guest({1}), [&] {
      lab.wait(wait_kind::word, &lab, never);
      return std::string();
    });
  };
  EXPECT_TRUE(run({}, hangs).starts_with("no thread can run")) << run({}, hangs);
}

cell small_cell(unsigned machines, unsigned busy = 0) {
  cell c;
  c.machines = machines;
  c.vcpus = 4;
  c.busy_vcpus = busy;
  c.search = {1, 4, 200, 20'000};
  c.runtime.workers = 4;
  c.runtime.elastic = false;
  c.setup.pcpus = 4;
  c.setup.slack = 500;
  return c;
}

void check_conservation(const cell& c, const measurement& m) {
  const std::uint64_t work = work_of(c.search) * c.machines;
  EXPECT_EQ(m.work, work);
  EXPECT_GE(m.used, work);
  EXPECT_LE(m.used, c.setup.pcpus * m.time);
  EXPECT_GE(m.time * c.setup.pcpus, work);
  EXPECT_GE(m.sum_of_times, m.time);
}

TEST(overcommit, conserves_work_and_time) {
  for (const auto policy : {sukima::wait_policy::adaptive, sukima::wait_policy::spin,
                            sukima::wait_policy::block, sukima::wait_policy::condvar})
    for (const unsigned machines : {1u, 3u}) {
      cell c = small_cell(machines);
      c.runtime.wait = policy;
      const measurement m = simulate(c);
      check_conservation(c, m);
      EXPECT_GT(m.steals, 0u);
      EXPECT_EQ(m.sleeps != 0, policy != sukima::wait_policy::spin);
    }
}

TEST(overcommit, is_faster_with_more_cpus) {
  const cell c = small_cell(1);
  cell narrow = c;
  narrow.setup.pcpus = 1;
  const measurement wide = simulate(c);
  const measurement one = simulate(narrow);
  check_conservation(narrow, one);
  EXPECT_LT(wide.time * 2, one.time);
}

TEST(overcommit, halves_the_share_beside_as_many_neighbours) {
  cell alone = small_cell(1);
  alone.search.rounds = 20;
  cell beside = alone;
  beside.busy_vcpus = 4;
  const double slower =
      static_cast<double>(simulate(beside).time) / static_cast<double>(simulate(alone).time);
  EXPECT_GT(slower, 1.5);
  EXPECT_LT(slower, 3.0);
}

TEST(overcommit, makes_waiting_without_sleep_expensive) {
  const auto time_with = [](unsigned machines, sukima::wait_policy policy) {
    cell c = small_cell(machines);
    c.runtime.wait = policy;
    return static_cast<double>(simulate(c).time);
  };
  EXPECT_LT(time_with(1, sukima::wait_policy::spin), 1.05 * time_with(1, sukima::wait_policy::block));
  EXPECT_GT(time_with(3, sukima::wait_policy::spin), 1.5 * time_with(3, sukima::wait_policy::block));
}

TEST(overcommit, shortens_searches_on_cpus_that_others_want) {
  const auto time_with = [](unsigned machines, sukima::wait_policy policy) {
    std::uint64_t sum = 0;
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      cell c = small_cell(machines);
      c.search.seed = seed;
      c.runtime.wait = policy;
      sum += simulate(c).time;
    }
    return static_cast<double>(sum);
  };
  // Longer searches are worthwhile as long as nothing else wants the CPUs.
  EXPECT_LT(time_with(1, sukima::wait_policy::adaptive), time_with(1, sukima::wait_policy::block));
  EXPECT_LT(time_with(8, sukima::wait_policy::adaptive), 1.06 * time_with(8, sukima::wait_policy::block));
}

TEST(overcommit, respects_a_quota) {
  cell c = small_cell(1);
  c.search.rounds = 20;
  c.quota = 50 * millisecond;
  const measurement m = simulate(c);
  check_conservation(c, m);
  EXPECT_LE(m.most_in_a_period, 50 * millisecond);
  EXPECT_GE(m.time, (m.used / (50 * millisecond) - 1) * 100 * millisecond);
}

TEST(overcommit, takes_the_same_steps_each_time) {
  for (const std::uint64_t slack : {0u, 500u}) {
    cell c = small_cell(2, 2);
    c.setup.slack = slack;
    EXPECT_EQ(simulate(c), simulate(c));
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Tests of the homes of virtual CPUs: hard and soft affinity, and the choice of idle CPUs, by Xen's rules.
#include "homes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <set>

namespace {

using namespace sukima::simulation;

/// Two processors of eight CPUs, in modules of two CPUs.
constexpr building built{2, 8, 80};
constexpr std::size_t all_cpus = 16;

pcpu_set everywhere() { return pcpu_set(all_cpus, true); }

/// Returns all CPUs except the busy ones.
pcpu_set all_but(std::initializer_list<std::size_t> busy) {
  pcpu_set idle = everywhere();
  for (const std::size_t pcpu : busy) idle[pcpu] = false;
  return idle;
}

/// The home of vCPU 0 is the first CPU on which it may run and that it prefers.
homes one_vcpu(const pcpu_set& allowed, const pcpu_set& preferred = {}) {
  homes h(all_cpus, built, 0);
  h.add(1, allowed, preferred);
  return h;
}

TEST(homes, are_dealt_in_turn_where_the_virtual_cpus_may_run) {
  homes h(all_cpus, built, 0);
  h.add(6, pcpus_of(all_cpus, {{0, 1}, {8, 9}}), {});
  for (const auto& [vcpu, pcpu] : {std::pair{0, 0}, {1, 1}, {2, 8}, {3, 9}, {4, 0}, {5, 1}})
    EXPECT_EQ(h.home(static_cast<std::size_t>(vcpu)), static_cast<std::size_t>(pcpu)) << vcpu;
}

TEST(homes, are_shuffled_by_a_seed_and_still_all_used) {
  homes one(all_cpus, built, 1);
  homes other(all_cpus, built, 2);
  one.add(all_cpus, everywhere(), {});
  other.add(all_cpus, everywhere(), {});
  std::set<std::size_t> used;
  bool is_same = true;
  for (std::size_t v = 0; v != all_cpus; ++v) {
    used.insert(one.home(v));
    is_same = is_same && one.home(v) == other.home(v);
  }
  EXPECT_EQ(used.size(), all_cpus);
  EXPECT_FALSE(is_same);
}

TEST(homes, are_dealt_among_preferred_cpus_unless_there_are_none) {
  homes h(all_cpus, built, 0);
  h.add(2, pcpus_of(all_cpus, {{4, 15}}), pcpus_of(all_cpus, {{0, 5}}));
  h.add(1, pcpus_of(all_cpus, {{4, 15}}), pcpus_of(all_cpus, {{0, 3}}));
  EXPECT_EQ(h.home(0), 4u);
  EXPECT_EQ(h.home(1), 5u);
  EXPECT_EQ(h.home(2), 4u);
}

TEST(homes, are_where_a_virtual_cpu_wakes_if_they_are_idle) {
  // Even if the other CPU of its module is busy, and other modules are idle.
  homes h = one_vcpu(everywhere());
  EXPECT_EQ(h.wake(0, all_but({1})), 0u);
}

TEST(homes, a_virtual_cpu_wakes_on_the_next_idle_cpu_that_it_prefers) {
  homes h = one_vcpu(pcpus_of(all_cpus, {{0, 7}}), pcpus_of(all_cpus, {{0, 3}}));
  EXPECT_EQ(h.wake(0, all_but({0})), 1u);
  EXPECT_EQ(h.wake(0, all_but({0})), 2u) << "the next one";
  EXPECT_EQ(h.wake(0, all_but({0, 3})), 1u) << "and again from the first one on";
}

TEST(homes, a_virtual_cpu_wakes_elsewhere_if_those_that_it_prefers_are_busy) {
  homes h = one_vcpu(pcpus_of(all_cpus, {{0, 7}}), pcpus_of(all_cpus, {{0, 3}}));
  EXPECT_EQ(h.wake(0, all_but({0, 1, 2, 3})), 4u);
  EXPECT_EQ(h.wake(0, all_but({0, 1, 2, 3, 4, 5, 6, 7})), 0u) << "never where it must not run";
}

TEST(homes, a_running_virtual_cpu_finds_a_module_of_its_own) {
  const homes h = one_vcpu(everywhere());
  EXPECT_EQ(h.best(0, all_but({1, 3, 4})), 6u) << "both CPUs of this module are idle";
  EXPECT_EQ(h.best(0, all_but({3, 4})), 0u) << "its module is its own";
  EXPECT_EQ(h.best(0, all_but({1, 3, 4, 7})), 0u) << "no other module is better";
}

TEST(homes, a_running_virtual_cpu_shares_a_module_of_preferred_cpus) {
  // Other CPUs would have a module for this vCPU alone.
  const homes h = one_vcpu(pcpus_of(all_cpus, {{0, 7}}), pcpus_of(all_cpus, {{0, 3}}));
  EXPECT_EQ(h.best(0, all_but({1, 3})), 0u);
}

TEST(homes, a_running_virtual_cpu_returns_to_preferred_cpus) {
  homes h = one_vcpu(everywhere(), pcpus_of(all_cpus, {{0, 3}}));
  h.move(0, 6);
  EXPECT_EQ(h.best(0, all_but({0, 2})), 1u);
  EXPECT_EQ(h.best(0, all_but({0, 1, 2, 3})), 6u) << "all of those are busy";
}

TEST(homes, a_running_virtual_cpu_changes_the_processor_for_twice_as_many_idle_cpus) {
  const homes h = one_vcpu(everywhere());
  // Including its own, four CPUs of its processor are idle, and eight of the other one.
  EXPECT_EQ(h.best(0, all_but({1, 3, 5, 7})), 0u);
  EXPECT_EQ(h.best(0, all_but({1, 3, 5, 6, 7})), 8u);
}

TEST(homes, idle_cpus_take_virtual_cpus_that_may_run_there) {
  const homes h = one_vcpu(pcpus_of(all_cpus, {{0, 7}}), pcpus_of(all_cpus, {{0, 3}}));
  EXPECT_TRUE(h.may_take(3, 0, true));
  EXPECT_FALSE(h.may_take(4, 0, true));
  EXPECT_TRUE(h.may_take(4, 0, false));
  EXPECT_FALSE(h.may_take(8, 0, false));
}

}  // namespace

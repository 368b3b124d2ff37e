// SPDX-License-Identifier: Apache-2.0
// Tests of modules whose CPUs slow each other down, of virtual CPUs with homes on them, and of conflicts of
// affinity.
#include "hypervisor.hpp"
#include "passing_time.hpp"
#include "xen_machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using namespace sukima::simulation;

/// Modules of two CPUs, which have 80 % of their speed while both are busy.
scheduling with_modules() {
  scheduling how;
  how.cpus = {2, 0, 80};
  how.vcpu_switch = 0;
  return how;
}

scheduling with_homes() {
  scheduling how = with_modules();
  how.placing = placing_rule::homes;
  return how;
}

guest_shape bound_to(std::size_t all, std::size_t first, std::size_t last, unsigned vcpus = 1) {
  guest_shape shape{vcpus};
  shape.allowed = pcpus_of(all, {{first, last}});
  return shape;
}

void begin(hypervisor& all, std::size_t vcpu, std::uint64_t at, std::uint64_t demand) {
  all.demand(vcpu, demand);
  all.wake(vcpu, at);
}

/// Advances until a demand is met, and halts that vCPU. \returns the time
std::uint64_t next_met(hypervisor& all, std::size_t vcpu) {
  for (;;) {
    const hypervisor::event e = *all.next();
    all.happen(e);
    if (!e.met) continue;
    EXPECT_EQ(*e.met, vcpu);
    all.halt(*e.met);
    return e.at;
  }
}

TEST(modules, slow_their_cpus_down_while_both_are_busy) {
  hypervisor all(2, with_modules());
  all.add_guest({1, 1024, 0, 0, 1});
  all.add_guest({1, 1024, 0, 1, 1});
  begin(all, 0, 0, 8 * millisecond);
  begin(all, 1, 0, 16 * millisecond);
  // The first vCPU does 8 ms of work in 10 ms. After that the second one has 8 ms left, and runs at full
  // speed.
  EXPECT_EQ(next_met(all, 0), 10 * millisecond);
  EXPECT_EQ(next_met(all, 1), 18 * millisecond);
  EXPECT_EQ(all.used(0), 10 * millisecond);
  EXPECT_EQ(all.used(1), 18 * millisecond);
  EXPECT_EQ(all.sharing(), 10 * millisecond);
}

TEST(modules, slow_a_cpu_down_from_when_the_other_one_begins) {
  hypervisor all(2, with_modules());
  all.add_guest({1, 1024, 0, 0, 1});
  all.add_guest({1, 1024, 0, 1, 1});
  begin(all, 0, 0, 10 * millisecond);
  run_until(all, 1);
  begin(all, 1, 2 * millisecond, 100 * millisecond);
  EXPECT_EQ(next_met(all, 0), 12 * millisecond);
}

TEST(modules, slow_no_cpu_of_another_module_down) {
  hypervisor all(4, with_modules());
  all.add_guest({1, 1024, 0, 1, 1});
  all.add_guest({1, 1024, 0, 2, 1});
  begin(all, 0, 0, 10 * millisecond);
  begin(all, 1, 0, 20 * millisecond);
  EXPECT_EQ(next_met(all, 0), 10 * millisecond);
  EXPECT_EQ(next_met(all, 1), 20 * millisecond);
  EXPECT_EQ(all.sharing(), 0u);
}

TEST(modules, give_virtual_cpus_their_time_at_once_as_well) {
  // run() takes the same time as a demand.
  hypervisor all(2, with_modules());
  all.add_guest({1, 1024, 0, 0, 1});
  all.add_guest({1, 1024, 0, 1, 1});
  begin(all, 0, 0, hypervisor::forever);
  begin(all, 1, 0, hypervisor::forever);
  run_until(all, 1);
  EXPECT_FALSE(all.run(0, 800 * microsecond, 900 * microsecond)) << "it takes 1 ms";
  EXPECT_TRUE(all.run(0, 800 * microsecond, millisecond));
  EXPECT_EQ(all.clock(0), millisecond);
}

TEST(homes_in_use, leave_a_shared_module_when_they_look_around) {
  scheduling how = with_homes();
  how.look_around = 5 * millisecond;
  hypervisor all(4, how);
  all.add_guest(bound_to(4, 0, 0));
  all.add_guest(bound_to(4, 1, 3));
  begin(all, 0, 0, hypervisor::forever);
  begin(all, 1, 0, hypervisor::forever);
  run_until(all, 100 * millisecond);
  EXPECT_GT(all.sharing(), 2 * millisecond);
  EXPECT_LT(all.sharing(), 9 * millisecond);
}

TEST(homes_in_use, let_no_virtual_cpu_wait_while_a_cpu_is_idle) {
  // Two vCPUs with the same home: the second one wakes elsewhere, but not where it must not run.
  hypervisor all(4, with_homes());
  all.add_guest(bound_to(4, 0, 0));
  all.add_guest(bound_to(4, 0, 2));
  begin(all, 0, 0, 10 * millisecond);
  run_until(all, 1);
  begin(all, 1, 0, 10 * millisecond);
  run_until(all, 1);
  EXPECT_TRUE(all.is_running(0));
  EXPECT_TRUE(all.is_running(1));
}

TEST(homes_in_use, are_left_for_an_idle_cpu_by_a_virtual_cpu_that_waits) {
  hypervisor all(2, with_homes());
  all.add_guest(bound_to(2, 0, 0));
  all.add_guest(bound_to(2, 1, 1));
  all.add_guest(bound_to(2, 0, 1));
  begin(all, 0, 0, 100 * millisecond);
  begin(all, 1, 0, millisecond);
  begin(all, 2, 0, 10 * millisecond);
  // The third vCPU waits for the first CPU. As soon as the second CPU is idle, the vCPU runs there.
  const std::uint64_t idle_at = next_met(all, 1);
  run_until(all, idle_at + 1);
  EXPECT_TRUE(all.is_running(0));
  EXPECT_TRUE(all.is_running(2));
}

TEST(homes_in_use, share_a_cpu_if_all_others_are_forbidden) {
  hypervisor all(2, with_homes());
  all.add_guest(bound_to(2, 0, 0, 2));
  all.add_guest(bound_to(2, 1, 1));
  for (std::size_t v = 0; v != 3; ++v) begin(all, v, 0, hypervisor::forever);
  run_until(all, 1000 * millisecond);
  EXPECT_NEAR(static_cast<double>(all.used(0)), 1000.0 * millisecond, 5.0 * millisecond);
  EXPECT_NEAR(static_cast<double>(all.used(1)), 1000.0 * millisecond, 5.0 * millisecond);
}

// The claims of the slides, with a search that takes some milliseconds to simulate.

affinity_measurement small(const affinities& where, unsigned threads) {
  return measure(where, threads, {1, 1, 3'000, 1'000'000}, 3);
}

TEST(affinity_conflict, uses_both_cpus_of_modules_of_the_preferred_node) {
  const affinity_measurement four = small(sixteen_of_one(), 4);
  const affinity_measurement eight = small(sixteen_of_one(), 8);
  const affinity_measurement twelve = small(sixteen_of_one(), 12);
  EXPECT_LT(four.shared_modules, 0.5);
  EXPECT_GT(eight.shared_modules, 3);
  EXPECT_LT(twelve.shared_modules, eight.shared_modules + 0.5);
  EXPECT_GT(small(sixteen_of_one(), 16).shared_modules, twelve.shared_modules + 1.5);
}

TEST(affinity_conflict, costs_time) {
  const double conflict = small(sixteen_of_one(), 8).time;
  for (const affinities& cured : {physical_machine(), binding_only(), no_affinity()}) {
    const affinity_measurement without = small(cured, 8);
    EXPECT_LT(without.shared_modules, 1) << cured.name;
    EXPECT_GT(conflict, 1.1 * without.time) << cured.name;
  }
}

TEST(affinity_conflict, leaves_virtual_cpus_bound_to_a_node_of_each_processor_alone) {
  const affinity_measurement six = small(eight_and_eight(), 6);
  EXPECT_LT(six.shared_modules, 1.5);
  EXPECT_LT(six.time, small(sixteen_of_one(), 6).time);
  EXPECT_GT(small(eight_and_eight(), 16).shared_modules, six.shared_modules + 3);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Switching a guest's CPUs, in a made-up /sys.
#include "guest/cpu_switch.hpp"

#include <gtest/gtest.h>

#include "fake_machine.hpp"

namespace {

using guests::fake_machine;
using sukima::host::cpu_switch;

/// Follows, and the kernel's lists, too.
void follow(cpu_switch& cpus, fake_machine& machine, unsigned count) {
  EXPECT_EQ(cpus.follow(count), std::nullopt);
  machine.settle();
}

TEST(cpu_switch, follows_down_and_up) {
  fake_machine machine(4);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 2);
  EXPECT_EQ(machine.on(), "0-1");
  EXPECT_EQ(guests::text_in(machine.state()), "2-3\n");
  follow(cpus, machine, 3);
  EXPECT_EQ(machine.on(), "0-2");
  EXPECT_EQ(guests::text_in(machine.state()), "3\n");
  follow(cpus, machine, 9);
  EXPECT_EQ(machine.on(), "0-3");
  EXPECT_FALSE(guests::fs::exists(machine.state()));
}

TEST(cpu_switch, leaves_cpu_0_on) {
  fake_machine machine(3);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 0);
  EXPECT_EQ(machine.on(), "0");
  follow(cpus, machine, 1);
  EXPECT_EQ(machine.on(), "0");
}

TEST(cpu_switch, brings_back_only_what_it_switched_off) {
  fake_machine machine(4);
  machine.plug(1, false);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 1);
  EXPECT_EQ(machine.on(), "0");
  follow(cpus, machine, 4);
  EXPECT_EQ(machine.on(), "0,2-3");
  follow(cpus, machine, 2);
  EXPECT_EQ(machine.on(), "0,2");
  machine.plug(3, true);  // another program brings it back: it is no longer ours
  machine.plug(3, false);
  machine.plug(3, true);
  follow(cpus, machine, 3);
  EXPECT_TRUE(cpus.off().empty());
  machine.plug(3, false);
  EXPECT_EQ(cpus.restore(), std::nullopt);
  machine.settle();
  EXPECT_EQ(machine.on(), "0,2");
}

TEST(cpu_switch, a_second_start_brings_back_what_the_first_left) {
  fake_machine machine(4);
  {
    cpu_switch killed(machine.root());
    follow(killed, machine, 1);
  }
  EXPECT_EQ(machine.on(), "0");
  const cpu_switch next(machine.root());
  machine.settle();
  EXPECT_EQ(machine.on(), "0-3");
  EXPECT_FALSE(guests::fs::exists(machine.state()));
}

TEST(cpu_switch, a_hostile_state_file_harms_nothing) {
  for (const char* text : {"nonsense", "0", "0-3", "77", "3-1", ""}) {
    fake_machine machine(2);
    guests::write(machine.state(), text);
    const cpu_switch cpus(machine.root());
    machine.settle();
    EXPECT_EQ(machine.on(), "0-1") << text;
    EXPECT_FALSE(guests::fs::exists(machine.root() / "sys/devices/system/cpu/cpu77"));
  }
}

TEST(cpu_switch, switches_nothing_off_that_it_could_not_bring_back) {
  fake_machine machine(2);
  guests::write(machine.root() / "run", "no folder");
  cpu_switch cpus(machine.root());
  const auto problem = cpus.follow(1);
  ASSERT_TRUE(problem);
  EXPECT_NE(problem->find("so no CPU is switched"), std::string::npos) << *problem;
  EXPECT_EQ(machine.on(), "0-1");
}

TEST(cpu_switch, switches_on_what_was_plugged_in_until_the_end) {
  fake_machine machine(2);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 2);
  machine.plug(2, false);
  follow(cpus, machine, 2);
  EXPECT_EQ(machine.on(), "0-1");
  follow(cpus, machine, 3);
  EXPECT_EQ(machine.on(), "0-2");
  follow(cpus, machine, 1);
  EXPECT_EQ(machine.on(), "0");
  follow(cpus, machine, 3);
  EXPECT_EQ(cpus.restore(), std::nullopt);
  machine.settle();
  EXPECT_EQ(machine.on(), "0-1");
  follow(cpus, machine, 3);  // the next number may have it again
  EXPECT_EQ(machine.on(), "0-2");
}

TEST(cpu_switch, switches_off_cpus_that_the_guest_itself_has_since_switched_on) {
  fake_machine machine(2);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 2);
  machine.plug(2, true);  // by udev, say, before the next message
  EXPECT_EQ(cpus.restore(), std::nullopt);
  machine.settle();
  EXPECT_EQ(machine.on(), "0-1");
}

TEST(cpu_switch, leaves_what_was_plugged_in_while_no_number_was_followed) {
  fake_machine machine(2);
  cpu_switch cpus(machine.root());
  machine.plug(2, true);
  cpus.accept_present();
  follow(cpus, machine, 2);
  EXPECT_EQ(machine.on(), "0-1");
  EXPECT_EQ(cpus.restore(), std::nullopt);
  machine.settle();
  EXPECT_EQ(machine.on(), "0-2");
}

TEST(cpu_switch, a_second_start_switches_off_what_was_plugged_in) {
  fake_machine machine(2);
  {
    cpu_switch killed(machine.root());
    follow(killed, machine, 2);
    machine.plug(2, false);
    follow(killed, machine, 3);
  }
  EXPECT_EQ(machine.on(), "0-2");
  cpu_switch next(machine.root());
  machine.settle();
  EXPECT_EQ(machine.on(), "0-1");
  follow(next, machine, 3);
  EXPECT_EQ(machine.on(), "0-2");
}

TEST(cpu_switch, says_what_it_cannot_do) {
  fake_machine machine(2);
  guests::fs::remove(machine.switch_of(1));
  cpu_switch cpus(machine.root());
  const auto problem = cpus.follow(1);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->find("CPU 1 cannot be switched off"), 0U) << *problem;
  EXPECT_TRUE(cpus.off().empty());
  EXPECT_FALSE(guests::fs::exists(machine.state()));
}

TEST(cpu_switch, a_cpu_that_cannot_be_switched_off_keeps_no_other_one_on) {
  fake_machine machine(4);
  guests::fs::remove(machine.switch_of(3));  // the kernel still lists it as online
  cpu_switch cpus(machine.root());
  const auto problem = cpus.follow(2);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->find("CPU 3 cannot be switched off"), 0U) << *problem;
  EXPECT_EQ(machine.on(), "0");  // and CPU 3
  EXPECT_EQ(guests::text_in(machine.state()), "1-2\n");
}

TEST(cpu_switch, a_cpu_that_was_unplugged_does_not_count_as_switched_on) {
  fake_machine machine(2);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 2);
  machine.plug(2, false);
  machine.plug(3, false);
  follow(cpus, machine, 4);
  EXPECT_EQ(machine.on(), "0-3");
  follow(cpus, machine, 2);
  EXPECT_EQ(machine.on(), "0-1");
  guests::fs::remove_all(machine.switch_of(2).parent_path());
  follow(cpus, machine, 3);
  EXPECT_EQ(machine.on(), "0-1,3");
}

TEST(cpu_switch, switches_others_on_if_one_fails) {
  fake_machine machine(4);
  cpu_switch cpus(machine.root());
  follow(cpus, machine, 2);
  guests::fs::remove(machine.switch_of(2));
  guests::fs::create_directory(machine.switch_of(2));  // cannot be written, but exists
  const auto problem = cpus.follow(3);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->find("CPU 2 cannot be switched on"), 0U) << *problem;
  EXPECT_EQ(guests::text_in(machine.switch_of(3)), "1\n");
}

}  // namespace

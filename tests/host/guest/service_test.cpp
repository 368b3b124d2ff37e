// SPDX-License-Identifier: Apache-2.0
// The guest service, with a made-up machine and clock.
#include <gtest/gtest.h>

#include "fake_machine.hpp"
#include "guest/program_reports.hpp"
#include "shared/guest.hpp"

namespace {

using namespace sukima::host;
using guests::fake_machine;

class service : public testing::Test {
 protected:
  void receive(const host_message& message, double now) {
    running.from_host(text_of(message), now);
    machine.settle();
  }
  guest_message step(double now) {
    const std::string text = running.step(now);
    machine.settle();
    const auto said = parse_guest_message(text);
    EXPECT_TRUE(said) << text;
    return said.value_or(guest_message{});
  }

  fake_machine machine{4};
  guest_service running{machine.root()};
};

TEST_F(service, writes_the_number_for_programs_without_the_vcpus) {
  receive({.usable = 2.5, .trial = 2, .vcpus = 3}, 1);
  EXPECT_EQ(guests::text_in(machine.number()), "sukima-host 1\nusable 2.500\nvalid 10.000\ntrial 2\nend\n");
  running.from_host("sukima-host 1\nusable many\nvalid 3\nend\n", 2);
  EXPECT_EQ(guests::text_in(machine.number()).find("usable 2.500"), 14U);
  EXPECT_FALSE(guests::fs::exists(machine.number().string() + ".new"));
  const auto events = running.take_events();
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back(), "a message of the host is malformed and was ignored");
}

TEST_F(service, switches_cpus_and_reports_them) {
  receive({.usable = 2, .vcpus = 2}, 1);
  EXPECT_EQ(machine.on(), "0-1");
  EXPECT_EQ(*step(1).online, (std::vector<std::uint32_t>{0, 1}));
  const auto events = running.take_events();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_NE(events[0].find("are online: the host wants 2"), std::string::npos) << events[0];
  receive({.usable = 2, .vcpus = 2}, 2);
  EXPECT_TRUE(running.take_events().empty());
  receive({.usable = 2, .vcpus = 4}, 3);
  EXPECT_EQ(machine.on(), "0-3");
}

TEST_F(service, brings_cpus_back_when_the_host_is_silent) {
  receive({.usable = 2, .valid = 10, .vcpus = 1}, 100);
  running.from_host("sukima-host 1\nvcpus 1\nend\n", 129);  // not valid: no word
  running.step(129.9);
  machine.settle();
  EXPECT_EQ(machine.on(), "0");
  running.step(130);
  machine.settle();
  EXPECT_EQ(machine.on(), "0-3");
  // A longer validity holds longer.
  receive({.usable = 2, .valid = 50, .vcpus = 1}, 200);
  running.step(249.9);
  machine.settle();
  EXPECT_EQ(machine.on(), "0");
  running.step(250);
  machine.settle();
  EXPECT_EQ(machine.on(), "0-3");
}

TEST_F(service, brings_cpus_back_when_the_port_closes_or_it_stops) {
  receive({.usable = 2, .vcpus = 1}, 1);
  running.host_closed();
  machine.settle();
  EXPECT_EQ(machine.on(), "0-3");
  receive({.usable = 2, .vcpus = 3}, 2);
  EXPECT_EQ(machine.on(), "0-2");
  EXPECT_EQ(running.stop(), std::nullopt);
  EXPECT_EQ(machine.on(), "0-3");
}

TEST_F(service, brings_cpus_back_when_the_host_wants_no_number) {
  receive({.usable = 2, .vcpus = 1}, 1);
  receive({.usable = 2}, 2);
  EXPECT_EQ(machine.on(), "0-3");
}

TEST_F(service, tries_again_what_failed) {
  receive({.usable = 2, .vcpus = 3}, 1);
  const auto file = machine.switch_of(3);
  guests::fs::remove(file);
  guests::fs::create_directory(file);  // it cannot be written
  running.host_closed();
  EXPECT_EQ(guests::text_in(machine.state()), "3\n");
  guests::fs::remove(file);
  guests::write(file, "0\n");
  step(2);
  EXPECT_EQ(machine.on(), "0-3");
}

TEST_F(service, passes_on_what_programs_report_twice_a_second) {
  EXPECT_FALSE(step(1).progress);
  running.programs().opened(5);
  running.programs().feed(5, "sukima-guest 1\nprogress 10\nend\n", 1);
  running.programs().feed(5, "sukima-guest 1\nprogress 14\nwant 2\nturn\nend\n", 1);
  EXPECT_EQ(running.step(1.4), "");
  const guest_message said = step(1.5);
  EXPECT_EQ(said.progress, 4);
  EXPECT_EQ(said.want, 2U);
  EXPECT_TRUE(said.turn);
  EXPECT_FALSE(step(2).turn);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Load that the description does not have: the number of a machine that receives less than its share.
#include "act/received_share.hpp"

#include <gtest/gtest.h>

#include "synthetic_host.hpp"

namespace {

using namespace guests;

/// Lets a share be judged for so many seconds, in each of which the machine does the same.
void pass(received_share& of, double& now, int seconds, double share, const ran_and_waited& done) {
  for (int i = 0; i < seconds; ++i) of.update(now += 1, 1, share, done);
}

TEST(received_share, limits_after_ten_seconds) {
  // As counted for a machine with two busy threads beside two busy processes on two CPUs.
  const ran_and_waited beside_others{.ran = 0.71, .waited = 1.29};
  received_share one;
  double now = 100;
  pass(one, now, 9, 2, beside_others);
  EXPECT_FALSE(one.limit());
  pass(one, now, 1, 2, beside_others);
  ASSERT_TRUE(one.limit());
  EXPECT_NEAR(*one.limit(), 0.71, 1e-9);
  // More load, and less, is followed.
  pass(one, now, 10, 2, {.ran = 0.5, .waited = 1.5});
  EXPECT_NEAR(*one.limit(), 0.5, 1e-9);
  pass(one, now, 10, 2, {.ran = 1.5, .waited = 0.5});
  EXPECT_NEAR(*one.limit(), 1.5, 1e-9);
  pass(one, now, 10, 2, {.ran = 2, .waited = 0});
  EXPECT_FALSE(one.limit());
}

TEST(received_share, needs_ten_seconds_without_a_break) {
  received_share one;
  double now = 100;
  for (int i = 0; i < 10; ++i) {
    pass(one, now, 9, 2, {.ran = 0.7, .waited = 1.3});
    pass(one, now, 1, 2, {.ran = 1.95, .waited = 0.05});
    EXPECT_FALSE(one.limit());
  }
}

TEST(received_share, is_not_limited_by_its_own_wishes) {
  received_share one;
  double now = 100;
  pass(one, now, 60, 2, {.ran = 0.3, .waited = 0});  // it is idle
  EXPECT_FALSE(one.limit());
  pass(one, now, 60, 2, {.ran = 0.96, .waited = 0.04});  // one thread
  EXPECT_FALSE(one.limit());
  pass(one, now, 60, 0.5, {.ran = 0.48, .waited = 1.5});  // its share, as counters show it
  EXPECT_FALSE(one.limit());
  pass(one, now, 60, 2, {.ran = 0, .waited = 0});  // it is paused
  EXPECT_FALSE(one.limit());
}

/// Seconds of `all` in which the machine is limited. It has one thread while it is, which never waits.
int limited_seconds(received_share& one, double& now, int all) {
  int limited = 0;
  for (int i = 0; i < all; ++i) {
    limited += one.limit() ? 1 : 0;
    one.update(now += 1, 1, 2, one.limit() ? ran_and_waited{1, 0} : ran_and_waited{1, 1});
  }
  return limited;
}

TEST(received_share, is_tried_again_more_and_more_rarely) {
  received_share one;
  double now = 100;
  pass(one, now, 10, 2, {.ran = 1, .waited = 1});
  ASSERT_TRUE(one.limit());
  EXPECT_EQ(limited_seconds(one, now, 30), 30);
  EXPECT_FALSE(one.limit()) << "the first trial";
  EXPECT_EQ(limited_seconds(one, now, 10 + 60), 60);
  EXPECT_EQ(limited_seconds(one, now, 10 + 120), 120);
  EXPECT_EQ(limited_seconds(one, now, 10 + 240), 240);
  EXPECT_EQ(limited_seconds(one, now, 10 + 480), 480);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(limited_seconds(one, now, 10 + 600), 600);
  // The load has ended: it keeps its share. The next load is judged anew.
  pass(one, now, 100, 2, {.ran = 2, .waited = 0});
  EXPECT_FALSE(one.limit());
  pass(one, now, 10, 2, {.ran = 1, .waited = 1});
  EXPECT_EQ(limited_seconds(one, now, 40), 30);
}

class beside_foreign_load : public testing::Test {
 protected:
  beside_foreign_load() {
    host.add(2, independent);
    host[0].reports = false;
  }
  std::size_t said(const std::string& part) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        host.events, [&](const std::string& one) { return one.find(part) != std::string::npos; }));
  }

  guests::folder folder;
  journal written{folder.path / "journal"};
  synthetic_host host{2};
};

TEST_F(beside_foreign_load, a_guest_gets_the_number_that_it_receives) {
  host.begin("threads", {}, &written);
  host.run(5);
  EXPECT_EQ(text_in(host[0].machine.number()), "sukima-host 1\nusable 2.000\nvalid 10.000\nend\n");
  host.foreign = 1.29;
  host.run(9);
  EXPECT_NEAR(host.running->usable(0), 2, 1e-6);
  host.run(6);
  EXPECT_NEAR(host.running->usable(0), 0.71, 0.01);
  EXPECT_NEAR(host.running->message_to(0)->usable, 0.71, 0.01);
  EXPECT_EQ(said(" of the 2.00 CPUs of its share"), 1U);
  host.run(100);
  EXPECT_NEAR(host.running->usable(0), 0.71, 0.01);
  EXPECT_EQ(host.events.size(), 1U);
  // The load ends, and the guest, which has one thread now, waits no more.
  host.foreign = 0;
  host.run(45);
  EXPECT_NEAR(host.running->usable(0), 2, 1e-6);
  EXPECT_EQ(said("a: its number follows its share again"), 1U);
  EXPECT_EQ(host.events.size(), 2U);
}

TEST_F(beside_foreign_load, virtual_cpus_follow_what_is_received) {
  host.begin("vcpus", {}, &written);
  host.foreign = 1.29;
  host.run(30);
  EXPECT_EQ(host[0].machine.on(), "0");
}

TEST_F(beside_foreign_load, a_neighbour_of_the_description_is_not_foreign_load) {
  host.add(2, independent);
  host[1].reports = false;
  host.begin("threads", {}, &written);
  host.run(120);
  EXPECT_NEAR(host.running->usable(0), 1, 0.01);
  EXPECT_NEAR(host.running->usable(1), 1, 0.01);
  EXPECT_TRUE(host.events.empty());
}

}  // namespace

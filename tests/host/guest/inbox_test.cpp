// SPDX-License-Identifier: Apache-2.0
// What a host takes from a guest, how often, and what it says about the rest.
#include <gtest/gtest.h>

#include "guest/program_reports.hpp"
#include "shared/inbox.hpp"

namespace {

using namespace sukima::host;

const std::string empty_message = "sukima-guest 1\nend\n";

std::string progress(double value) { return text_of(guest_message{.progress = value}); }

TEST(inbox, takes_ten_messages_a_second) {
  guest_inbox inbox;
  unsigned taken = 0;
  // 100 messages a second for 10 s.
  for (unsigned i = 0; i < 1000; ++i) {
    inbox.feed(empty_message, 100 + i * 0.01);
    taken += static_cast<unsigned>(inbox.take().size());
  }
  EXPECT_GE(taken, 10U + 99U);
  EXPECT_LE(taken, 10U + 100U);
  EXPECT_EQ(inbox.seen().taken, taken);
  EXPECT_EQ(inbox.seen().too_many, 1000 - taken);
}

TEST(inbox, a_clock_that_stands_or_goes_back_gives_nothing) {
  guest_inbox inbox;
  for (int i = 0; i < 100; ++i) inbox.feed(empty_message, 100 - i);
  EXPECT_EQ(inbox.seen().taken, 10U);
}

TEST(inbox, keeps_few_messages_for_a_slow_reader) {
  guest_inbox inbox;
  for (int i = 1; i <= 100; ++i) inbox.feed(progress(i), i);
  const auto messages = inbox.take();
  ASSERT_EQ(messages.size(), 10U);
  EXPECT_EQ(*messages.back().progress, 100);
  EXPECT_TRUE(inbox.take().empty());
}

TEST(inbox, complains_once_a_minute_and_counts_everything) {
  guest_inbox inbox;
  EXPECT_FALSE(inbox.complaint(0));
  inbox.feed("nonsense\n" + empty_message + "sukima-guest 1\nwant x\nend\n", 1);
  EXPECT_EQ(inbox.seen().taken, 1U);
  EXPECT_EQ(inbox.complaint(1), "dropped 2 malformed messages and 0 above 10 a second");
  for (int i = 0; i < 50; ++i) inbox.feed(empty_message, 2);
  EXPECT_FALSE(inbox.complaint(60.9));
  EXPECT_EQ(inbox.complaint(61), "dropped 0 malformed messages and 40 above 10 a second");
  EXPECT_FALSE(inbox.complaint(1000));
}

TEST(inbox, a_new_connection_begins_a_new_message) {
  guest_inbox inbox;
  inbox.feed("sukima-guest 1\nwant 3\n", 1);
  inbox.cut();
  inbox.feed("end\n" + empty_message, 2);
  const auto messages = inbox.take();
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_FALSE(messages[0].want);
}

TEST(program_reports, add_up_growth) {
  program_reports reports;
  EXPECT_FALSE(reports.progress());
  EXPECT_TRUE(reports.opened(1));
  EXPECT_TRUE(reports.opened(2));
  reports.feed(1, progress(100), 1);  // what was done before it connected is no growth
  EXPECT_EQ(reports.progress(), 0);
  reports.feed(1, progress(130), 2);
  reports.feed(2, progress(7), 2);
  reports.feed(2, progress(9), 3);
  EXPECT_EQ(reports.progress(), 32);
  reports.feed(2, progress(1), 4);  // it began anew
  reports.feed(2, progress(4), 5);
  EXPECT_EQ(reports.progress(), 35);
  reports.closed(1);
  EXPECT_EQ(reports.progress(), 35);
}

TEST(program_reports, never_leave_the_bounds_of_a_message) {
  program_reports reports;
  reports.opened(1);
  for (int i = 0; i < 20; ++i) {
    reports.feed(1, progress(0), i);
    reports.feed(1, progress(most_progress), i + 0.5);
    EXPECT_TRUE(parse_guest_message(text_of(guest_message{.progress = reports.progress()})));
  }
}

TEST(program_reports, want_only_what_all_want) {
  program_reports reports;
  EXPECT_FALSE(reports.want());
  reports.opened(1);
  reports.opened(2);
  reports.feed(1, text_of(guest_message{.want = 2}), 1);
  EXPECT_FALSE(reports.want());
  reports.feed(2, text_of(guest_message{.want = 3, .turn = true}), 1);
  EXPECT_EQ(reports.want(), 5U);
  EXPECT_TRUE(reports.take_turn());
  EXPECT_FALSE(reports.take_turn());
  reports.closed(2);
  EXPECT_EQ(reports.want(), 2U);
}

TEST(program_reports, are_of_64_programs) {
  program_reports reports;
  for (int i = 0; i < 64; ++i) EXPECT_TRUE(reports.opened(i));
  EXPECT_FALSE(reports.opened(64));
  reports.closed(3);
  EXPECT_TRUE(reports.opened(64));
}

}  // namespace

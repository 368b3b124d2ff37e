// SPDX-License-Identifier: Apache-2.0
// The grammar of the messages, and cutting streams into them.
#include <gtest/gtest.h>

#include <sukima/capacity/estimate.h>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "fake_machine.hpp"
#include "shared/message.hpp"

namespace {

using namespace sukima::host;

std::string guest(const std::string& lines) { return "sukima-guest 1\n" + lines + "end\n"; }
std::string host(const std::string& lines) { return "sukima-host 1\n" + lines + "end\n"; }

TEST(guest_message, has_six_words) {
  const auto all = parse_guest_message(guest("progress 12345.6\nonline 0-3,7\nwant 2\nturn\n"));
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(*all->progress, 12345.6);
  EXPECT_EQ(*all->online, (std::vector<std::uint32_t>{0, 1, 2, 3, 7}));
  EXPECT_EQ(*all->want, 2U);
  EXPECT_TRUE(all->turn);
  EXPECT_EQ(text_of(*parse_guest_message(text_of(*all))), text_of(*all));
  const auto none = parse_guest_message(guest(""));
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->progress || none->online || none->want || none->turn);
}

TEST(guest_message, anything_else_is_refused) {
  for (const std::string lines : {"progress\n",
                                  "progress \n",
                                  "progress x\n",
                                  "progress nan\n",
                                  "progress inf\n",
                                  "progress 1e5\n",
                                  "progress -1\n",
                                  "progress +1\n",
                                  "progress 0x10\n",
                                  "progress 1.\n",
                                  "progress .5\n",
                                  "progress 1.2.3\n",
                                  "progress 1000000000000001\n",
                                  "progress 99999999999999999999999999999999999\n",
                                  "progress 1 \n",
                                  "progress  1\n",
                                  "progress 1\nprogress 1\n",
                                  "want 0\n",
                                  "want 1.5\n",
                                  "want 65537\n",
                                  "want -1\n",
                                  "online\n",
                                  "online 3-1\n",
                                  "online x\n",
                                  "online 0-65535\n",
                                  "online 0,\n",
                                  "turn\nturn\n",
                                  "turn 1\n",
                                  "usable 3\n",
                                  "Progress 1\n",
                                  "\n",
                                  "progress 1\r\n",
                                  "end\nend\n",
                                  "sukima-guest 1\n"})
    EXPECT_FALSE(parse_guest_message(guest(lines))) << lines;
  EXPECT_FALSE(parse_guest_message(std::string("sukima-guest 1\nprogress 1\0\nend\n", 30)));
  EXPECT_FALSE(parse_guest_message("sukima-guest 1\nturn\n"));
  EXPECT_FALSE(parse_guest_message("sukima-guest 2\nend\n"));
  EXPECT_FALSE(parse_guest_message("sukima-guest 1\nend"));
  EXPECT_FALSE(parse_guest_message(""));
  EXPECT_FALSE(parse_guest_message(guest(std::string(5000, '\n'))));
}

TEST(host_message, is_read_as_it_was_written) {
  const host_message said{.usable = 2.5, .valid = 10, .trial = 3, .vcpus = 4};
  EXPECT_EQ(text_of(said), host("usable 2.500\nvalid 10.000\ntrial 3\nvcpus 4\n"));
  const auto read = parse_host_message(text_of(said));
  ASSERT_TRUE(read);
  EXPECT_EQ(text_of(*read), text_of(said));
  EXPECT_EQ(text_of(host_message{.usable = 1.5}), host("usable 1.500\nvalid 10.000\n"));
}

TEST(host_message, other_words_are_skipped_and_wrong_numbers_refused) {
  EXPECT_TRUE(parse_host_message(host("usable 1\nreason no other runs\nvalid 1000000\n")));
  EXPECT_EQ(parse_host_message(host("usable 1\nvalid 1000000\n"))->valid, 86400);
  for (const std::string lines :
       {"usable 1\n", "valid 1\n", "usable 0\nvalid 1\n", "usable 1\nvalid 0\n", "usable nan\nvalid 1\n",
        "usable 1\nvalid 1\nvcpus 0\n", "usable 1\nvalid 1\nvcpus two\n", "usable 1\nusable 2\nvalid 1\n",
        "usable 1\nvalid 1\ntrial 1.5\n", "usable 70000\nvalid 1\n"})
    EXPECT_FALSE(parse_host_message(host(lines))) << lines;
}

/// The number that capacity reads in a guest where the service has written this message.
double number_for_programs(const host_message& message) {
  const guests::fake_machine machine(2);
  guests::write(machine.number(), text_of(message));
  const std::string root = machine.root().string();
  sukima_capacity_options options{};
  options.root = root.c_str();
  sukima_capacity_estimator* const estimator = sukima_capacity_estimator_open(&options);
  if (estimator == nullptr) throw std::runtime_error("no estimator");
  sukima_capacity_estimator_sample(estimator, 0);
  sukima_capacity_load load;
  sukima_capacity_estimator_load(estimator, &load);
  sukima_capacity_estimator_close(estimator);
  return load.host_cpus;
}

/// Programs read the number with capacity: it understands what a host writes.
TEST(host_message, is_understood_by_capacity) {
  EXPECT_EQ(number_for_programs({.usable = 1.25, .valid = 3600, .trial = 1, .vcpus = 2}), 1.25);
  EXPECT_EQ(number_for_programs({.usable = 0, .valid = 3600}), 0.001);
  EXPECT_EQ(number_for_programs({.usable = 1024, .valid = 3600}), 1024);
}

TEST(host_message, counts_for_capacity_as_long_as_it_is_valid) {
  const guests::fake_machine machine(2);
  const std::string root = machine.root().string();
  const auto advertised = [&] { return sukima_capacity_advertised(root.c_str()); };
  EXPECT_TRUE(std::isnan(advertised()));
  guests::write(machine.number(), text_of({.usable = 1.25, .valid = 3600}));
  EXPECT_EQ(advertised(), 1.25);
  const auto written = guests::fs::last_write_time(machine.number());
  guests::fs::last_write_time(machine.number(), written - std::chrono::hours(2));
  EXPECT_TRUE(std::isnan(advertised()));
  // The clock was set back after the last message.
  guests::fs::last_write_time(machine.number(), written + std::chrono::minutes(30));
  EXPECT_EQ(advertised(), 1.25);
  guests::fs::last_write_time(machine.number(), written + std::chrono::hours(2));
  EXPECT_TRUE(std::isnan(advertised()));
  guests::write(machine.number(), "sukima-host 1\nusable many\nvalid 10\nend\n");
  EXPECT_TRUE(std::isnan(advertised()));
  EXPECT_TRUE(std::isnan(sukima_capacity_advertised(std::string(5000, 'x').c_str())));
}

TEST(frames, are_cut_out_of_any_pieces) {
  const std::string one = guest("progress 1\n"), two = guest("turn\n");
  for (std::size_t size = 1; size <= 40; ++size) {
    message_frames frames("sukima-guest 1");
    std::vector<std::string> found;
    const std::string stream = "noise\n" + one + two + "sukima-guest 1\nprogr";
    for (std::size_t at = 0; at < stream.size(); at += size)
      frames.feed(std::string_view(stream).substr(at, size),
                  [&](std::string_view text) { found.emplace_back(text); });
    EXPECT_EQ(found, (std::vector<std::string>{one, two})) << size;
    EXPECT_EQ(frames.dropped(), 1U);
  }
}

TEST(frames, one_that_is_cut_off_or_too_long_is_dropped_alone) {
  message_frames frames("sukima-guest 1");
  unsigned found = 0;
  const auto feed = [&](const std::string& bytes) {
    frames.feed(bytes, [&](std::string_view text) {
      EXPECT_LE(text.size(), longest_message);
      ++found;
    });
  };
  feed("sukima-guest 1\nprogress 1\n" + guest(""));
  EXPECT_EQ(found, 1U);
  EXPECT_EQ(frames.dropped(), 1U);
  feed("sukima-guest 1\n" + std::string(100000, 'x') + "\n" + std::string(100, '\n') + "end\n" + guest(""));
  EXPECT_EQ(found, 2U);
  EXPECT_EQ(frames.dropped(), 2U);
  // Exactly the longest one passes, one byte more does not.
  const std::string rest(longest_message - guest("").size() - 1, 'x');
  feed(guest(rest + "\n"));
  EXPECT_EQ(found, 3U);
  feed(guest(rest + "x\n"));
  EXPECT_EQ(found, 3U);
  feed(guest(""));
  EXPECT_EQ(found, 4U);
}

}  // namespace

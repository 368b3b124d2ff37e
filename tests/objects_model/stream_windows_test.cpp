// SPDX-License-Identifier: Apache-2.0
// The measured time of a message, by a clock of the test's own.
#include <gtest/gtest.h>

#include <calibrate/shared/stream_windows.hpp>

#include <chrono>

namespace {

using sukima::calibrate_detail::time_of_message;
using sukima::calibrate_detail::windows_of_stream;
using namespace std::chrono_literals;

/// The time of a message in a stream of which each takes 100 ns. The sender has no CPU for 10 ms after each
/// so many messages.
double time_with_pauses(std::size_t messages, std::size_t between_pauses) {
  std::chrono::steady_clock::time_point now{};
  std::size_t received = 0;
  const auto receive = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; i++) {
      now += 100ns;
      if (++received % between_pauses == 0) now += 10ms;
    }
    return true;
  };
  return time_of_message(messages, receive, [&] { return now; }).value_or(0);
}

TEST(stream_windows, leave_out_pauses_of_a_busy_machine) {
  EXPECT_DOUBLE_EQ(time_with_pauses(20'000, 50'000), 100);
  EXPECT_DOUBLE_EQ(time_with_pauses(20'000, 3'000), 100) << "the mean is 3300 ns";
  EXPECT_DOUBLE_EQ(time_with_pauses(500, 200), 100);
}

TEST(stream_windows, count_all_messages) {
  for (const std::size_t messages : {std::size_t{1}, windows_of_stream, 10 * windows_of_stream + 3}) {
    std::size_t received = 0;
    const auto receive = [&](std::size_t count) {
      received += count;
      return true;
    };
    EXPECT_TRUE(time_of_message(messages, receive, [] { return std::chrono::steady_clock::now(); }));
    EXPECT_EQ(received, messages);
  }
}

TEST(stream_windows, have_no_time_if_the_sender_ends_early) {
  int calls = 0;
  const auto receive = [&](std::size_t) { return ++calls < 3; };
  EXPECT_FALSE(time_of_message(1000, receive, [] { return std::chrono::steady_clock::now(); }));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The guest's end of the port, whose other end the test does not read for a while.
#include "guest/host_port.hpp"

#include <gtest/gtest.h>

#include "fake_machine.hpp"
#include "guest/program_reports.hpp"
#include "shared/message.hpp"
#include "sockets.hpp"

namespace {

using namespace sukima::host;

/// A list of CPUs with which a message has almost the maximum length.
std::string long_list() {
  std::string text = "0";
  for (unsigned cpu = 2; text.size() < longest_message - 200; cpu += 2) text += "," + std::to_string(cpu);
  return text + "\n";
}

/// A service whose port has the smallest buffer that the kernel allows.
class full_port {
 public:
  full_port() {
    guests::write(machine_.root() / "sys/devices/system/cpu/online", long_list());
    EXPECT_TRUE(port_.open());
    host_ = guests::accept_at(listening_);
    const int smallest = 1;
    EXPECT_EQ(::setsockopt(port_.number(), SOL_SOCKET, SO_SNDBUF, &smallest, sizeof smallest), 0);
  }

  void write(int times) {
    for (int i = 0; i < times; ++i) port_.write(service_, now_ += 1);
  }
  /// Takes a part of the buffer, as an earlier message would.
  void take_buffer(int parts) {
    for (int i = 0; i < parts; ++i) ::send(port_.number(), "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  std::string received() const { return guests::received(host_); }
  /// Closes the host's end; the port has not noticed yet.
  void disconnect() { host_ = guests::descriptor(); }
  /// \returns whether the host is connected
  bool read() { return port_.open() && port_.read(service_, now_); }
  void connect_again() {
    EXPECT_TRUE(port_.open());
    host_ = guests::accept_at(listening_);
    frames_.clear();
  }
  /// Reads what the host has received. \returns number of turns in the messages that are complete
  std::size_t take_turns() {
    std::size_t turns = 0;
    frames_.feed(received(), [&](std::string_view text) {
      const auto message = parse_guest_message(text);
      ASSERT_TRUE(message) << text;
      turns += message->turn ? 1 : 0;
    });
    return turns;
  }
  /// The same while the port goes on sending.
  std::size_t take_turns_of(int times) {
    std::size_t turns = 0;
    for (int i = 0; i < times; ++i) {
      write(1);
      turns += take_turns();
    }
    return turns;
  }
  program_reports& programs() { return service_.programs(); }

 private:
  guests::fake_machine machine_{1};
  guest_options options_{.root = machine_.root(), .port = machine_.root() / "port"};
  guests::descriptor listening_ = guests::listen_at(options_.port);
  guests::descriptor host_;
  guest_service service_{options_.root};
  host_port port_{options_};
  message_frames frames_{"sukima-guest 1"};
  double now_ = 0;
};

TEST(host_port, a_turn_survives_a_full_buffer) {
  unsigned split = 0;
  // However full the buffer is at first: it takes whole messages, a part of one, or nothing.
  for (int parts = 0; parts < 12; ++parts) {
    SCOPED_TRACE(parts);
    full_port port;
    port.take_buffer(parts);
    port.write(10);
    ASSERT_TRUE(port.programs().opened(5));
    port.programs().feed(5, "sukima-guest 1\nturn\nend\n", 0);
    port.write(10);

    std::size_t messages = 0, turns = 0;
    message_frames frames("sukima-guest 1");
    const auto take = [&](std::string_view text) {
      const auto message = parse_guest_message(text);
      ASSERT_TRUE(message) << text;
      ++messages;
      turns += message->turn ? 1 : 0;
    };
    std::string text = port.received();
    if (!text.empty() && !text.ends_with("\nend\n")) ++split;
    for (int i = 0; i < 20; ++i) {
      frames.feed(text, take);
      port.write(1);
      text = port.received();
    }
    frames.feed(text, take);
    EXPECT_EQ(turns, 1U);
    EXPECT_GE(messages, 10U) << "the port works again";
    EXPECT_EQ(frames.dropped(), parts > 0 ? 1U : 0U) << "only what filled the buffer";
  }
  EXPECT_GT(split, 0U) << "the buffer took a part of a message";
}

constexpr std::string_view a_turn = "sukima-guest 1\nturn\nend\n";

TEST(host_port, a_turn_that_is_not_sent_survives_the_end_of_the_connection) {
  unsigned later = 0;
  // The buffer takes the message with the turn, a part of it, or nothing, before the connection ends.
  for (int parts = 0; parts < 12; ++parts) {
    SCOPED_TRACE(parts);
    full_port port;
    port.take_buffer(parts);
    port.write(10);
    ASSERT_TRUE(port.programs().opened(5));
    port.programs().feed(5, a_turn, 0);
    EXPECT_EQ(port.take_turns(), 0U);
    port.write(1);
    const std::size_t before = port.take_turns();
    port.disconnect();
    EXPECT_FALSE(port.read());
    port.connect_again();
    EXPECT_EQ(before + port.take_turns_of(20), 1U);
    if (before == 0) ++later;
  }
  EXPECT_GT(later, 0U) << "a turn was not sent before the connection ended";
}

TEST(host_port, a_turn_waits_until_a_host_is_connected) {
  full_port port;
  ASSERT_TRUE(port.programs().opened(5));
  port.disconnect();
  EXPECT_FALSE(port.read());
  port.programs().feed(5, a_turn, 0);
  port.write(3);
  port.connect_again();
  EXPECT_EQ(port.take_turns_of(20), 1U);
}

TEST(host_port, a_turn_that_was_sent_is_not_sent_again) {
  full_port port;
  ASSERT_TRUE(port.programs().opened(5));
  port.programs().feed(5, a_turn, 0);
  EXPECT_EQ(port.take_turns_of(20), 1U);
  port.disconnect();
  EXPECT_FALSE(port.read());
  port.connect_again();
  EXPECT_EQ(port.take_turns_of(20), 0U);
}

}  // namespace

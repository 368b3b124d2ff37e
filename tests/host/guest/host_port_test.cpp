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
  program_reports& programs() { return service_.programs(); }

 private:
  guests::fake_machine machine_{1};
  guest_options options_{.root = machine_.root(), .port = machine_.root() / "port"};
  guests::descriptor listening_ = guests::listen_at(options_.port);
  guests::descriptor host_;
  guest_service service_{options_.root};
  host_port port_{options_};
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

}  // namespace

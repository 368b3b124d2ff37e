// SPDX-License-Identifier: Apache-2.0
// A million messages of a hostile guest: made from the grammar's words and broken at random.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>
#include <string>

#include "shared/inbox.hpp"

namespace {

using namespace sukima::host;

constexpr unsigned messages = 1000000;

class hostile_guest {
 public:
  explicit hostile_guest(std::uint64_t seed) : random_(seed) {}

  std::string message() {
    std::string text = "sukima-guest 1\n";
    for (std::uint64_t lines = draw(4); lines > 0; --lines) text += line() + "\n";
    text += "end\n";
    if (draw(3) == 0)
      for (std::uint64_t changes = 1 + draw(4); changes > 0; --changes) break_one(text);
    return text;
  }
  std::uint64_t draw(std::uint64_t below) { return random_() % below; }

 private:
  std::string line() {
    static const char* const numbers[] = {"0",
                                          "1",
                                          "2.5",
                                          "nan",
                                          "inf",
                                          "1e308",
                                          "-1",
                                          "0x1p",
                                          "007",
                                          "65536",
                                          "1e15",
                                          "1000000000000000",
                                          ".",
                                          "1.7976931348623157",
                                          "",
                                          "0-3",
                                          "0-65535",
                                          "3-1",
                                          "0,0,0,0",
                                          "4294967296",
                                          "18446744073709551616"};
    static const char* const words[] = {"progress ", "online ",        "want ",   "turn",
                                        "end",       "sukima-guest 1", "usable ", "vcpus "};
    return std::string(words[draw(std::size(words))]) + numbers[draw(std::size(numbers))];
  }
  void break_one(std::string& text) {
    const std::size_t at = draw(text.size() + 1);
    switch (draw(5)) {
      case 0:
        text.insert(at, 1, static_cast<char>(draw(256)));
        return;
      case 1:
        text.resize(at);
        return;
      case 2:
        text.insert(at, std::string(draw(6000), static_cast<char>(draw(256))));
        return;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(draw(256));
        return;
      default:
        text.insert(at, text.substr(0, at));
    }
    if (text.size() > 20000) text.resize(20000);
  }

  std::mt19937_64 random_;
};

void run(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  std::cout << "seed " << seed << "\n";
  hostile_guest guest(seed);
  guest_inbox inbox;
  double now = 0;
  std::uint64_t taken = 0, bad = 0;
  for (unsigned i = 0; i < messages; ++i) {
    now += static_cast<double>(guest.draw(200)) * 1e-3;
    inbox.feed(guest.message(), now);
    for (const guest_message& one : inbox.take()) {
      ++taken;
      bad += one.progress && !(*one.progress >= 0 && *one.progress <= most_progress);
      bad += one.want && (*one.want < 1 || *one.want > 65536);
      bad += one.online && (one.online->empty() || one.online->size() > 1024);
    }
  }
  EXPECT_EQ(bad, 0U);
  EXPECT_EQ(inbox.seen().taken, taken);
  EXPECT_LE(static_cast<double>(taken), 10 + now * 10);
  // The machine is not only broken: it sends a valid message now and then, which must arrive.
  EXPECT_GT(taken, messages / 20);
  EXPECT_GT(inbox.seen().malformed, messages / 20);
}

TEST(hostile, a_million_messages) { run(31); }
TEST(hostile, a_million_messages_with_a_fresh_seed) { run(std::random_device()()); }

}  // namespace

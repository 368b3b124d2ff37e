// SPDX-License-Identifier: Apache-2.0
// The C stack of an object: what its messages need, and what is said where it is too small.
#include "support.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <tuple>

namespace {

using namespace support;

class stack_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, stack_test, all_models(), name_of_model);

template <std::size_t Size> using block = std::array<unsigned char, Size>;

/// Objects with such messages, one of them with ends that it has captured.
template <std::size_t Size> void exchange(sukima::runtime& runtime) {
  program p(runtime);
  auto s = p.stream<block<Size>>("s", capacity{2});
  auto t = p.stream<block<Size>>("t", capacity{2});
  p.object(
      "source",
      [](out<block<Size>> to) {
        for (unsigned char i = 0; i < 10; ++i) {
          block<Size> b;
          b.fill(i);
          to.send(b);
        }
      },
      s.out());
  p.object("between", [from = s.in(), to = t.out()]() mutable {
    while (auto b = from.receive()) {
      block<Size> copy = *b;
      copy.front() += 1;
      to.send(copy);
    }
  });
  unsigned sum = 0;
  p.object(
       "sink",
       [&sum](in<block<Size>> from) {
         while (const auto b = from.receive()) sum += b->front() + b->back();
       },
       t.in())
      .at_home();
  p.run();
  EXPECT_EQ(sum, 100u) << Size;
}

TEST_P(stack_test, has_room_for_large_messages) {
  exchange<1024>(runtime);
  exchange<4096>(runtime);
  exchange<65536>(runtime);
}

// Sanitizers have handlers of these faults of their own, and larger frames.
#if !defined(SUKIMA_SANITIZED)

[[gnu::noinline]] unsigned recurse(unsigned depth) {
  volatile char frame[512];
  frame[depth % 512] = 1;
  return depth == 0 ? 0U : recurse(depth - 1) + static_cast<unsigned>(frame[depth % 512]);
}

void overflow_in_an_object(std::size_t stack) {
  alarm(500);
  sukima::runtime runtime;
  program p(runtime);
  auto s = p.stream<unsigned>("s", capacity{2});
  p.object("deep", [](out<unsigned> to) { to.send(recurse(~0U)); }, s.out()).stack(stack);
  p.object("sink", [](in<unsigned> from) { std::ignore = from.receive(); }, s.in());
  p.run();
}

TEST(stack_death_test, an_overflow_names_what_is_to_be_changed) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(overflow_in_an_object(0), testing::ExitedWithCode(70),
              "an object's C stack of 16 KiB overflowed; give it more with \\.stack");
  EXPECT_EXIT(overflow_in_an_object(1 << 20), testing::ExitedWithCode(70), "SUKIMA_STACK");
}

#endif

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The C stack of an object: what its messages need, and what is said where it is too small.
#include "support.hpp"

#include "../runtime/guard_pages.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace support;

class stack_test : public models {};
INSTANTIATE_TEST_SUITE_P(all, stack_test, all_models(), name_of_model);

template <std::size_t Size> using block = std::array<unsigned char, Size>;

/// Objects with such messages, some with ends that they have captured.
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
  auto u = p.stream<block<Size>>("u", capacity{2});
  p.object("first", [from = s.in(), to = t.out()]() mutable {
    while (auto b = from.receive()) {
      block<Size> copy = *b;
      copy.front() += 1;
      to.send(copy);
    }
  });
  auto small = p.stream<int>("small", capacity{2});
  p.object(
      "second",
      [from = t.in(), to = u.out()](out<int> also) mutable {
        while (auto b = from.receive()) {
          also.send(1);
          to.send(*b);
        }
      },
      small.out());
  p.object(
      "counts",
      [](in<int> from) {
        while (from.receive()) {
        }
      },
      small.in());
  unsigned sum = 0;
  p.object(
       "sink",
       [&sum](in<block<Size>> from) {
         while (const auto b = from.receive()) sum += b->front() + b->back();
       },
       u.in())
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

/// Uses C stack, every byte of it, until `bytes` of it lie between `begin` and here.
[[gnu::noinline]] void use_stack(const char* begin, std::ptrdiff_t bytes) {
  volatile char frame[128];
  for (volatile char& byte : frame) byte = 1;
  if (begin - const_cast<const char*>(frame) < bytes) use_stack(begin, bytes);
  frame[0] = 2;  // no tail call
}

/// An object that asks for a stack uses so many bytes of it, and waits.
void use_stack_in_an_object(std::size_t asks_for, std::ptrdiff_t bytes) {
  alarm(500);
  sukima::settings chosen = with_workers(1);
  chosen.stack = 1 << 20;
  sukima::runtime runtime(chosen);
  program p(runtime);
  auto s = p.stream<int>("s", capacity{1});
  p.object(
       "deep",
       [bytes](out<int> to) {
         const char begin = 0;
         use_stack(&begin, bytes);
         for (int i = 0; i < 10; ++i) to.send(i);
       },
       s.out())
      .stack(asks_for);
  p.object(
      "sink",
      [](in<int> from) {
        while (from.receive()) {
        }
      },
      s.in());
  p.run();
  std::fputs("returned\n", stderr);
  std::_Exit(0);
}

class stack_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

/// Writes to the far end of a frame of that size, and to nothing between, as code does that was compiled
/// without probes of the stack.
template <std::size_t Size> [[gnu::noinline]] void use_far_end() {
  [[maybe_unused]] volatile char frame[Size];
  for (std::size_t i = 0; i < 2000 && i < Size; ++i) frame[i] = 99;
}

/// Twenty objects have values on their stacks while another one uses a large frame. The number of
/// bytes that have changed is printed.
void use_a_large_frame_beside_others() {
  alarm(500);
  sukima::runtime runtime(with_workers(1));
  program p(runtime);
  auto damaged = p.stream<int>("damaged");
  std::vector<out<int>> go;
  for (int i = 0; i < 20; ++i) {
    auto s = p.stream<int>("go" + std::to_string(i));
    go.push_back(s.out());
    p.object(
        "victim" + std::to_string(i),
        [](in<int> from, out<int> to) {
          volatile char mine[6000];
          for (volatile char& byte : mine) byte = 1;
          from.receive();
          int changed = 0;
          for (const volatile char& byte : mine) changed += byte != 1;
          to.send(changed);
        },
        s.in(), damaged.out());
  }
  p.object(
      "culprit",
      [](std::vector<out<int>> to) {
        use_far_end<64 * 1024>();
        for (auto& one : to) one.send(1);
      },
      std::move(go));
  int all = 0;
  p.object(
      "sum",
      [&all](in<int> from) {
        for (const int one : from) all += one;
      },
      damaged.in());
  p.run();
  std::fprintf(stderr, "%d bytes were damaged\n", all);
  std::_Exit(0);
}

TEST_F(stack_death_test, a_large_frame_of_an_object_reaches_no_other_one) {
  if (support::has_guard_pages()) {
    EXPECT_EXIT(use_a_large_frame_beside_others(), testing::ExitedWithCode(70),
                "the object culprit: its C stack of 16 KiB overflowed; give it more with .stack");
  } else {
    EXPECT_EXIT(use_a_large_frame_beside_others(), testing::ExitedWithCode(0), "^0 bytes were damaged");
  }
}

TEST_F(stack_death_test, an_overflow_of_an_object_names_its_option) {
  EXPECT_EXIT(use_stack_in_an_object(0, 14 * 1024), testing::ExitedWithCode(0), "returned");
  // About 1 KiB more than there is: into what lies below the stack.
  EXPECT_EXIT(use_stack_in_an_object(0, 19 * 1024), testing::ExitedWithCode(70),
              "the object deep: its C stack of 16 KiB overflowed; give it more with .stack");
}

TEST_F(stack_death_test, an_overflow_of_an_ordinary_stack_names_the_setting) {
  EXPECT_EXIT(use_stack_in_an_object(1 << 18, 14 * 1024), testing::ExitedWithCode(0), "returned");
  EXPECT_EXIT(use_stack_in_an_object(1 << 18, 2 << 20), testing::ExitedWithCode(70),
              "the object deep: its C stack overflowed; set SUKIMA_STACK");
}

#endif

}  // namespace

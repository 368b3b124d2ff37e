// SPDX-License-Identifier: Apache-2.0
// The exceptions of concurrent objects: a stream without a receiver, one whose sender failed, a deadlock.
// Each program chooses its model itself, so the variable SUKIMA_OBJECTS does not matter.
#include <sukima/objects.hpp>

#include <cstdio>
#include <stdexcept>

using sukima::objects::in;
using sukima::objects::out;

namespace {

/// The receiver leaves early; the next `send` throws. Without a handler the object would just end.
void leave_early() {
  sukima::objects::program p;
  p.model("workers:simulated");
  const auto numbers = p.stream<int>("numbers");
  p.object(
      "send",
      [](out<int> to) {
        try {
          for (int n = 1;; ++n) to.send(n);
        } catch (const sukima::objects::stream_broken&) {
          std::puts("no receiver is left");
        }
      },
      numbers.out());
  p.object("take one", [](in<int> from) { from.receive(); }, numbers.in());
  p.run();
}

/// The sender fails; the receiver gets all that was sent, then an exception, and so does the caller of `run`.
void fail() {
  sukima::objects::program p;
  p.model("workers:simulated");
  const auto numbers = p.stream<int>("numbers");
  p.object(
      "send",
      [](out<int> to) {
        to.send(1);
        throw std::runtime_error("no more numbers");
      },
      numbers.out());
  p.object(
      "sum",
      [](in<int> from) {
        int sum = 0;
        try {
          for (const int n : from) sum += n;
        } catch (const sukima::objects::stream_failed&) {
          std::printf("%d before its sender failed\n", sum);
        }
      },
      numbers.in());
  try {
    p.run();
  } catch (const std::runtime_error& error) {
    std::printf("run: %s\n", error.what());
  }
}

/// Two objects that wait for each other's first message.
void wait_for_each_other() {
  sukima::objects::program p;
  p.model("workers:simulated");
  const auto there = p.stream<int>("there");
  const auto back = p.stream<int>("back");
  const auto answer = [](in<int> from, out<int> to) {
    for (const int n : from) to.send(n + 1);
  };
  p.object("left", answer, back.in(), there.out());
  p.object("right", answer, there.in(), back.out());
  try {
    p.run();
  } catch (const sukima::objects::deadlock&) {  // its text says which object waits for which stream
    std::puts("both objects wait");
  }
}

}  // namespace

int main() {
  leave_early();
  fail();
  wait_for_each_other();
}

// SPDX-License-Identifier: Apache-2.0
// The wait policy `inherit`: the worker that a real-time thread waits for runs with that thread's priority.
#include "support.hpp"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

using sukima::context;

/// Of this thread, as the kernel runs it at present: negative while that is a real-time priority.
long present_priority() {
  std::ifstream file("/proc/thread-self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream words(text.substr(text.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 15; ++i) words >> skipped;
  long priority = 0;
  words >> priority;
  return priority;
}

bool make_real_time(pid_t thread) {
  const sched_param one{1};
  return sched_setscheduler(thread, SCHED_FIFO, &one) == 0;
}
void make_usual(pid_t thread) {
  const sched_param none{0};
  EXPECT_EQ(sched_setscheduler(thread, SCHED_OTHER, &none), 0);
}

/// A real-time thread waits for a task that the other worker has stolen. \returns did that one get its
/// priority before `give_up` was true?
template <class GiveUp> bool lends(sukima::wait_policy policy, const char* protocol, bool& may,
                                   GiveUp give_up) {
  sukima::settings s = support::with_workers(2);
  s.wait = policy;
  if (protocol == std::string("request")) s.published_tasks = 0;
  sukima::runtime two(s);
  std::atomic<bool> stolen{false};
  std::atomic<bool> waits{false};
  bool inherited = false;
  pid_t waiting = 0;
  two.run([&](context c) {
    sukima::fork2(
        c,
        [&](context below) {
          EXPECT_TRUE(support::poll_until(below, [&] { return stolen.load(); }));
          waiting = gettid();
          may = make_real_time(waiting);
          waits = true;
        },
        [&] {
          stolen = true;
          while (!waits) std::this_thread::yield();
          while (may && !inherited && !give_up()) inherited = present_priority() < 0;
        });
    if (may) make_usual(waiting);
  });
  return inherited;
}

TEST(inherit, lends_a_real_time_priority_to_the_awaited_worker) {
  for (const char* const protocol : {"publish", "request"}) {
    const auto deadline = std::chrono::steady_clock::now() + support::patience;
    bool may = false;
    const bool inherited = lends(sukima::wait_policy::inherit, protocol, may,
                                 [&] { return std::chrono::steady_clock::now() > deadline; });
    if (!may) GTEST_SKIP() << "no right to real-time threads";
    EXPECT_TRUE(inherited) << protocol;
  }
}

TEST(inherit, is_what_other_policies_do_not) {
  int looks = 0;
  bool may = false;
  EXPECT_FALSE(lends(sukima::wait_policy::block, "publish", may, [&] { return ++looks > 2'000; }));
  if (!may) GTEST_SKIP() << "no right to real-time threads";
}

}  // namespace

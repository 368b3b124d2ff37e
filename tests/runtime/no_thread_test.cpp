// SPDX-License-Identifier: Apache-2.0
// No thread can be had (pids.max, RLIMIT_NPROC): the runtime goes on with those that it has, and says so.
#include "support.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

namespace {

/// How many threads can be started from now on.
std::atomic<int> available{1 << 20};

}  // namespace

// Takes the place of the C library's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using type = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = reinterpret_cast<type*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (available.fetch_sub(1) <= 0) return EAGAIN;
  return real(thread, attributes, run, argument);
}

namespace {

using sukima::context;

class no_thread : public testing::Test {
 protected:
  void TearDown() override { available = 1 << 20; }
};

bool says_so(const sukima::runtime& r) {
  const auto decisions = r.decisions();
  return std::any_of(decisions.begin(), decisions.end(), [](const sukima::decision& d) {
    return d.reason.find("no thread can be started") != std::string::npos;
  });
}

TEST_F(no_thread, a_runtime_starts_with_those_that_it_gets) {
  available = 2;
  sukima::runtime eight(support::with_workers(8));
  EXPECT_EQ(eight.workers_now(), 3U);
  EXPECT_TRUE(says_so(eight));
  EXPECT_EQ(eight.run([](context c) { return support::fib(c, 15); }), 610);
}

TEST_F(no_thread, workers_come_when_threads_can_be_had_again) {
  available = 1;
  sukima::runtime four(support::with_workers(4));
  EXPECT_EQ(four.workers_now(), 2U);
  four.limit_workers(3);
  EXPECT_EQ(four.workers_now(), 2U);
  available = 1 << 20;
  four.limit_workers(0);
  EXPECT_EQ(four.workers_now(), 4U);
  EXPECT_EQ(four.statistics().workers.size(), 4U) << "no worker without a thread stays";
  EXPECT_EQ(four.run([](context c) { return support::fib(c, 15); }), 610);
}

TEST_F(no_thread, blocking_calls_its_function_and_leaves_nothing) {
  sukima::runtime two(support::with_workers(2));
  two.run([&] {
    available = 0;
    int called = 0;
    for (int i = 0; i < 3; ++i) sukima::blocking([&] { ++called; });
    EXPECT_EQ(called, 3);
  });
  EXPECT_EQ(two.workers_now(), 2U);
  EXPECT_LE(two.statistics().workers.size(), 3U);
  available = 1 << 20;
  two.run([&] { sukima::blocking([&] { EXPECT_EQ(two.statistics().workers.size(), 3U); }); });
}

TEST_F(no_thread, a_thread_bound_wait_ends_once_there_is_one) {
  sukima::runtime one(support::with_workers(1));
  std::thread resumes;
  available = 0;
  one.run([&](context c) {
    sukima::thread_bound([&] {
      sukima::suspend(c, [&](sukima::resumer s) {
        available = 1;
        resumes = std::thread([s] { s.resume(); });
      });
    });
  });
  resumes.join();
}

}  // namespace

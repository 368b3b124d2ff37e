// SPDX-License-Identifier: Apache-2.0
// No thread can be started (pids.max, RLIMIT_NPROC): the runtime continues with its present threads, and says
// so. And events during the start of a thread.
#include "support.hpp"

#include <sukima/objects.hpp>

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace {

/// How many threads can be started from now on.
std::atomic<int> available{1 << 20};
/// Called once by the next thread that starts one.
std::atomic<void (*)()> before_start{nullptr};

}  // namespace

// Replaces the C library's function.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                              void* argument) {
  using type = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static auto* const real = reinterpret_cast<type*>(dlsym(RTLD_NEXT, "pthread_create"));
  if (void (*const call)() = before_start.exchange(nullptr)) call();
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

/// Gives threads that are started this stack by default, as RLIMIT_STACK does at the start of a process.
class default_stack {
 public:
  explicit default_stack(std::size_t size) {
    pthread_getattr_default_np(&before_);
    pthread_attr_t chosen;
    pthread_attr_init(&chosen);
    pthread_attr_setstacksize(&chosen, size);
    pthread_setattr_default_np(&chosen);
    pthread_attr_destroy(&chosen);
  }
  ~default_stack() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  default_stack(const default_stack&) = delete;
  default_stack& operator=(const default_stack&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST_F(no_thread, with_a_tiny_stack_is_started) {
  const default_stack tiny(std::size_t{48} << 10);
  try {
    const sukima::runtime two(support::with_workers(2));
    ADD_FAILURE() << "it started";
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("sukima: the stacks of threads have 48 KiB, and the runtime needs 64; "
                        "raise the limit (ulimit -s)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(no_thread, needs_a_stack_of_more_than_64_KiB) {
  const default_stack small(std::size_t{64} << 10);
  sukima::runtime eight(support::with_workers(8));
  EXPECT_EQ(eight.workers_now(), 8U);
  EXPECT_EQ(eight.run([](context c) { return support::fib(c, 18); }), 2584);
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

// The watch over the objects and two objects: each in turn gets no thread.
TEST_F(no_thread, objects_name_what_is_missing) {
  sukima::runtime one(support::with_workers(1));
  for (const int left : {0, 1, 2}) {
    sukima::objects::program p(one);
    p.model("threads");
    const auto numbers = p.stream<int>("numbers");
    p.object("source", [](sukima::objects::out<int> o) { o.send(1); }, numbers.out());
    p.object("sink", [](sukima::objects::in<int> i) { static_cast<void>(i.receive()); }, numbers.in());
    available = left;
    try {
      p.run();
      ADD_FAILURE() << "ran with " << left << " more threads";
    } catch (const std::system_error& e) {
      EXPECT_NE(std::string(e.what()).find("allow the process more (ulimit -u, ulimit -v, pids.max)"),
                std::string::npos)
          << e.what();
    }
  }
}

/// Nothing but the thread that touches could compute it.
TEST_F(no_thread, a_future_is_computed_by_the_thread_that_touches_it) {
  sukima::runtime one(support::with_workers(1));
  const auto f = one.run([] { return sukima::launch([](context c) { return support::fib(c, 10); }); });
  available = 0;
  EXPECT_EQ(f.touch(), 55);
  EXPECT_EQ(one.workers_now(), 1U);
  available = 1 << 20;
}

// Another thread starts the default runtime, and waits in the middle of it for the fork. fork() itself may
// have to wait for that start; so the wait has an end.
std::atomic<bool> starts{false};
std::atomic<bool> forked{false};

TEST_F(no_thread, a_child_that_was_forked_while_the_default_runtime_started_has_one) {
  std::thread starter([] {
    before_start = [] {
      starts = true;
      for (int i = 0; i < 50 && !forked; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    sukima::fork2([] {}, [] {});
  });
  while (!starts) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto [a, b] = sukima::fork2([] { return 1; }, [] { return 2; });
    ::_exit(a + b);
  }
  forked = true;
  starter.join();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

// The same with a trace, whose lock the starting thread takes as well. In a fresh process, because the
// variable is read once. The handler comes before those of the trace, if it has any, and after that of the
// default runtime: when it runs the forking thread has the locks of the former and waits for that of the
// latter.
std::atomic<bool> is_forking{false};

TEST_F(no_thread, fork_waits_for_the_start_of_a_default_runtime_that_is_traced) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(
      {
        ::alarm(500);
        const std::string file = testing::TempDir() + "sukima-fork-" + std::to_string(::getpid()) + ".json";
        ::setenv("SUKIMA_TRACE", file.c_str(), 1);
        ::setenv("SUKIMA_WORKERS", "4", 1);
        ::setenv("SUKIMA_ELASTIC", "off", 1);
        ::pthread_atfork([] { is_forking = true; }, nullptr, nullptr);
        std::thread starter([] {
          before_start = [] {
            starts = true;
            while (!is_forking) std::this_thread::yield();
          };
          sukima::fork2([] {}, [] {});
        });
        while (!starts) std::this_thread::yield();
        const pid_t child = ::fork();
        if (child == 0) ::_exit(0);
        starter.join();
        int status = -1;
        ::waitpid(child, &status, 0);
        ::_exit(status == 0 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace

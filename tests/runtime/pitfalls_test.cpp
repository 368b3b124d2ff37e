// SPDX-License-Identifier: Apache-2.0
// The statements of docs/pitfalls.md that no other test covers.
#include "support.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>

namespace {

using sukima::context;
using support::fib;
using support::this_thread;
using support::with_workers;

class pitfalls_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};
using pitfalls_death_test = pitfalls_test;

void fork_in_noexcept(context c) noexcept { fib(c, 10); }

struct forks_at_end {
  context c;
  ~forks_at_end() { fib(c, 10); }
};

template <class Body> void run_cancelled(Body body) {
  alarm(500);
  sukima::runtime one(with_workers(1));
  one.run([&](context c) {
    sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
      cancel.cancel();
      body(below);
    });
  });
  std::fputs("came to its end\n", stderr);
  _exit(0);
}

TEST_F(pitfalls_death_test, a_noexcept_function_that_forks_ends_a_cancelled_program) {
  EXPECT_EXIT(run_cancelled([](context c) { fork_in_noexcept(c); }), testing::KilledBySignal(SIGABRT),
              "terminate called");
  EXPECT_EXIT(run_cancelled([](context c) { fib(c, 10); }), testing::ExitedWithCode(0), "came to its end");
}

TEST_F(pitfalls_death_test, a_destructor_that_forks_ends_a_cancelled_program) {
  EXPECT_EXIT(run_cancelled([](context c) { const forks_at_end last{c}; }), testing::KilledBySignal(SIGABRT),
              "terminate called");
}

/// … but not while an exception is on its way: nothing that is forked then is aborted from outside.
TEST_F(pitfalls_test, a_destructor_may_fork_while_an_exception_is_on_its_way) {
  sukima::runtime two(with_workers(2));
  for (int round = 0; round < 50; ++round) {
    bool thrown = false;
    two.run([&](context c) {
      sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
        try {
          const forks_at_end last{below};
          cancel.cancel();
          throw support::test_error(1);
        } catch (const support::test_error&) {
          thrown = true;
        }
      });
    });
    EXPECT_TRUE(thrown);
  }
}

TEST_F(pitfalls_test, aborted_that_was_swallowed_comes_again_at_the_next_poll) {
  sukima::runtime one(with_workers(1));
  int swallowed = 0;
  one.run([&](context c) {
    sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
      cancel.cancel();
      for (int i = 0; i < 3; ++i) {
        try {
          fib(below, 5);
        } catch (...) {
          ++swallowed;
        }
      }
    });
  });
  EXPECT_EQ(swallowed, 3);
}

TEST_F(pitfalls_test, signals_for_the_process_are_handled_by_its_own_threads) {
  static std::atomic<long> other_threads;
  static std::atomic<long> handled;
  static pid_t own;
  other_threads = 0;
  handled = 0;
  own = this_thread();
  struct sigaction act = {};
  act.sa_handler = [](int) {
    if (this_thread() != own) ++other_threads;
    ++handled;
  };
  struct sigaction before = {};
  sigaction(SIGUSR1, &act, &before);
  sukima::runtime four(with_workers(4));
  for (int i = 0; i < 100; ++i)
    four.run([&](context c) {
      kill(getpid(), SIGUSR1);
      fib(c, 15);
    });
  EXPECT_TRUE(support::sleep_until([&] { return handled.load() > 0; }));
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(other_threads, 0);
}

#if !defined(SUKIMA_SANITIZED)

/// Deeper than any stack, in frames that the compiler cannot leave out.
[[gnu::noinline]] long use_up_the_stack(context c, long depth) {
  volatile char frame[512];
  frame[depth % 512] = 1;
  if (depth == 0) return frame[0];
  return use_up_the_stack(c, depth - 1) + frame[depth % 512];
}

void overflow_after(void (*install)()) {
  alarm(500);
  sukima::settings s = with_workers(1);
  s.stack = 1 << 20;
  sukima::runtime r(s);
  if (install != nullptr) install();
  r.run([](context c) { use_up_the_stack(c, 1L << 40); });
}

/// The library's handler is there from the start of the first runtime on; one that is installed later
/// replaces it.
TEST_F(pitfalls_death_test, a_handler_that_is_installed_later_gets_the_overflow) {
  const auto install = [] {
    struct sigaction act = {};
    act.sa_flags = SA_ONSTACK;
    act.sa_handler = [](int) {
      constexpr char text[] = "the program's own handler\n";
      if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
      _exit(5);
    };
    sigaction(SIGSEGV, &act, nullptr);
  };
  EXPECT_EXIT(overflow_after(nullptr), testing::ExitedWithCode(70), "SUKIMA_STACK");
  EXPECT_EXIT(overflow_after(install), testing::ExitedWithCode(5), "the program's own handler");
}

/// … and a handler that was installed before is called for faults other than the overflow of a fiber.
TEST_F(pitfalls_death_test, an_earlier_handler_gets_the_other_faults) {
  EXPECT_EXIT(
      {
        alarm(500);
        struct sigaction act = {};
        act.sa_handler = [](int) { _exit(6); };
        sigaction(SIGSEGV, &act, nullptr);
        sukima::runtime r(with_workers(2));
        r.run([] {
          int* volatile nowhere = nullptr;  // not constant for the compiler, which may remove a write to null
          *nowhere = 1;
        });
      },
      testing::ExitedWithCode(6), "");
}

#endif

TEST_F(pitfalls_test, tasks_may_start_programs) {
  sukima::runtime two(with_workers(2));
  two.run([](context c) {
    sukima::parallel_for(c, 0, 8, [](context below, int i) {
      fib(below, 5);
      const int status = std::system(("exit " + std::to_string(i)).c_str());
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == i);
      FILE* const pipe = popen("echo text", "r");
      std::array<char, 8> line{};
      EXPECT_NE(std::fgets(line.data(), static_cast<int>(line.size()), pipe), nullptr);
      EXPECT_STREQ(line.data(), "text\n");
      EXPECT_EQ(pclose(pipe), 0);
    });
  });
}

/// A mutex that is locked in one place and unlocked after a fork: by the same thread, if it is bound.
TEST_F(pitfalls_test, thread_bound_code_keeps_its_thread_across_forks) {
  sukima::runtime four(with_workers(4));
  std::atomic<int> moved{0};
  four.run([&](context c) {
    sukima::parallel_for(c, 0, 200, [&](context below, int) {
      std::mutex lock;
      sukima::thread_bound([&] {
        const std::lock_guard hold(lock);
        const pid_t before = this_thread();
        fib(below, 12);
        if (this_thread() != before) ++moved;
      });
    });
  });
  EXPECT_EQ(moved, 0);
}

/// A bound join runs a descendant on top that ends what another fiber waits for: that one goes on elsewhere.
TEST_F(pitfalls_test, thread_bound_code_keeps_its_thread_when_it_ends_what_others_wait_for) {
  for (int round = 0; round < 5; ++round) {
    sukima::runtime three(with_workers(3));
    std::atomic<bool> begun[3] = {false, false, false};  // of what keeps the workers busy
    std::atomic<bool> stolen{false};
    std::atomic<bool> on_top{false};
    std::atomic<bool> first_may_end{false};
    std::atomic<bool> may_end{false};
    std::thread resumes;
    pid_t before = 0;
    pid_t after = 0;
    const auto until = [](const std::atomic<bool>& it) {
      EXPECT_TRUE(support::sleep_until([&] { return it.load(); }));
    };
    const auto fork_until = [](context c, const std::atomic<bool>& it) {
      EXPECT_TRUE(support::poll_until(c, [&] { return it.load(); }));
    };
    three.run([&](context c) {
      sukima::task_group busy(c);
      busy.run(c, [&] {
        begun[0] = true;
        until(first_may_end);
      });
      until(begun[0]);
      sukima::thread_bound([&] {
        before = this_thread();
        sukima::fork2(
            c, [&](context d) { fork_until(d, stolen); },
            [&](context d) {  // on the third worker
              stolen = true;
              sukima::fork2(
                  d,
                  [&](context e) {
                    fork_until(e, on_top);
                    busy.run(e, [&] {
                      begun[1] = true;
                      until(may_end);
                    });
                  },
                  [&](context) {  // on top of the bound fiber
                    on_top = true;
                    until(begun[1]);
                  });
              busy.run(d, [&] {
                begun[2] = true;
                until(may_end);
              });
              sukima::suspend(d, [&](sukima::resumer s) {
                resumes = std::thread([&, s] {
                  until(begun[2]);
                  first_may_end = true;
                  s.resume();
                });
              });
            });
        after = this_thread();
      });
      may_end = true;
      busy.wait(c);
    });
    resumes.join();
    EXPECT_EQ(before, after);
  }
}

/// … and elsewhere it changes its thread, sooner or later.
TEST_F(pitfalls_test, code_that_is_not_bound_changes_its_thread) {
  sukima::runtime four(with_workers(4));
  std::atomic<bool> moved{false};
  EXPECT_TRUE(four.run([&](context c) {
    return support::poll_until(c, [&] {
      sukima::parallel_for(c, 0, 64, [&](context below, int) {
        const pid_t before = this_thread();
        fib(below, 14);
        if (this_thread() != before) moved = true;
      });
      return moved.load();
    });
  }));
}

}  // namespace

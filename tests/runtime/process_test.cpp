// SPDX-License-Identifier: Apache-2.0
// Bad days of a process: overflow of a fiber, no memory, fork() and exit() while tasks run.
#include "address_space.hpp"
#include "guard_pages.hpp"
#include "support.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

namespace {

using sukima::context;
using support::fib;
using support::give_up_after;
using support::limit_address_space;
using support::with_workers;
using testing::ExitedWithCode;

/// Each death test is a process of its own; one that hangs is killed.
class process_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};
using process_death_test = process_test;

/// f(d) = fork2(f(d − 1), short)
long deep(context c, long depth) {
  if (depth == 0) return 0;
  auto [a, b] = sukima::fork2(c, [=](context below) { return deep(below, depth - 1); }, [] { return 1L; });
  return a + b;
}

TEST_F(process_test, recursion_of_a_million_forks_works) {
  for (const unsigned workers : {1u, 2u}) {
    sukima::settings s = with_workers(workers);
    s.stack = std::size_t{2} << 30;
    const long depth = support::sanitized ? 50'000 : 1'000'000;
    sukima::runtime r(s);
    EXPECT_EQ(r.run([=](context c) { return deep(c, depth); }), depth);
    EXPECT_EQ(r.run([=](context c) { return deep(c, 1000); }), 1000);
  }
}

// Sanitizers have handlers of these faults of their own, larger frames and a larger address space.
#if !defined(SUKIMA_SANITIZED)

/// A recursion with frames of some size that the compiler cannot turn into a loop.
[[gnu::noinline]] long recurse(context c, long depth) {
  volatile char frame[512];
  frame[depth % 512] = 1;
  if (depth == 0) return frame[0];
  return recurse(c, depth - 1) + frame[depth % 512];
}

TEST_F(process_death_test, overflow_of_a_stack_names_the_setting) {
  for (const unsigned workers : {1u, 2u})
    EXPECT_EXIT(
        {
          give_up_after(500);
          sukima::settings s = with_workers(workers);
          s.stack = 1 << 20;
          sukima::runtime r(s);
          r.run([](context c) { recurse(c, 1L << 40); });
        },
        ExitedWithCode(70), "SUKIMA_STACK");
}

/// Uses C stack, every byte of it, until `bytes` of it lie between `begin` and here.
[[gnu::noinline]] void use_stack(const char* begin, std::ptrdiff_t bytes) {
  volatile char frame[128];
  for (volatile char& byte : frame) byte = 1;
  if (begin - const_cast<const char*>(frame) < bytes) use_stack(begin, bytes);
  frame[0] = 2;  // no tail call
}

/// From here on this process, its threads included, is on a kernel without MADV_GUARD_INSTALL (before Linux
/// 6.13). \returns false where it may not be
bool forget_guard_pages() {
  constexpr unsigned guard_install = 102;
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, guard_install, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Uses so much of a small fiber's C stack of 64 KiB, and returns.
void run_on_a_small_stack(std::ptrdiff_t bytes) {
  give_up_after(500);
  sukima::settings s = with_workers(1);
  s.stack = 64 * 1024;
  sukima::runtime r(s);
  r.run([bytes] {
    const char begin = 0;
    use_stack(&begin, bytes);
  });
  std::fputs("returned\n", stderr);
  _exit(0);
}
constexpr std::ptrdiff_t enough = 60 * 1024;
constexpr std::ptrdiff_t too_much = 67 * 1024;  // about 1 KiB more than there is

TEST_F(process_death_test, overflow_of_a_small_stack_names_the_setting) {
  EXPECT_EXIT(run_on_a_small_stack(enough), ExitedWithCode(0), "returned");
  EXPECT_EXIT(run_on_a_small_stack(too_much), ExitedWithCode(70), "SUKIMA_STACK");
}

TEST_F(process_death_test, overflow_of_a_small_stack_is_found_without_guard_pages) {
  const pid_t tries = fork();
  if (tries == 0) _exit(forget_guard_pages() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(tries, &status, 0), tries);
  if (status != 0) GTEST_SKIP() << "this kernel does not filter system calls";
  const auto run = [](std::ptrdiff_t bytes) {
    if (!forget_guard_pages()) _exit(77);
    run_on_a_small_stack(bytes);
  };
  EXPECT_EXIT(run(enough), ExitedWithCode(0), "returned");
  EXPECT_EXIT(run(too_much), ExitedWithCode(70), "SUKIMA_STACK");
}

/// Writes to the far end of a frame of that size, and to nothing between. A page is skipped where the frame
/// is larger than a page and the compiler does not probe the stack.
template <std::size_t Size> [[gnu::noinline]] void use_far_end() {
  [[maybe_unused]] volatile char frame[Size];
  frame[0] = 1;
}

/// A recursion whose frames have 200 KB.
[[gnu::noinline]] long recurse_in_large_frames(long depth) {
  volatile char frame[200'000];
  frame[0] = 1;
  if (depth == 0) return frame[0];
  return recurse_in_large_frames(depth - 1) + frame[0];
}

TEST_F(process_death_test, a_large_frame_does_not_skip_the_guard) {
  const auto run = [](std::size_t stack, auto f) {
    give_up_after(500);
    sukima::settings s = with_workers(1);
    s.stack = stack;
    sukima::runtime r(s);
    r.run(f);
  };
  EXPECT_EXIT(run(1 << 20, [] { recurse_in_large_frames(1L << 40); }), ExitedWithCode(70), "SUKIMA_STACK");
  EXPECT_EXIT(run(128 * 1024, [] { use_far_end<1'000'000>(); }), ExitedWithCode(70), "SUKIMA_STACK");
  if (!support::has_guard_pages()) return;  // then it damages nothing else, but is not noticed
  EXPECT_EXIT(run(16 * 1024, [] { use_far_end<64 * 1024>(); }), ExitedWithCode(70), "SUKIMA_STACK");
}

/// A recursion of forks whose closures have 40 KB, into the choice stack.
long deep_in_large_closures(context c, long depth) {
  if (depth == 0) return 0;
  std::array<char, 40'000> captured;
  captured.fill(1);
  auto [a, b] = sukima::fork2(
      c, [=](context below) { return deep_in_large_closures(below, depth - 1); },
      [captured] { return long{captured.back()}; });
  return a + b;
}

TEST_F(process_death_test, a_large_closure_does_not_skip_the_guard) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::settings s = with_workers(1);
        s.choices = 64 * 1024;
        sukima::runtime r(s);
        r.run([](context c) { deep_in_large_closures(c, 100'000); });
      },
      ExitedWithCode(70), "SUKIMA_CHOICES");
}

TEST_F(process_test, the_stack_of_signal_handlers_has_a_guard) {
  if (!support::has_guard_pages()) GTEST_SKIP() << "this kernel does not have guard pages without mappings";
  sukima::runtime r(with_workers(1));
  std::thread([&] {
    r.run([] {
      stack_t now = {};
      ASSERT_EQ(sigaltstack(nullptr, &now), 0);
      const char* const begin = static_cast<const char*>(now.ss_sp);
      EXPECT_TRUE(support::can_be_read(begin));
      EXPECT_FALSE(support::can_be_read(begin - 1));
      EXPECT_FALSE(support::can_be_read(begin - 64 * 1024));
    });
  }).join();
}

TEST_F(process_death_test, overflow_by_too_many_pending_forks_names_the_setting) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::settings s = with_workers(1);
        s.choices = 64 * 1024;
        sukima::runtime r(s);
        r.run([](context c) { deep(c, 1'000'000); });
      },
      ExitedWithCode(70), "SUKIMA_CHOICES");
}

TEST_F(process_death_test, other_faults_are_what_they_were) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::runtime r(with_workers(2));
        r.run([] { std::raise(SIGSEGV); });
      },
      testing::KilledBySignal(SIGSEGV), "");
}

TEST_F(process_death_test, no_memory_for_a_fiber_is_an_exception_that_names_the_setting) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        limit_address_space(std::size_t{32} << 20);
        const std::string message =
            support::message_of<std::system_error>([&] { sukima::runtime r(with_workers(1)); });
        std::fputs(message.c_str(), stderr);
        _exit(message == "none" ? 1 : 0);
      },
      ExitedWithCode(0), "SUKIMA_STACK");
}

TEST_F(process_death_test, no_memory_for_a_fiber_ends_a_program_with_a_sentence) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        limit_address_space(std::size_t{32} << 20);
        []() noexcept { const sukima::runtime r(with_workers(1)); }();  // or GoogleTest catches it
      },
      ExitedWithCode(70), "^sukima: no address space for a fiber; make SUKIMA_STACK smaller");
}

// A thread that waits outside relies on a worker that has begun, and computes only with a fiber to spare.
TEST_F(process_death_test, no_memory_for_a_second_fiber_refuses_a_wait_for_a_future) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::settings s = with_workers(4);
        s.stack = std::size_t{64} << 20;
        limit_address_space(std::size_t{300} << 20);
        sukima::runtime r(s);
        const auto begun = r.run([] { return sukima::launch([](context c) { return fib(c, 20); }); });
        const std::string message = support::message_of<std::system_error>([&] { begun.touch(); });
        std::fputs(message.c_str(), stderr);
        _exit(r.workers_now() == 1 ? 0 : 1);
      },
      ExitedWithCode(0), "SUKIMA_STACK");
}

TEST_F(process_death_test, no_memory_for_more_fibers_means_fewer_workers) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::settings s = with_workers(4);
        s.stack = std::size_t{64} << 20;
        limit_address_space(std::size_t{450} << 20);
        sukima::runtime r(s);
        for (int i = 0; i < 20; ++i)
          if (r.run([](context c) { return fib(c, 22); }) != 17711) _exit(1);
        _exit(0);
      },
      ExitedWithCode(0), "");
}

#endif

#if !defined(__SANITIZE_THREAD__)

/// The status of a child process that f runs in.
template <class F> int status_of_child(F f) {
  const pid_t child = fork();
  if (child == 0) {
    give_up_after(500);
    f();
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(process_test, child_after_fork_has_a_default_runtime_of_its_own) {
  EXPECT_EQ(sukima::run([](context c) { return fib(c, 15); }), 610);
  EXPECT_EQ(status_of_child([] { _exit(sukima::run([](context c) { return fib(c, 15); }) == 610 ? 0 : 1); }),
            0);
  EXPECT_EQ(sukima::run([](context c) { return fib(c, 15); }), 610);
}

// LeakSanitizer, if it is there, checks the child, which still has the memory of its parent's runtimes.
TEST_F(process_test, child_after_fork_leaks_nothing) {
  auto two = std::make_unique<sukima::runtime>(with_workers(2));
  EXPECT_EQ(two->run([](context c) { return fib(c, 15); }), 610);
  EXPECT_EQ(sukima::run([](context c) { return fib(c, 15); }), 610);
  EXPECT_EQ(status_of_child([&] {
              two.reset();
              std::exit(sukima::run([](context c) { return fib(c, 15); }) == 610 ? 0 : 1);
            }),
            0);
}

TEST_F(process_test, child_after_fork_cannot_use_an_explicit_runtime_of_its_parent) {
  sukima::runtime two(with_workers(2));
  EXPECT_EQ(two.run([](context c) { return fib(c, 15); }), 610);
  EXPECT_EQ(status_of_child([&] {
              try {
                two.run([] {});
                _exit(1);
              } catch (const sukima::usage_error&) {
              }
              sukima::runtime own(with_workers(2));
              _exit(own.run([](context c) { return fib(c, 15); }) == 610 ? 0 : 2);
            }),
            0);
}

/// The lock of the number of workers may belong to a thread that does not exist in the child.
TEST_F(process_test, child_after_fork_cannot_change_the_number_of_its_parents_workers) {
  sukima::runtime two(with_workers(2));
  two.limit_workers(1);
  EXPECT_EQ(status_of_child([&] {
              const std::string message =
                  support::message_of<sukima::usage_error>([&] { two.limit_workers(0); });
              _exit(message.find("before fork()") != std::string::npos && two.workers_now() == 1 ? 0 : 1);
            }),
            0);
  two.limit_workers(0);
  EXPECT_EQ(two.workers_now(), 2U);
}

/// The same holds for the lock of the decisions.
TEST_F(process_test, child_after_fork_cannot_read_the_decisions_of_its_parents_runtime) {
  const sukima::runtime two(with_workers(2));
  EXPECT_EQ(status_of_child([&] {
              const std::string message =
                  support::message_of<sukima::usage_error>([&] { static_cast<void>(two.decisions()); });
              _exit(message.find("before fork()") != std::string::npos ? 0 : 1);
            }),
            0);
}

/// The same holds for the lock of the launched futures, and no worker of the child ends such a future.
TEST_F(process_test, child_after_fork_cannot_continue_after_a_future_of_its_parents_runtime) {
  sukima::runtime two(with_workers(2));
  std::atomic<bool> may_end{false};
  const auto f = two.run([&] { return sukima::launch([&] { may_end.wait(false); }); });
  const auto ended = two.run([] { return sukima::launch([] { return 3; }); });
  EXPECT_EQ(ended.touch(), 3);
  EXPECT_EQ(status_of_child([&] {
              const auto is_refused = [](const auto& call) {
                return support::message_of<sukima::usage_error>(call).find("before fork()") !=
                       std::string::npos;
              };
              const sukima::shared_future<void> all[] = {f};
              if (!is_refused([&] { static_cast<void>(f.then([] {})); })) _exit(1);
              if (!is_refused([&] { static_cast<void>(sukima::when_all(all)); })) _exit(2);
              if (!is_refused([&] { f.touch(); })) _exit(3);
              f.cancel();
              if (f.is_done()) _exit(4);
              _exit(ended.then([](int n) { return n + 1; }).touch() == 4 ? 0 : 5);
            }),
            0);
  may_end.store(true);
  may_end.notify_all();
  f.touch();
}

TEST_F(process_test, child_after_fork_ends_with_a_copy_of_a_runtime) {
  auto two = std::make_unique<sukima::runtime>(with_workers(2));
  two->run([](context c) { return fib(c, 15); });
  EXPECT_EQ(status_of_child([&] {
              two.reset();
              _exit(0);
            }),
            0);
}

TEST_F(process_test, child_that_needs_its_parents_workers_ends_with_an_error) {
  sukima::runtime two(with_workers(2));
  int status = -1;
  two.run([&](context c) {
    std::atomic<bool> stolen{false};
    std::atomic<bool> may_end{false};
    sukima::fork2(
        c,
        [&](context below) {
          EXPECT_TRUE(support::poll_until(below, [&] { return stolen.load(); }));
          const pid_t child = fork();
          if (child == 0) {
            give_up_after(500);
            return;  // to the join, for which the child process has no worker
          }
          int s = 0;
          waitpid(child, &s, 0);
          status = WIFEXITED(s) ? WEXITSTATUS(s) : 1000 + WTERMSIG(s);
          may_end = true;
        },
        [&] {
          stolen = true;
          EXPECT_TRUE(support::sleep_until([&] { return may_end.load(); }));
        });
  });
  EXPECT_EQ(status, 70);
}

TEST_F(process_test, child_may_leave_at_once_while_tasks_run) {
  sukima::runtime two(with_workers(2));
  two.run([&](context c) {
    sukima::fork2(
        c, [] { EXPECT_EQ(status_of_child([] { _exit(7); }), 7); }, [](context below) { fib(below, 15); });
  });
}

TEST_F(process_test, child_that_is_suspended_on_its_thread_ends_with_an_error) {
  sukima::runtime one(with_workers(1));
  int status = -1;
  one.run([&](context c) {
    status = status_of_child(
        [&] { sukima::thread_bound([&] { sukima::suspend(c, [](const sukima::resumer&) {}); }); });
  });
  EXPECT_EQ(status, 70);
}

#endif

TEST_F(process_death_test, exit_while_other_threads_compute_ends_the_process) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        std::atomic<bool> inside{false};
        std::thread other([&] {
          sukima::run([&](context c) {
            inside = true;
            for (;;) fib(c, 15);
          });
        });
        other.detach();
        support::sleep_until([&] { return inside.load(); });
        std::exit(3);
      },
      ExitedWithCode(3), "");
}

// Objects that exit() leaves behind in a task count as leaked.
#if !defined(SUKIMA_SANITIZED)

TEST_F(process_death_test, exit_in_a_task_ends_the_process) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        sukima::run(
            [](context c) { sukima::fork2(c, [](context below) { fib(below, 10); }, [] { std::exit(4); }); });
      },
      ExitedWithCode(4), "");
}

TEST_F(process_death_test, exit_in_a_task_of_a_static_runtime_ends_the_process) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        static sukima::runtime r(with_workers(2));
        r.run(
            [](context c) { sukima::fork2(c, [](context below) { fib(below, 10); }, [] { std::exit(5); }); });
      },
      ExitedWithCode(5), "");
}

TEST_F(process_death_test, exit_in_a_call_of_another_runtime_ends_the_process) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        static sukima::runtime outer(with_workers(2));
        static sukima::runtime inner(with_workers(2));
        outer.run([] {
          inner.run([](context c) {
            sukima::fork2(c, [](context below) { fib(below, 10); }, [] { std::exit(6); });
          });
        });
      },
      ExitedWithCode(6), "");
}

#endif

TEST_F(process_death_test, static_objects_may_compute_at_the_end) {
  EXPECT_EXIT(
      {
        give_up_after(500);
        struct computes_at_end {
          ~computes_at_end() {
            if (sukima::run([](context c) { return fib(c, 15); }) == 610) _exit(6);
          }
        };
        static const computes_at_end last;
        sukima::run([](context c) { return fib(c, 5); });
        std::exit(0);
      },
      ExitedWithCode(6), "");
}

}  // namespace

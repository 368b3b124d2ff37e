// SPDX-License-Identifier: Apache-2.0
// No address space for another fiber (mmap fails): fibers that exist go on, and no worker keeps one waiting.
#include "sleeping_thread.hpp"
#include "support.hpp"

#include <sukima/detail/executor.hpp>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <stop_token>
#include <thread>
#include <utility>

namespace {

/// Whether mappings as large as a fiber fail from now on.
std::atomic<bool> exhausted{false};
/// The thread whose refused mappings are counted, and how many there were.
std::atomic<pid_t> watched{0};
std::atomic<int> refused{0};

}  // namespace

// Replaces the C library's function.
extern "C" void* mmap(void* address, std::size_t size, int protection, int flags, int file,
                      off_t offset) noexcept {
  using type = void*(void*, std::size_t, int, int, int, off_t);
  static auto* const real = reinterpret_cast<type*>(dlsym(RTLD_NEXT, "mmap"));
  constexpr std::size_t smallest_refused = std::size_t{1} << 20;
  if (!exhausted || size < smallest_refused) return real(address, size, protection, flags, file, offset);
  if (watched == support::this_thread()) ++refused;
  errno = ENOMEM;
  return MAP_FAILED;
}

namespace {

using sukima::context;
using sukima::detail::bound_task;
using sukima::detail::executor;
using sukima::detail::fiber;

/// Each worker has a single fiber, which it made at its start.
class no_fiber : public testing::Test {
 protected:
  void SetUp() override {
    watched = 0;
    refused = 0;
  }
  void TearDown() override { exhausted = false; }
  const support::must_end test{"a computation without memory for another fiber"};
};

/// Runs `first` on this thread's worker, and `second` on the other worker.
template <class First, class Second> void on_two_workers(context c, First first, Second second) {
  std::atomic<bool> begun{false};
  sukima::fork2(
      c,
      [&](context below) {
        EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); }));
        first(below);
      },
      [&](context below) {
        begun = true;
        second(below);
      });
}

TEST_F(no_fiber, a_worker_at_home_continues_a_fiber_that_is_ready) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<pid_t> other{0};
  std::atomic<bool> ends{false};
  std::atomic<bool> ended{false};
  two.run([&](context c) {
    exhausted = true;
    on_two_workers(
        c,
        [&](context) {
          EXPECT_TRUE(support::sleep_until([&] { return other != 0; }));
          // The other worker hands its only fiber over and goes home.
          two.limit_workers(1);
          support::await_sleep_of(other);
          ends = true;
          two.limit_workers(0);
          EXPECT_TRUE(support::sleep_until([&] { return ended.load(); }));
        },
        [&](context below) {
          other = support::this_thread();
          EXPECT_TRUE(support::poll_until(below, [&] { return ends.load(); }));
          ended = true;
        });
  });
}

/// The fiber moves to the root's worker between the call of suspend and the wait.
TEST_F(no_fiber, a_suspension_that_waits_in_place_on_another_worker_is_cancelled) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<bool> waits{false};
  std::stop_source source;
  const pid_t root = support::this_thread();
  std::thread cancels([&] {
    EXPECT_TRUE(support::sleep_until([&] { return waits.load(); }));
    // A worker is brought in for the wait, and then the wait has no time limit any more.
    EXPECT_TRUE(support::sleep_until([&] { return two.workers_now() == 2; }));
    support::await_sleep_of(root);
    source.request_stop();
  });
  std::atomic<int> cancelled{0};
  two.run([&](context c) {
    exhausted = true;
    on_two_workers(
        c, [](context) {},
        [&](context below) {
          EXPECT_FALSE(sukima::cancellable(below, source.get_token(), [&](context within) {
            sukima::suspend(
                within,
                [&](sukima::resumer) {
                  two.limit_workers(1);
                  EXPECT_TRUE(support::poll_until(within, [&] { return support::this_thread() == root; }));
                  waits = true;
                },
                [&](sukima::resumer r) noexcept {
                  ++cancelled;
                  r.resume();
                });
          }));
        });
  });
  cancels.join();
  EXPECT_EQ(cancelled, 1);
}

/// A fiber of an executor that runs a function.
struct bound : bound_task {
  std::function<void(context)> f;
  std::function<void()> when_ended = [] {};
  explicit bound(std::function<void(context)> runs) : f(std::move(runs)) {
    run = [](sukima::detail::task* self, context c) { static_cast<bound*>(self)->f(c); };
    ended = [](bound_task* self) noexcept { static_cast<bound*>(self)->when_ended(); };
  }
};

/// Begins an executor with one ready fiber, and suspends the calling fiber until `resumes` was called.
void run_executor(context c, executor& home, fiber& first, bound& last) {
  home.make_ready(first);
  exhausted = true;
  sukima::suspend(c, [&](sukima::resumer me) {
    last.when_ended = [me] { me.resume(); };
    home.start();
  });
}

/// The call of the first fiber has the worker's only fiber, and waits for another worker. Meanwhile the
/// second fiber runs and ends.
TEST_F(no_fiber, a_bound_fiber_that_ends_lets_others_of_its_executor_go_on) {
  sukima::runtime three(support::with_workers(3));
  three.run([&](context c) {
    executor home(*sukima::detail::running_runtime(), executor::runs_on::workers);
    fiber* second = nullptr;
    bool passed = false;
    bound call([&](context) {
      sukima::run([&](context own) {
        on_two_workers(
            own, [&](context) { home.post(*second); },
            [&](context) { EXPECT_TRUE(support::sleep_until([&] { return refused != 0; })); });
      });
      passed = true;
    });
    bound ends([](context) { watched = support::this_thread(); });
    fiber& first = home.make_fiber(call, 0);
    second = &home.make_fiber(ends, 0);
    run_executor(c, home, first, call);
    EXPECT_TRUE(passed);
  });
}

/// The first fiber waits at a join, and its worker has no other fiber. So the worker continues one of another
/// executor, and must let go of the first fiber's executor before that.
TEST_F(no_fiber, a_bound_fiber_that_waits_at_a_join_is_continued) {
  sukima::runtime four(support::with_workers(4));
  four.run([&](context c) {
    sukima::detail::runtime_core& core = *sukima::detail::running_runtime();
    executor outer(core, executor::runs_on::workers);
    executor home(core, executor::runs_on::workers);
    executor beside(core, executor::runs_on::workers);
    std::atomic<bool> began{false};
    std::atomic<bool> passed{false};
    std::atomic<bool> other_ran{false};
    fiber* waits = nullptr;
    fiber* other = nullptr;
    const auto until = [](const std::atomic<bool>& event) {
      return [&event](context) { EXPECT_TRUE(support::sleep_until([&] { return event.load(); })); };
    };
    // The call takes the worker's own fiber, which then waits for a branch, too.
    bound calls([&](context) {
      sukima::run([&](context own) {
        on_two_workers(
            own,
            [&](context below) { on_two_workers(below, [&](context) { home.post(*waits); }, until(passed)); },
            until(began));
      });
    });
    bound joins([&](context own) {
      began = true;
      on_two_workers(
          own, [](context) {},
          [&](context below) {
            beside.post(*other);
            until(other_ran)(below);
          });
      passed = true;
    });
    bound runs([&](context) { other_ran = true; });
    fiber& first = outer.make_fiber(calls, 0);
    waits = &home.make_fiber(joins, 0);
    other = &beside.make_fiber(runs, 0);
    home.start();
    beside.start();
    run_executor(c, outer, first, calls);
    EXPECT_TRUE(passed);
  });
}

/// The end of a group has no way to fail, and only a worker that stands still could go on.
TEST_F(no_fiber, a_group_that_cannot_wait_ends_the_program_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(
      {
        ::alarm(500);
        sukima::runtime two(support::with_workers(2));
        two.run([&](context c) {
          exhausted = true;
          std::atomic<bool> suspended{false};
          sukima::task_group group(c);
          group.run(
              c, [&](context child) { sukima::suspend(child, [&](sukima::resumer) { suspended = true; }); });
          support::sleep_until([&] { return suspended.load(); });
        });
      },
      testing::ExitedWithCode(70), "^sukima: no address space for a fiber; make SUKIMA_STACK smaller");
}

}  // namespace

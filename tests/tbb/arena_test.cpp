// SPDX-License-Identifier: Apache-2.0
// Arenas, the limits of global_control, and observers.
#include <tbb/collaborative_call_once.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/task_scheduler_observer.h>

#include <sukima/future.hpp>
#include <sukima/runtime.hpp>
#include <sukima/suspend.hpp>

#include <gtest/gtest.h>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

TEST(arena, execute_returns_the_result_on_the_same_thread) {
  tbb::task_arena arena(3);
  EXPECT_EQ(arena.max_concurrency(), 3);
  const std::thread::id here = std::this_thread::get_id();
  EXPECT_EQ(arena.execute([&] {
    EXPECT_EQ(std::this_thread::get_id(), here);
    EXPECT_EQ(tbb::this_task_arena::max_concurrency(), 3);
    EXPECT_GE(tbb::this_task_arena::current_thread_index(), 0);
    return 42;
  }),
            42);
  EXPECT_THROW(arena.execute([] { throw std::runtime_error("mine"); }), std::runtime_error);
  EXPECT_TRUE(arena.is_active());
  arena.terminate();
  EXPECT_FALSE(arena.is_active());
}

TEST(arena, one_thread_more_at_most_than_it_has_workers) {
  tbb::task_arena arena(2);
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  arena.execute([&] {
    tbb::parallel_for(
        0, 200,
        [&](int) {
          const int now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::yield();
          --inside;
        },
        tbb::simple_partitioner());
  });
  // The thread that waits in execute() for longer than a patience has another worker run instead, which goes
  // at its next poll only.
  EXPECT_LE(most, 3);
}

TEST(arena, an_enqueued_task_runs_without_a_wait) {
  for (const int workers : {1, 2, 4}) {
    tbb::task_arena arena(workers);
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) arena.enqueue([&] { ++ran; });
    while (ran != 100) std::this_thread::yield();
  }
}

TEST(arena, a_task_of_a_group_runs_in_the_arena_where_it_was_enqueued) {
  tbb::task_arena arena(3);
  tbb::task_group group;
  std::atomic<int> workers{0};
  arena.enqueue(group.defer([&] { workers = tbb::this_task_arena::max_concurrency(); }));
  group.wait();
  EXPECT_EQ(workers, 3);
}

TEST(arena, an_attached_one_is_the_arena_of_the_caller) {
  tbb::task_arena arena(5);
  arena.execute([] {
    tbb::task_arena attached{tbb::task_arena::attach()};
    EXPECT_EQ(attached.max_concurrency(), 5);
    EXPECT_EQ(attached.execute([] { return 7; }), 7);
  });
}

TEST(arena, arenas_nest) {
  tbb::task_arena outer(2);
  tbb::task_arena inner(4);
  std::atomic<int> sum{0};
  outer.execute([&] {
    tbb::parallel_for(0, 8, [&](int) {
      inner.execute([&] {
        EXPECT_EQ(tbb::this_task_arena::max_concurrency(), 4);
        tbb::parallel_for(0, 10, [&](int i) { sum += i; });
      });
      EXPECT_EQ(tbb::this_task_arena::max_concurrency(), 2);
    });
  });
  EXPECT_EQ(sum, 8 * 45);
}

TEST(arena, more_workers_than_a_runtime_has_are_refused_in_words_of_tbb) {
  tbb::task_arena arena(5000);
  std::string text;
  try {
    arena.initialize();
  } catch (const sukima::bad_setting& e) {
    text = e.what();
  }
  EXPECT_EQ(
      text,
      "sukima: tbb::task_arena has at most 1024 workers, but the program requests 5000; give it a smaller "
      "max_concurrency, or tbb::task_arena::automatic");
}

TEST(arena, isolate_calls_its_function) {
  EXPECT_EQ(tbb::this_task_arena::isolate([] { return 5; }), 5);
}

/// A thread that waits in a task must not begin another task of the same loop.
TEST(arena, a_wait_runs_only_what_it_waits_for) {
  tbb::task_arena arena(3);
  arena.execute([] {
    std::mutex lock;
    std::set<std::thread::id> inside;
    tbb::parallel_for(
        0, 100,
        [&](int) {
          {
            const std::lock_guard hold(lock);
            EXPECT_TRUE(inside.insert(std::this_thread::get_id()).second);
          }
          tbb::this_task_arena::isolate([] {
            std::atomic<int> sum{0};
            tbb::parallel_for(0, 50, [&](int i) { sum += i; }, tbb::simple_partitioner());
            EXPECT_EQ(sum, 49 * 25);
          });
          const std::lock_guard hold(lock);
          inside.erase(std::this_thread::get_id());
        },
        tbb::simple_partitioner());
  });
}

TEST(control, the_strictest_limit_counts) {
  using control = tbb::global_control;
  const std::size_t before = control::active_value(control::max_allowed_parallelism);
  EXPECT_EQ(before, static_cast<std::size_t>(tbb::info::default_concurrency()));
  {
    const control four(control::max_allowed_parallelism, 4);
    const control one(control::max_allowed_parallelism, 1);
    EXPECT_EQ(control::active_value(control::max_allowed_parallelism), 1u);
    std::atomic<int> sum{0};
    tbb::parallel_for(0, 100, [&](int i) { sum += i; });
    EXPECT_EQ(sum, 4950);
  }
  EXPECT_EQ(control::active_value(control::max_allowed_parallelism), before);
  const control stack(control::thread_stack_size, std::size_t{16} << 20);
  EXPECT_EQ(control::active_value(control::thread_stack_size), std::size_t{16} << 20);
}

TEST(control, a_limit_above_all_numbers_of_workers_limits_nothing) {
  sukima::detail::tbb::arena& four = sukima::detail::tbb::controls().take_arena(4);
  {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, (std::size_t{1} << 32) + 1);
    EXPECT_EQ(four.on().workers_now(), 4u);
  }
  sukima::detail::tbb::controls().give_back(four);
}

TEST(control, a_handle_is_given_up) {
  tbb::task_scheduler_handle handle{tbb::attach{}};
  EXPECT_TRUE(handle);
  EXPECT_TRUE(tbb::finalize(handle, std::nothrow));
  EXPECT_FALSE(handle);
  tbb::parallel_for(0, 1, [](int) {
    tbb::task_scheduler_handle inside{tbb::attach{}};
    EXPECT_THROW(tbb::finalize(inside), tbb::unsafe_wait);
  });
}

TEST(control_death_test, an_exception_ends_the_program_if_that_is_set) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_DEATH(
      {
        const tbb::global_control ends(tbb::global_control::terminate_on_exception, 1);
        tbb::parallel_for(0, 10, [](int) { throw std::runtime_error("mine"); });
      },
      "");
}

/// The same where the headers themselves throw.
TEST(control_death_test, wrong_use_ends_the_program_if_that_is_set) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(
      {
        const tbb::global_control ends(tbb::global_control::terminate_on_exception, 1);
        std::set_terminate([] { std::_Exit(7); });
        try {
          tbb::parallel_for(0, 1, -1, [](int) {});
        } catch (const std::invalid_argument&) {
          std::_Exit(0);
        }
      },
      testing::ExitedWithCode(7), "");
}

class counting_observer : public tbb::task_scheduler_observer {
 public:
  explicit counting_observer(tbb::task_arena& of) : tbb::task_scheduler_observer(of) { observe(); }
  ~counting_observer() override { observe(false); }
  void on_scheduler_entry(bool) override { ++entries; }
  void on_scheduler_exit(bool) override { ++exits; }
  std::atomic<int> entries{0};
  std::atomic<int> exits{0};
};

TEST(observer, sees_threads_that_enter_and_leave) {
  tbb::task_arena arena(2);
  counting_observer observer(arena);
  EXPECT_TRUE(observer.is_observing());
  arena.execute([&] {
    EXPECT_GE(observer.entries, 1);
    tbb::parallel_for(0, 100, [&](int) { EXPECT_GE(observer.entries, 1); });
  });
  observer.observe(false);
  EXPECT_EQ(observer.entries, observer.exits);
  const int seen = observer.entries;
  arena.execute([] {});
  EXPECT_EQ(observer.entries, seen);
}

TEST(call_once, calls_once) {
  tbb::collaborative_once_flag flag;
  std::atomic<int> calls{0};
  tbb::parallel_for(0, 100, [&](int) {
    tbb::collaborative_call_once(flag, [&] { ++calls; });
    EXPECT_EQ(calls, 1);
  });
}

TEST(call_once, keeps_its_function_on_the_callers_thread) {
  sukima::settings settings;
  settings.workers = 3;
  settings.elastic = false;
  sukima::runtime runtime(settings);
  const auto this_thread = [] { return syscall(SYS_gettid); };
  // A worker that is free while the function waits takes one of two other tasks, and is busy until the end.
  for (int round = 0; round < 50; ++round)
    runtime.run([&] {
      tbb::collaborative_once_flag flag;
      std::atomic<bool> ended{false};
      const long here = this_thread();
      tbb::collaborative_call_once(flag, [&] {
        sukima::suspend([&](sukima::resumer resume) {
          const auto begun = std::make_shared<std::atomic<int>>(0);
          for (int other = 0; other < 2; ++other)
            static_cast<void>(sukima::launch([&, begun, resume] {
              const bool is_on_callers_thread = this_thread() == here;
              if (++*begun == 2) resume.resume();
              while (is_on_callers_thread && !ended) std::this_thread::yield();
            }));
        });
        ended = true;
      });
      EXPECT_EQ(this_thread(), here);
    });
}

}  // namespace

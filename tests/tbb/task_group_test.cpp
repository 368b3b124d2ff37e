// SPDX-License-Identifier: Apache-2.0
// tbb::task_group: running, deferring and waiting, from workers and from threads of the program.
#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  long b = 0;
  tbb::task_group group;
  group.run([&a, n] { a = fib(n - 1); });
  EXPECT_EQ(group.run_and_wait([&b, n] { b = fib(n - 2); }), tbb::complete);
  return a + b;
}

TEST(task_group, recursion) {
  for (const int workers : {1, 2, 4}) {
    tbb::task_arena arena(workers);
    EXPECT_EQ(arena.execute([] { return fib(12); }), 144);
  }
}

TEST(task_group, tasks_run_without_a_wait) {
  tbb::task_group group;
  std::atomic<bool> ran{false};
  group.run([&] { ran = true; });
  while (!ran) std::this_thread::yield();
  EXPECT_EQ(group.wait(), tbb::complete);
}

TEST(task_group, a_task_may_add_tasks) {
  tbb::task_group group;
  std::atomic<int> ran{0};
  for (int i = 0; i < 10; ++i)
    group.run([&] {
      for (int j = 0; j < 10; ++j)
        group.run([&] {
          ++ran;
          group.run([&] { ++ran; });
        });
    });
  group.wait();
  EXPECT_EQ(ran, 200);
}

/// oneTBB waits for ever there.
TEST(task_group, a_task_that_waits_for_its_own_group_is_refused) {
  const auto is_refused = [](tbb::task_group& group) {
    try {
      group.wait();
    } catch (const sukima::usage_error& e) {
      return std::string(e.what()).find("which would wait for itself") != std::string::npos;
    }
    return false;
  };
  for (const int workers : {1, 2, 4}) {
    tbb::task_arena arena(workers);
    arena.execute([&] {
      tbb::task_group group;
      std::atomic<int> ran{0};
      group.run([&] {
        for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
        EXPECT_TRUE(is_refused(group));
      });
      group.run([&] { tbb::parallel_for(0, 100, [&](int) { EXPECT_TRUE(is_refused(group)); }); });
      group.run([&] {
        tbb::task_group inner;
        inner.run_and_wait([&] {
          EXPECT_TRUE(is_refused(inner));
          EXPECT_TRUE(is_refused(group));
        });
      });
      EXPECT_EQ(group.run_and_wait([&] { EXPECT_TRUE(is_refused(group)); }), tbb::complete);
      EXPECT_EQ(ran, 10);
      group.run([&] { group.wait(); });
      EXPECT_THROW(group.wait(), sukima::usage_error);
    });
  }
}

TEST(task_group, any_thread_may_add_and_wait) {
  tbb::task_group group;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) group.run([&] { ++ran; });
      group.wait();
    });
  for (std::thread& each : threads) each.join();
  group.wait();
  EXPECT_EQ(ran, 2000);
}

TEST(task_group, a_group_is_used_again) {
  tbb::task_group group;
  int ran = 0;
  for (int i = 0; i < 100; ++i) {
    group.run([&] { ++ran; });
    EXPECT_EQ(group.wait(), tbb::complete);
  }
  EXPECT_EQ(ran, 100);
}

TEST(task_group, an_exception_leaves_the_wait) {
  tbb::task_group group;
  group.run([] { throw std::runtime_error("mine"); });
  EXPECT_THROW(group.wait(), std::runtime_error);
  std::atomic<int> ran{0};
  group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(), tbb::complete);
  EXPECT_EQ(ran, 1);
}

TEST(task_group, a_cancelled_group_drops_what_has_not_begun) {
  tbb::task_group group;
  std::atomic<bool> began{false};
  std::atomic<int> ran{0};
  group.run([&] {
    began = true;
    while (!tbb::is_current_task_group_canceling()) std::this_thread::yield();
  });
  while (!began) std::this_thread::yield();
  group.cancel();
  for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(), tbb::canceled);
  EXPECT_EQ(ran, 0);
  group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(), tbb::complete);
  EXPECT_EQ(ran, 1);
}

TEST(task_group, its_destructor_reports_a_missing_wait) {
  const auto forget = [] {
    tbb::task_group group;
    std::atomic<bool> began{false};
    group.run([&] {
      began = true;
      while (!tbb::is_current_task_group_canceling()) std::this_thread::yield();
    });
    while (!began) std::this_thread::yield();
  };
  EXPECT_THROW(forget(), tbb::missing_wait);
}

TEST(task_group, a_deferred_task_waits_for_its_run) {
  tbb::task_group group;
  std::atomic<int> ran{0};
  tbb::task_handle task = group.defer([&] { ++ran; });
  EXPECT_TRUE(task);
  EXPECT_EQ(ran, 0);
  group.run(std::move(task));
  EXPECT_TRUE(task == nullptr);
  group.wait();
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(group.run_and_wait(group.defer([&] { ++ran; })), tbb::complete);
  EXPECT_EQ(ran, 2);
}

/// Counts the calls of each of its operators.
struct counts_calls {
  std::atomic<int>* as_const;
  std::atomic<int>* as_mutable;
  void operator()() const { ++*as_const; }
  void operator()() { ++*as_mutable; }
};

TEST(task_group, functions_are_called_as_const) {
  std::atomic<int> as_const{0};
  std::atomic<int> as_mutable{0};
  counts_calls f{&as_const, &as_mutable};
  tbb::task_group group;
  group.run(f);
  group.run(group.defer(f));
  group.run_and_wait(f);
  EXPECT_EQ(as_const, 3);
  tbb::parallel_invoke(f, f, f);
  EXPECT_EQ(as_const, 6);
  tbb::task_arena arena(1);
  arena.enqueue(f);
  tbb::this_task_arena::enqueue(f);
  while (as_const + as_mutable < 8) std::this_thread::yield();
  EXPECT_EQ(as_mutable, 0);
}

TEST(task_group, a_wait_waits_for_a_deferred_task) {
  tbb::task_group group;
  tbb::task_handle task = group.defer([] {});
  std::atomic<bool> waited{false};
  std::thread other([&] {
    group.wait();
    waited = true;
  });
  std::thread dropper([&] {
    EXPECT_FALSE(waited);
    task = tbb::task_handle();
  });
  other.join();
  dropper.join();
  EXPECT_TRUE(waited);
}

TEST(task_group, a_task_is_destroyed_before_the_wait_ends) {
  const auto counted = std::make_shared<int>(0);
  tbb::task_group group;
  for (int i = 0; i < 50; ++i) group.run([counted] {});
  group.wait();
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(task_group, a_task_may_return_the_next_one) {
  tbb::task_group group;
  std::atomic<int> ran{0};
  group.run([&] {
    ++ran;
    return group.defer([&] { ++ran; });
  });
  group.wait();
  EXPECT_EQ(ran, 2);
}

TEST(task_group, loops_wait_for_groups) {
  std::atomic<int> ran{0};
  tbb::parallel_for(0, 50, [&](int) {
    tbb::task_group group;
    for (int i = 0; i < 10; ++i) group.run([&] { ++ran; });
    group.wait();
  });
  EXPECT_EQ(ran, 500);
}

TEST(task_group, many_suspended_tasks_do_not_keep_the_workers) {
  constexpr std::size_t tasks = 1000;
  std::mutex lock;
  std::vector<tbb::task::suspend_point> suspended;
  std::atomic<int> resumed{0};
  std::thread resumer([&] {
    for (;;) {
      const std::lock_guard hold(lock);
      if (suspended.size() == tasks) break;
    }
    for (const auto& each : suspended) tbb::task::resume(each);
  });
  tbb::parallel_for(
      std::size_t{0}, tasks,
      [&](std::size_t) {
        tbb::task::suspend([&](tbb::task::suspend_point point) {
          const std::lock_guard hold(lock);
          suspended.push_back(point);
        });
        ++resumed;
      },
      tbb::simple_partitioner());
  resumer.join();
  EXPECT_EQ(resumed, static_cast<int>(tasks));
}

/// As a pointer, which it is in oneTBB.
TEST(task_group, a_suspend_point_may_be_null) {
  tbb::task::suspend_point point = nullptr;
  EXPECT_TRUE(point == nullptr);
  EXPECT_FALSE(point);
  tbb::task::suspend([&](tbb::task::suspend_point mine) {
    EXPECT_TRUE(mine != nullptr);
    point = mine;
    tbb::task::resume(mine);
  });
  EXPECT_TRUE(point);
}

TEST(task_group, a_thread_outside_all_tasks_can_suspend_itself) {
  const std::thread::id here = std::this_thread::get_id();
  std::thread resumer;
  bool suspended = false;
  tbb::task::suspend([&](tbb::task::suspend_point point) {
    suspended = true;
    resumer = std::thread([point] { tbb::task::resume(point); });
  });
  resumer.join();
  EXPECT_TRUE(suspended);
  EXPECT_EQ(std::this_thread::get_id(), here);
  EXPECT_THROW(tbb::task::suspend([](tbb::task::suspend_point) { throw std::runtime_error("mine"); }),
               std::runtime_error);
}

/// The loop around the group's first use was cancelled. That does not concern what the group runs later.
TEST(task_group, can_be_used_after_the_loop_around_it_was_cancelled) {
  tbb::task_group group;
  EXPECT_THROW(tbb::parallel_for(0, 1,
                                 [&](int) {
                                   group.run([] {});
                                   group.wait();
                                   throw std::runtime_error("loop");
                                 }),
               std::runtime_error);
  group.run([] {});
  group.wait();  // the cancellation of the loop ends here at the latest
  int ran = 0;
  group.run([&] { ++ran; });
  EXPECT_EQ(group.wait(), tbb::task_group_status::complete);
  EXPECT_EQ(ran, 1);
}

/// Its task ends only when the group is cancelled, so the destructor must do that.
TEST(task_group, is_cancelled_by_an_exception_that_passes_it) {
  EXPECT_THROW(
      {
        tbb::task_group group;
        group.run([] {
          while (!tbb::is_current_task_group_canceling()) std::this_thread::yield();
        });
        throw std::runtime_error("passes");
      },
      std::runtime_error);
}

}  // namespace

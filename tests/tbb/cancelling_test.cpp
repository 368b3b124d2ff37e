// SPDX-License-Identifier: Apache-2.0
// Exceptions and cancelling in the algorithms of the TBB headers.
#include <tbb/parallel_for.h>
#include <tbb/parallel_for_each.h>
#include <tbb/parallel_invoke.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/parallel_reduce.h>
#include <tbb/parallel_scan.h>
#include <tbb/parallel_sort.h>
#include <tbb/task.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <sukima/sukima.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cfenv>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

struct mine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class F> void expect_mine(F f) {
  EXPECT_THROW(f(), mine);
  tbb::task_arena arena(4);
  EXPECT_THROW(arena.execute(f), mine);
}

TEST(exceptions, leave_each_algorithm) {
  expect_mine([] {
    tbb::parallel_for(0, 1000, [](int i) {
      if (i == 500) throw mine("for");
    });
  });
  expect_mine([] {
    tbb::parallel_reduce(
        tbb::blocked_range<int>(0, 1000), 0,
        [](const tbb::blocked_range<int>& part, int before) {
          if (part.end() == 1000) throw mine("reduce");
          return before;
        },
        std::plus<>());
  });
  expect_mine([] {
    tbb::parallel_scan(
        tbb::blocked_range<int>(0, 1000), 0,
        [](const tbb::blocked_range<int>& part, int before, bool) {
          if (part.end() == 1000) throw mine("scan");
          return before;
        },
        std::plus<>());
  });
  expect_mine([] {
    const std::vector<int> items(100);
    tbb::parallel_for_each(items, [](int, tbb::feeder<int>& feeder) {
      feeder.add(1);
      throw mine("for_each");
    });
  });
  expect_mine([] { tbb::parallel_invoke([] {}, [] { throw mine("invoke"); }); });
  expect_mine([] {
    tbb::parallel_pipeline(4, tbb::make_filter<void, int>(tbb::filter_mode::serial_in_order,
                                                          [](tbb::flow_control&) { return 1; }) &
                                  tbb::make_filter<int, void>(tbb::filter_mode::serial_in_order,
                                                              [](int) { throw mine("pipeline"); }));
  });
  expect_mine([] {
    std::vector<int> items(5000);
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = static_cast<int>(i * 7919 % 5003);
    tbb::parallel_sort(items, [](int a, int b) -> bool {
      if (a == 77 || b == 77) throw mine("sort");
      return a < b;
    });
  });
}

/// Between the nested algorithm and the end of the body, code runs as in TBB.
TEST(exceptions, cancel_nested_algorithms_without_an_exception_there) {
  std::atomic<bool> nested_began{false};
  std::atomic<bool> thrown{false};
  std::atomic<bool> reached_end{false};
  tbb::task_arena arena(2);
  EXPECT_THROW(arena.execute([&] {
    tbb::parallel_invoke(
        [&] {
          tbb::parallel_for(0, 1 << 30, [&](int) {
            nested_began = true;
            if (thrown) std::this_thread::yield();
          });
          reached_end = true;
          EXPECT_TRUE(tbb::is_current_task_group_canceling());
        },
        [&] {
          while (!nested_began) std::this_thread::yield();
          thrown = true;
          throw mine("outer");
        });
  }),
               mine);
  EXPECT_TRUE(reached_end);
}

TEST(cancelling, a_context_ends_its_loop) {
  tbb::task_group_context context;
  std::atomic<int> calls{0};
  tbb::parallel_for(
      0, 1 << 30,
      [&](int) {
        ++calls;
        EXPECT_EQ(tbb::task::current_context(), &context);
        tbb::task::current_context()->cancel_group_execution();
      },
      context);
  EXPECT_TRUE(context.is_group_execution_cancelled());
  EXPECT_GE(calls, 1);
  tbb::parallel_for(0, 100, [&](int) { ADD_FAILURE() << "a cancelled context runs nothing"; }, context);
  context.reset();
  EXPECT_FALSE(context.is_group_execution_cancelled());
  std::atomic<int> again{0};
  tbb::parallel_for(0, 100, [&](int) { ++again; }, context);
  EXPECT_EQ(again, 100);
}

TEST(cancelling, one_call_only_has_cancelled) {
  tbb::task_group_context context;
  EXPECT_TRUE(context.cancel_group_execution());
  EXPECT_FALSE(context.cancel_group_execution());
}

TEST(cancelling, a_bound_context_is_cancelled_with_the_one_around_it) {
  tbb::task_group_context outer;
  tbb::task_group_context inner;
  tbb::task_group_context apart(tbb::task_group_context::isolated);
  tbb::parallel_for(
      0, 1,
      [&](int) {
        tbb::parallel_for(0, 1, [](int) {}, inner);
        tbb::parallel_for(0, 1, [](int) {}, apart);
        outer.cancel_group_execution();
        EXPECT_TRUE(inner.is_group_execution_cancelled());
        EXPECT_FALSE(apart.is_group_execution_cancelled());
      },
      outer);
}

TEST(cancelling, tasks_have_the_floating_point_settings_of_their_context) {
  const int before = std::fegetround();
  std::fesetround(FE_UPWARD);
  tbb::task_group_context upward(tbb::task_group_context::bound, tbb::task_group_context::default_traits |
                                                                     tbb::task_group_context::fp_settings);
  std::fesetround(before);
  tbb::parallel_for(0, 100, [](int) { EXPECT_EQ(std::fegetround(), FE_UPWARD); }, upward);
  EXPECT_EQ(std::fegetround(), before);
}

/// An abort of Sukima must not pass through a program that does not know of it.
TEST(cancelling, an_abort_takes_effect_after_the_algorithm) {
  int sum = 0;
  sukima::run([&](sukima::context c) {
    EXPECT_FALSE(sukima::cancellable(c, [&](sukima::context below, const sukima::canceller& cancel) {
      cancel.cancel();
      sum = tbb::parallel_reduce(
          tbb::blocked_range<int>(0, 1000), 0,
          [](const tbb::blocked_range<int>& part, int before) {
            return before + static_cast<int>(part.size());
          },
          std::plus<>());
      for (;;) sukima::fork2(below, [] {}, [] {});
    }));
  });
  EXPECT_EQ(sum, 1000);
}

}  // namespace

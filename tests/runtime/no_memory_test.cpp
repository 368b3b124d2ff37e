// SPDX-License-Identifier: Apache-2.0
// `new` fails: the computation gives the right result or throws std::bad_alloc, and the runtime works
// afterwards. Each allocation of a small run fails in turn.
#include "support.hpp"

#include <sukima/detail/executor.hpp>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace {

/// Which allocations fail.
enum class failing { none, one, all_from_one_on, every_third };
std::atomic<failing> which{failing::none};
/// How many succeed before one fails.
std::atomic<long> left{0};
/// … and how many have failed.
std::atomic<long> failed{0};

/// Allocations of the test's own do not fail: those of this thread, now.
thread_local bool spared = false;

bool fails() noexcept {
  if (spared || which == failing::none) return false;
  const long rest = left.fetch_sub(1);
  const bool now = which == failing::one               ? rest == 0
                   : which == failing::all_from_one_on ? rest <= 0
                                                       : rest % 3 == 0;
  if (now) ++failed;
  return now;
}

}  // namespace

void* operator new(std::size_t size) {
  if (!fails())
    if (void* const p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
// Not inlined, or g++ warns that what `new` has made goes to free().
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace {

using sukima::context;

struct spare {
  spare() { spared = true; }
  ~spare() { spared = false; }
  spare(const spare&) = delete;
  spare& operator=(const spare&) = delete;
};

/// Runs `compute(runtime)` again and again, each time with a later allocation failing.
/// \param compute  returns whether its result is right
template <class Compute> void fail_each_allocation(Compute compute) {
  for (const failing how : {failing::one, failing::all_from_one_on, failing::every_third}) {
    sukima::runtime four(support::with_workers(4));
    long all_failed = 0;
    // Allocations that only a thief causes are tried until one has come.
    for (long i = 0; i < 100 || all_failed == 0; ++i) {
      const long k = i % 100;
      failed = 0;
      left = k;
      which = how;
      try {
        EXPECT_TRUE(compute(four)) << "allocation " << k;
      } catch (const std::bad_alloc&) {
      } catch (const std::system_error&) {  // no fiber
      }
      which = failing::none;
      all_failed += failed;
      EXPECT_EQ(four.run([](context c) { return support::fib(c, 15); }), 610) << "after allocation " << k;
    }
  }
}

TEST(no_memory, for_forks) {
  fail_each_allocation(
      [](sukima::runtime& r) { return r.run([](context c) { return support::fib(c, 17); }) == 1597; });
}

TEST(no_memory, for_a_loop) {
  fail_each_allocation([](sukima::runtime& r) {
    std::atomic<long> n{0};
    r.run([&](context c) { sukima::parallel_for(c, 0, 20'000, [&](int) { ++n; }); });
    return n == 20'000;
  });
}

TEST(no_memory, for_a_scan) {
  const std::vector<int> in(20'000, 1);
  std::vector<int> out(in.size());
  fail_each_allocation([&](sukima::runtime& r) {
    r.run([&](context c) { sukima::parallel_scan(c, in, out.begin()); });
    return out.back() == 20'000;
  });
}

TEST(no_memory, for_a_group) {
  fail_each_allocation([](sukima::runtime& r) {
    std::atomic<long> n{0};
    int added = 0;
    r.run([&](context c) {
      sukima::task_group group(c);
      for (int i = 0; i < 100; ++i) {
        try {
          group.run(c, [&] { ++n; });
          ++added;
        } catch (const std::bad_alloc&) {
        }
      }
      group.wait(c);
    });
    return n == added;
  });
}

/// How many more futures a thread can launch without an allocation.
std::size_t launches_without_memory(std::vector<sukima::shared_future<int>>& all) {
  all.clear();
  failed = 0;
  left = 0;
  which = failing::all_from_one_on;
  try {
    while (all.size() < all.capacity()) all.push_back(sukima::launch([] { return 1; }));
  } catch (const std::bad_alloc&) {
  }
  which = failing::none;
  return all.size();
}

/// A thread keeps the memory of futures that have ended for its next launches, but not without a bound.
TEST(no_memory, for_launches_is_needed_after_others_have_ended) {
  sukima::runtime one(support::with_workers(1));
  one.run([](context c) {
    constexpr std::size_t few = 64;
    constexpr std::size_t many = 20'000;
    for (const std::size_t count : {few, many}) {
      std::vector<sukima::shared_future<int>> all(many);
      for (std::size_t i = 0; i < count; ++i) all[i] = sukima::launch([] { return 1; });
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(all[i].touch(c), 1);
      const std::size_t again = launches_without_memory(all);
      EXPECT_GE(again, few);
      EXPECT_LT(again, many / 10);
      for (const auto& f : all) EXPECT_EQ(f.touch(c), 1);
    }
  });
}

TEST(no_memory, for_suspensions) {
  fail_each_allocation([](sukima::runtime& r) {
    std::atomic<long> n{0};
    r.run([&](context c) {
      sukima::parallel_for(c, 0, 20, [&](context d, int) {
        std::thread resumes;
        sukima::suspend(d, [&](sukima::resumer s) {
          const spare these;
          resumes = std::thread([s] { s.resume(); });
        });
        resumes.join();
        ++n;
      });
    });
    return n == 20;
  });
}

/// A thread that serves an executor starts the monitor. Without memory for that there is none.
TEST(no_memory, for_the_monitor_of_a_thread_that_serves) {
  using sukima::detail::executor;
  struct bound : sukima::detail::bound_task {
    bool ran = false;
  } only;
  only.run = [](sukima::detail::task* self, context) {
    which = failing::none;
    static_cast<bound*>(self)->ran = true;
  };
  sukima::runtime one(support::with_workers(1));
  one.run([&] {
    executor home(*sukima::detail::running_runtime(), executor::runs_on::thread);
    home.make_ready(home.make_fiber(only, 0));
    failed = 0;
    left = 0;
    which = failing::all_from_one_on;
    try {
      home.serve();
    } catch (const std::bad_alloc&) {
      ADD_FAILURE() << "the monitor is not needed";
    }
    which = failing::none;
    EXPECT_GT(failed, 0);
  });
  EXPECT_TRUE(only.ran);
}

struct workspace {
  std::vector<int> taken = std::vector<int>(6);
};

long walk(context c, workspace& w, const std::vector<int>& choices, int depth) {
  if (depth == 0) return 1;
  return sukima::search(
      c, w, choices, [](workspace& v, int i) { ++v.taken[static_cast<unsigned>(i)]; },
      [](workspace& v, int i) { --v.taken[static_cast<unsigned>(i)]; },
      [&choices, depth](context d, workspace& v, int) { return walk(d, v, choices, depth - 1); },
      std::plus<>{});
}

TEST(no_memory, for_a_search) {
  const std::vector<int> choices{0, 1, 2, 3, 4, 5};
  fail_each_allocation([&](sukima::runtime& r) {
    workspace w = [] {
      const spare this_one;
      return workspace();
    }();
    return r.run([&](context c) { return walk(c, w, choices, 5); }) == 7776;
  });
}

/// Copied without an allocation: all allocations are for thieves, and a worker without memory for one
/// continues.
struct plain_workspace {
  int taken = 0;
};

long walk_plainly(context c, plain_workspace& w, const std::vector<int>& choices, int depth) {
  if (depth == 0) return 1;
  return sukima::search(
      c, w, choices, [](plain_workspace& v, int) { ++v.taken; }, [](plain_workspace& v, int) { --v.taken; },
      [&choices, depth](context d, plain_workspace& v, int) {
        return walk_plainly(d, v, choices, depth - 1);
      },
      std::plus<>{});
}

TEST(no_memory, to_give_a_part_of_a_search_away_does_not_fail_the_search) {
  const std::vector<int> choices{0, 1, 2, 3, 4, 5};
  for (const failing how : {failing::one, failing::all_from_one_on, failing::every_third}) {
    sukima::runtime four(support::with_workers(4));
    long all_failed = 0;
    for (long i = 0; i < 100 || all_failed == 0; ++i) {
      failed = 0;
      left = i % 100;
      which = how;
      plain_workspace w;
      std::exception_ptr thrown;
      long found = 0;
      try {
        found = four.run([&](context c) { return walk_plainly(c, w, choices, 5); });
      } catch (...) {
        thrown = std::current_exception();
      }
      which = failing::none;
      all_failed += failed;
      EXPECT_FALSE(thrown) << "allocation " << i % 100;
      EXPECT_EQ(found, thrown ? 0 : 7776) << "allocation " << i % 100;
    }
  }
}

}  // namespace

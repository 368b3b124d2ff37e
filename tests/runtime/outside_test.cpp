// SPDX-License-Identifier: Apache-2.0
// Futures that are touched outside their runtime: on ordinary threads, and by fibers of another runtime.
#include "support.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::shared_future;
using support::fib;
using support::sleep_until;

class touched_outside : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, touched_outside, support::worker_counts(), support::name_of_count);

/// One future has begun and ends only after an unrelated one, which waits. Another worker must compute that.
TEST_P(touched_outside, runs_nothing_on_the_thread_that_waits) {
  if (GetParam() == 1) return;  // a future that has begun needs a worker beside the thread that launches
  std::atomic<bool> begun{false};
  std::atomic<bool> may_end{false};
  shared_future<int> first;
  std::vector<shared_future<pid_t>> unrelated;
  runtime.run([&](context c) {
    first = sukima::launch([&] {
      begun = true;
      while (!may_end) std::this_thread::yield();
      return 1;
    });
    EXPECT_TRUE(support::poll_until(c, [&] { return begun.load(); }));
    for (unsigned i = 0; i < 3 * GetParam(); ++i)
      unrelated.push_back(sukima::launch([&, last = 3 * GetParam() - 1, i] {
        if (i == last) may_end = true;
        return support::this_thread();
      }));
  });
  EXPECT_EQ(first.touch(), 1);
  for (const auto& one : unrelated) EXPECT_NE(one.touch(), support::this_thread());
}

TEST_P(touched_outside, are_computed_by_some_worker) {
  const support::must_end within("a future that only an ordinary thread touches");
  for (int i = 0; i < 20; ++i) {
    const auto inner = [](context c) {
      const auto below = sukima::launch([](context b) { return fib(b, 10); });
      return below.touch(c);
    };
    const auto made = runtime.run([&] {
      return sukima::launch([inner](context c) { return std::pair(inner(c), support::this_thread()); });
    });
    EXPECT_EQ(made.touch().first, 55);
    // Background workers may have begun it before the touch; the thread that touches never does.
    EXPECT_NE(made.touch().second, support::this_thread());
  }
  EXPECT_EQ(runtime.workers_now(), GetParam());
}

TEST_P(touched_outside, are_computed_where_all_workers_are_surplus) {
  const support::must_end within("a future of a runtime whose workers are limited to one");
  for (int i = 0; i < 20; ++i) {
    runtime.limit_workers(1);
    const auto made = runtime.run([] { return sukima::launch([](context c) { return fib(c, 10); }); });
    EXPECT_EQ(made.touch(), 55);
    EXPECT_EQ(runtime.workers_now(), 1U);
    runtime.limit_workers(0);
  }
}

TEST_P(touched_outside, are_computed_where_workers_sleep) {
  const support::must_end within("a future of a runtime that was silent");
  shared_future<long> made;
  for (int i = 0; i < 3; ++i) {
    made = runtime.run([] { return sukima::launch([](context c) { return fib(c, 10); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // so that workers sleep; no verdict
    EXPECT_EQ(made.touch(), 55);
  }
}

/// Threads that wait for a future at the same time as others compute it inside.
TEST_P(touched_outside, serve_many_threads) {
  const support::must_end within("futures that many threads touch");
  std::vector<shared_future<long>> all;
  runtime.run([&] {
    for (int i = 0; i < 50; ++i) all.push_back(sukima::launch([](context c) { return fib(c, 12); }));
  });
  std::vector<std::thread> threads;
  std::atomic<long> sum{0};
  for (int k = 0; k < 6; ++k)
    threads.emplace_back([&, k] {
      if (k == 0)
        runtime.run([&](context c) {
          for (const auto& one : all) sum += one.touch(c);
        });
      else
        for (const auto& one : all) sum += one.touch();
    });
  for (auto& one : threads) one.join();
  EXPECT_EQ(sum, 6 * 50 * 144);
}

TEST_P(touched_outside, throw_what_the_expression_throws) {
  const auto fails =
      runtime.run([] { return sukima::launch([]() -> int { throw support::test_error(3); }); });
  EXPECT_THROW(fails.touch(), support::test_error);
  const auto stopped =
      runtime.run([] { return sukima::launch([](context c) { support::fork_for_ever(c); }); });
  std::thread waits([&] { EXPECT_THROW(stopped.touch(), sukima::cancelled); });
  stopped.cancel();
  waits.join();
}

TEST_P(touched_outside, help_on_request) {
  if (GetParam() != 1) return;  // another worker may be first
  const auto made = runtime.run([] { return sukima::launch([] { return support::this_thread(); }); });
  EXPECT_EQ(made.touch(sukima::helping), support::this_thread());
}

/// No handle is left, so the worker that has computed the future destroys the result.
TEST_P(touched_outside, results_without_a_handle_may_compute_in_their_destructor) {
  if (GetParam() == 1) return;  // no worker would compute it
  struct computes_at_end {
    std::atomic<long>* sum;
    explicit computes_at_end(std::atomic<long>& s) noexcept : sum(&s) {}
    computes_at_end(computes_at_end&& from) noexcept : sum(std::exchange(from.sum, nullptr)) {}
    computes_at_end& operator=(computes_at_end&&) = delete;
    ~computes_at_end() {
      if (sum != nullptr) sukima::parallel_for(0, 100, [s = sum](int) { ++*s; });
    }
  };
  std::atomic<long> sum{0};
  std::atomic<bool> is_dropped{false};
  runtime.run([&] {
    static_cast<void>(sukima::launch([&] {
      while (!is_dropped) std::this_thread::yield();
      return computes_at_end(sum);
    }));
  });
  is_dropped = true;
  EXPECT_TRUE(sleep_until([&] { return sum == 100; }));
}

/// The end of the runtime cancels what a thread waits for.
TEST(touched_outside_at_the_end, are_cancelled) {
  for (const unsigned workers : {1U, 3U}) {
    sukima::runtime runtime(support::with_workers(workers));
    std::atomic<bool> begun{false};
    const auto never = runtime.run([&] {
      return sukima::launch([&](context c) {
        begun = true;
        support::fork_for_ever(c);
      });
    });
    std::thread waits([&] { EXPECT_THROW(never.touch(), sukima::cancelled); });
    EXPECT_TRUE(sleep_until([&] { return begun.load(); }));
    runtime.shutdown();
    waits.join();
  }
}

/// A touch gives the future to the workers, but it is cancelled before one of them can begin it.
TEST(touched_outside_at_the_end, have_no_captures_left) {
  std::atomic<bool> starts{false};
  std::atomic<bool> may_start{false};
  sukima::settings chosen = support::with_workers(1);
  chosen.on_worker_start = [&](int) {
    starts = true;
    while (!may_start) std::this_thread::yield();
  };
  sukima::runtime runtime(chosen);
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> captured = token;
  const auto made = runtime.run([&] { return sukima::launch([kept = std::move(token)] {}); });
  std::thread waits([&] { EXPECT_THROW(made.touch(), sukima::cancelled); });
  EXPECT_TRUE(sleep_until([&] { return starts.load(); }));
  made.cancel();
  waits.join();
  may_start = true;
  runtime.shutdown();
  EXPECT_TRUE(captured.expired());
}

/// The fiber is suspended: its worker computes what the future of the other runtime waits for.
TEST(touched_in_another_runtime, suspend_the_fiber) {
  const support::must_end within("a future that a fiber of another runtime touches");
  for (const unsigned workers : {1U, 2U}) {
    sukima::runtime owner(support::with_workers(workers));
    sukima::runtime other(support::with_workers(1));
    std::atomic<bool> computed{false};
    const auto waits_for_it = owner.run([&] {
      return sukima::launch([&] {
        while (!computed) std::this_thread::yield();
        return 5;
      });
    });
    other.run([&](context c) {
      static_cast<void>(sukima::launch([&] { computed = true; }));
      EXPECT_EQ(waits_for_it.touch(c), 5);
    });
    EXPECT_EQ(owner.workers_now(), workers);
  }
}

TEST(touched_in_another_runtime, leave_when_their_caller_is_aborted) {
  sukima::runtime owner(support::with_workers(1));
  sukima::runtime other(support::with_workers(2));
  std::atomic<bool> begun{false};
  const auto never = owner.run([&] {
    return sukima::launch([&](context c) {
      begun = true;
      support::fork_for_ever(c);
    });
  });
  const bool ended = other.run([&](context c) {
    return static_cast<bool>(sukima::cancellable(c, [&](context b, const sukima::canceller& cancel) {
      std::thread cancels([&] {
        EXPECT_TRUE(sleep_until([&] { return begun.load(); }));
        cancel.cancel();
      });
      struct joins {
        std::thread& t;
        ~joins() { t.join(); }
      } const at_end{cancels};
      never.touch(b);
      return 1;
    }));
  });
  EXPECT_FALSE(ended);
  never.cancel();
}

/// One usable CPU, so an elastic runtime has no worker but the thread that enters.
TEST(touched_outside_with_one_cpu, are_computed) {
  const support::must_end within("a future where one CPU is usable");
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) {
      CPU_SET(cpu, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    sukima::settings s;
    s.workers = 4;
    s.elastic = true;
    sukima::runtime runtime(s);
    EXPECT_EQ(runtime.workers_now(), 1U);
    for (int i = 0; i < 20; ++i) {
      const auto made = runtime.run([] { return sukima::launch([](context c) { return fib(c, 10); }); });
      EXPECT_EQ(made.touch(), 55);
      EXPECT_EQ(runtime.workers_now(), 1U);
    }
  }
  sched_setaffinity(0, sizeof before, &before);
}

#if !defined(SUKIMA_SANITIZED)
TEST(touched_outside_after_fork, are_refused_in_the_child) {
  sukima::runtime runtime(support::with_workers(2));
  const auto made = runtime.run([] {
    return sukima::launch([](context c) {
      sukima::suspend(c, [](sukima::resumer) {}, [](sukima::resumer r) noexcept { r.resume(); });
    });
  });
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      made.touch();
    } catch (const sukima::usage_error&) {
      ::_exit(7);
    }
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}
#endif

}  // namespace

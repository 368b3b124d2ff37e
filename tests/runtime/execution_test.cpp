// SPDX-License-Identifier: Apache-2.0
// Senders, the pool's scheduler, futures, coroutines.
#include "support.hpp"

#include <sukima/execution.hpp>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace ex = sukima::execution;
using sukima::context;

/// The value that a sender sends. \throws if it sends none
template <class S> auto value_of(S&& s) {
  auto result = ex::sync_wait(std::forward<S>(s));
  if (!result) throw std::logic_error("it was stopped");
  return std::get<0>(std::move(*result));
}

class execution_test : public support::runtimes {
 protected:
  /// Its thread leaves the runtime only after the last result is there: it ends before the check at rest.
  void TearDown() override {
    owned_.reset();
    runtimes::TearDown();
  }

 private:
  std::unique_ptr<ex::pool> owned_ = std::make_unique<ex::pool>(runtime);

 protected:
  ex::pool& pool = *owned_;
  ex::scheduler on = pool.get_scheduler();
};
INSTANTIATE_TEST_SUITE_P(workers, execution_test, support::worker_counts(), support::name_of_count);

TEST_P(execution_test, schedules_work_on_workers) {
  EXPECT_GE(value_of(ex::schedule(on) | ex::then([] { return sukima::worker_id(); })), 0);
  EXPECT_EQ(value_of(ex::just(20) | ex::then([](int x) { return std::to_string(x + 1); })), "21");
  const std::optional<std::tuple<>> nothing = ex::sync_wait(ex::schedule(on) | ex::then([] {}));
  EXPECT_TRUE(nothing.has_value());
  EXPECT_EQ(on, pool.get_scheduler());
}

TEST_P(execution_test, scheduled_work_may_fork) {
  const long sum = value_of(
      ex::schedule(on) | ex::then([] { return sukima::run([](context c) { return support::fib(c, 18); }); }));
  EXPECT_EQ(sum, 2584);
}

TEST_P(execution_test, hands_on_errors_and_the_end_by_cancelling) {
  const auto throws = [] { throw support::test_error(7); };
  EXPECT_EQ(support::message_of([&] { ex::sync_wait(ex::schedule(on) | ex::then(throws)); }), "error 7");
  bool reached = false;
  EXPECT_EQ(support::message_of([&] {
              ex::sync_wait(ex::schedule(on) | ex::then(throws) | ex::then([&] { reached = true; }));
            }),
            "error 7");
  EXPECT_FALSE(reached);
  EXPECT_FALSE(ex::sync_wait(ex::schedule(on) | ex::then([] { throw sukima::aborted{}; })).has_value());
}

/// Receivers of the user's own: connect and start.
TEST_P(execution_test, connects_to_receivers) {
  struct receiver {
    std::atomic<int>* got;
    void set_value(int x) noexcept { *got = x; }
    void set_error(const std::exception_ptr&) noexcept { *got = -1; }
    void set_stopped() noexcept { *got = -2; }
  };
  std::atomic<int> got{0};
  auto operation = ex::connect(ex::schedule(on) | ex::then([] { return 5; }), receiver{&got});
  EXPECT_EQ(got, 0);
  ex::start(operation);
  EXPECT_TRUE(support::sleep_until([&] { return got.load() == 5; }));
}

TEST_P(execution_test, futures) {
  std::vector<ex::future<int>> all;
  for (int i = 0; i < 2000; ++i) all.push_back(ex::async(on, [i] { return i; }));
  long sum = 0;
  for (auto& f : all) sum += std::move(f).get();
  EXPECT_EQ(sum, 2000L * 1999 / 2);

  auto failed = ex::async(on, []() -> int { throw support::test_error(3); });
  EXPECT_EQ(support::message_of([&] { std::move(failed).get(); }), "error 3");
  auto ended = ex::async(on, [] {});
  EXPECT_TRUE(support::sleep_until([&] { return ended.is_ready(); }));
  std::move(ended).get();
  auto kept = ex::async(on, [] { return std::make_unique<int>(4); });
  EXPECT_EQ(*std::move(kept).get(), 4);
  std::atomic<bool> ran{false};
  {
    const auto dropped = ex::async(on, [&] { ran = true; });
  }
  EXPECT_TRUE(support::sleep_until([&] { return ran.load(); }));
}

/// On a worker a future's get suspends the fiber: even one worker gets to the work that it waits for.
TEST_P(execution_test, fibers_wait_for_futures) {
  const int sum = runtime.run([&](context c) {
    return sukima::parallel_reduce(
        c, 0, 100, 0, [&](int i) { return ex::async(on, [i] { return i; }).get(); }, std::plus{});
  });
  EXPECT_EQ(sum, 4950);
  const int nested = value_of(
      ex::schedule(on) | ex::then([&] { return value_of(ex::schedule(on) | ex::then([] { return 8; })); }));
  EXPECT_EQ(nested, 8);
}

TEST_P(execution_test, work_comes_from_many_threads) {
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 300; ++i) {
        auto f = ex::async(on, [&] { ++ran; });
        if (i % 7 == 0) std::move(f).get();
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_TRUE(support::sleep_until([&] { return ran.load() == 1200; }));
}

ex::task<int> squares(ex::scheduler on, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += co_await (ex::schedule(on) | ex::then([i] { return i * i; }));
  co_return sum;
}
ex::task<std::string> text_of(ex::scheduler on, int n) {
  const int before = sukima::worker_id();
  EXPECT_EQ(before, -1);
  const int sum = co_await squares(on, n);
  EXPECT_GE(sukima::worker_id(), 0);
  auto [a, b] = sukima::fork2([&] { return sum; }, [] { return 1; });
  co_return std::to_string(a + b);
}
ex::task<> fails(ex::scheduler on) {
  co_await ex::schedule(on);
  throw support::test_error(9);
}
ex::task<int> catches(ex::scheduler on) {
  try {
    co_await fails(on);
  } catch (const support::test_error& e) {
    co_return e.number;
  }
  co_return 0;
}

TEST_P(execution_test, coroutines_await_senders_and_coroutines) {
  EXPECT_EQ(value_of(text_of(on, 10)), "286");
  EXPECT_EQ(value_of(catches(on)), 9);
  EXPECT_EQ(support::message_of([&] { ex::sync_wait(fails(on)); }), "error 9");
  {
    const auto never_begun = squares(on, 3);
  }
}

/// Waits in several ways before its first co_await.
ex::task<int> waits_before_it_awaits(ex::scheduler on) {
  int sum = ex::async(on, [] { return 1; }).get();
  sum += value_of(ex::schedule(on) | ex::then([] { return 2; }));
  sum += value_of(ex::just(4));
  sum += sukima::run([](context c) {
    const auto f = sukima::launch([] { return 8; });
    int children = 0;
    sukima::task_group group(c);
    group.run([&] { children = 16; });
    group.wait(c);
    return f.touch(c) + children;
  });
  co_return sum + co_await ex::just(32);
}

TEST_P(execution_test, coroutines_may_wait_before_they_await) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(value_of(waits_before_it_awaits(on)), 63);
    EXPECT_EQ(runtime.run([&] { return value_of(waits_before_it_awaits(on)); }), 63);
    EXPECT_EQ(value_of(ex::just(0) | ex::then([&](int) { return value_of(ex::just(5)); })), 5);
  }
}

/// The function that is passed to suspend must not wait, and so must not begin anything to wait for.
TEST_P(execution_test, a_wait_that_is_refused_starts_nothing) {
  bool started = false;
  EXPECT_THROW(runtime.run([&] {
    sukima::suspend(
        [&](sukima::resumer) { ex::sync_wait(ex::just(1) | ex::then([&](int) { started = true; })); });
  }),
               sukima::usage_error);
  EXPECT_FALSE(started);
}

ex::task<int> awaits_futures(ex::scheduler on) {
  auto a = ex::async(on, [] { return 1; });
  auto b = ex::async(on, [] { return 2; });
  auto inner = ex::ensure_started(squares(on, 4));
  const int early = co_await std::move(a);
  const int late = co_await std::move(b);
  co_return early + late + co_await std::move(inner);
}

TEST_P(execution_test, coroutines_await_futures) {
  for (int round = 0; round < 50; ++round) EXPECT_EQ(value_of(awaits_futures(on)), 17);
}

ex::task<> adds(ex::scheduler on, std::atomic<int>& sum, ex::counting_scope& scope, int depth) {
  co_await ex::schedule(on);
  ++sum;
  if (depth > 0)
    for (int i = 0; i < 2; ++i) scope.spawn(adds(on, sum, scope, depth - 1));
}
ex::task<int> adds_all(ex::scheduler on) {
  std::atomic<int> sum{0};
  ex::counting_scope scope;
  co_await scope.join();  // nothing yet
  scope.spawn(adds(on, sum, scope, 6));
  scope.spawn(ex::schedule(on) | ex::then([&] { return ++sum; }));
  co_await scope.join();
  EXPECT_EQ(sum, 128);
  scope.spawn(ex::just(1));
  co_await scope.join();
  co_return sum;
}
ex::task<> one_fails(ex::scheduler on, std::atomic<int>& ran) {
  ex::counting_scope scope;
  for (int i = 0; i < 20; ++i)
    scope.spawn(ex::schedule(on) | ex::then([&ran, i] {
                  ++ran;
                  if (i == 7) throw support::test_error(i);
                }));
  co_await scope.join();
}

TEST_P(execution_test, coroutines_await_many) {
  for (int round = 0; round < 20; ++round) EXPECT_EQ(value_of(adds_all(on)), 128);
  std::atomic<int> ran{0};
  EXPECT_EQ(support::message_of([&] { ex::sync_wait(one_fails(on, ran)); }), "error 7");
  EXPECT_EQ(ran, 20);
}

[[gnu::noinline]] const void* depth() { return __builtin_frame_address(0); }
/// At how many depths of the stack it runs while it awaits what ends at once.
ex::task<std::size_t> awaits_at_depths() {
  std::set<const void*> found{depth()};
  ex::counting_scope scope;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(co_await (ex::just(i) | ex::then([](int v) { return v + 1; })), i + 1);
    found.insert(depth());
    EXPECT_EQ(co_await ex::ensure_started(ex::just(i)), i);
    found.insert(depth());
    scope.spawn(ex::just(i));
    co_await scope.join();
    found.insert(depth());
    bool failed = false;
    try {
      co_await (ex::just(i) | ex::then([](int v) { throw support::test_error(v); }));
    } catch (const support::test_error& e) {
      failed = e.number == i;
    }
    EXPECT_TRUE(failed);
    found.insert(depth());
  }
  co_return found.size();
}

/// Otherwise a loop overflows the stack.
TEST(execution, coroutines_await_what_ends_at_once_at_one_depth) {
  EXPECT_EQ(value_of(awaits_at_depths()), 1U);
}

/// The captures of a spawned operation are destroyed before the scope ends.
TEST_P(execution_test, scopes_end_after_their_spawned_work_is_destroyed) {
  struct guard {
    explicit guard(std::atomic<int>& count) : left(&count) { ++*left; }
    guard(guard&& other) noexcept : left(std::exchange(other.left, nullptr)) {}
    guard& operator=(guard&&) = delete;
    ~guard() {
      if (left == nullptr) return;
      std::this_thread::yield();  // a thread that waits for the scope may run now
      --*left;
    }
    std::atomic<int>* left;
  };
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> left{0};
    ex::counting_scope scope;
    for (int i = 0; i < 4; ++i) scope.spawn(ex::schedule(on) | ex::then([g = guard(left)] {}));
    ex::sync_wait(scope.join());
    EXPECT_EQ(left, 0);
  }
}

/// A coroutine type of another library, which knows nothing of senders.
struct fire_and_forget {
  struct promise_type {
    static fire_and_forget get_return_object() noexcept { return {}; }
    static std::suspend_never initial_suspend() noexcept { return {}; }
    static std::suspend_never final_suspend() noexcept { return {}; }
    static void return_void() noexcept {}
    static void unhandled_exception() noexcept { std::terminate(); }
  };
};
fire_and_forget foreign(ex::scheduler on, std::atomic<int>& result) {
  co_await ex::schedule(on);
  result = co_await ex::async(on, [] { return 6; });
}

TEST_P(execution_test, foreign_coroutines_await_senders) {
  std::atomic<int> result{0};
  foreign(on, result);
  EXPECT_TRUE(support::sleep_until([&] { return result.load() == 6; }));
}

TEST(execution, a_pool_waits_for_its_work) {
  std::atomic<int> ran{0};
  sukima::runtime two(support::with_workers(2));
  {
    ex::pool pool(two);
    for (int i = 0; i < 500; ++i) static_cast<void>(ex::async(pool.get_scheduler(), [&] { ++ran; }));
  }
  EXPECT_EQ(ran, 500);
}

TEST(execution, an_idle_pool_keeps_no_runtime_busy) {
  sukima::runtime two(support::with_workers(2));
  ex::pool pool(two);
  ex::sync_wait(ex::schedule(pool.get_scheduler()));
  EXPECT_EQ(two.run([] { return 3; }), 3);
}

}  // namespace

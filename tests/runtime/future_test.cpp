// SPDX-License-Identifier: Apache-2.0
// Futures of blocks and launched ones: which fiber computes them, which fibers wait, exceptions, cancelling,
// and their ends.
#include "support.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::future;
using sukima::shared_future;
using support::counted;
using support::fib;
using support::poll_until;

class futures : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, futures, support::worker_counts(), support::name_of_count);

TEST_P(futures, are_computed_when_they_are_touched) {
  runtime.run([](context c) {
    future f(c, [](context b) { return fib(b, 15); });
    static_assert(std::is_same_v<decltype(f), future<long>>);
    EXPECT_EQ(f.touch(c), 610);
    EXPECT_EQ(&f.touch(c), &f.touch(c));
    EXPECT_TRUE(f.is_done());
  });
  EXPECT_EQ(runtime.run([] {
    future f([] { return 20; });
    future g([] { return 22; });
    return f.touch() + g.touch();
  }),
            42);
}

TEST_P(futures, have_any_type_of_result) {
  runtime.run([](context c) {
    int n = 0;
    future<void> nothing(c, [&] { ++n; });
    future<int&> reference(c, [&]() -> int& { return n; });
    future<const std::string> text(c, [] { return std::string(100, 'x'); });
    future<std::unique_ptr<int>> moved(c,
                                       [own = std::make_unique<int>(7)]() mutable { return std::move(own); });
    EXPECT_EQ(*moved.touch(c), 7);
    nothing.touch(c);
    EXPECT_EQ(&reference.touch(c), &n);
    EXPECT_EQ(text.touch(c).size(), 100u);
    EXPECT_EQ(n, 1);
  });
}

TEST_P(futures, are_computed_once_whether_touched_or_not) {
  std::array<std::atomic<int>, 64> computed{};
  runtime.run([&](context c) {
    for (unsigned i = 0; i < computed.size(); ++i) {
      future<void> f(c, [&, i](context b) {
        fib(b, 10);
        ++computed[i];
      });
      fib(c, 8);
      if (i % 3 == 0) f.touch(c);
      if (i % 5 == 0) f.touch(c);
    }
  });
  for (const auto& one : computed) EXPECT_EQ(one, 1);
}

/// In any order: with an old one that another worker computes younger ones are pending.
long sum_of(context c, int n, int order) {
  if (n < 2) return n;
  future f(c, [=](context b) { return sum_of(b, n - 1, order / 2); });
  future g(c, [=](context b) { return sum_of(b, n - 2, order / 3); });
  future h(c, [=](context b) { return sum_of(b, n - 3, order / 5); });
  if (order % 2 == 0) return f.touch(c) + g.touch(c) + 0 * h.touch(c);
  if (order % 3 == 0) return h.touch(c) * 0 + g.touch(c) + f.touch(c);
  return g.touch(c) + f.touch(c);
}

TEST_P(futures, are_touched_in_any_order) {
  for (const int order : {0, 1, 2, 30, 31, 77, 1000, 4095})
    EXPECT_EQ(runtime.run([=](context c) { return sum_of(c, 15, order); }), 610) << order;
}

TEST_P(futures, wait_for_each_other) {
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(runtime.run([](context c) {
      future f(c, [](context b) { return fib(b, 5); });
      std::atomic<future<long>*> last{nullptr};
      future g(c, [&](context b) { return f.touch(b) + 1; });
      future h(c, [&](context b) {
        EXPECT_TRUE(poll_until(b, [&] { return last.load() != nullptr; }));
        return last.load()->touch(b) + g.touch(b) + f.touch(b);
      });
      future k(c, [&](context b) { return g.touch(b) + fib(b, 4); });
      last = &k;
      return h.touch(c);
    }),
              20);
}

/// The owner waits for an old one, which touches a younger one that has not been split off.
TEST(futures_of_two_workers, are_split_off_while_their_fiber_waits) {
  sukima::runtime two(support::with_workers(2));
  two.run([](context c) {
    std::atomic<bool> begun{false};
    std::atomic<future<long>*> younger{nullptr};
    future older(c, [&](context b) {
      begun = true;
      EXPECT_TRUE(poll_until(b, [&] { return younger.load() != nullptr; }));
      // The other worker takes nothing from here before its fiber waits.
      std::atomic<bool> taken{false};
      const int own = sukima::worker_id();
      sukima::fork2(
          b, [&](context d) { EXPECT_TRUE(poll_until(d, [&] { return taken.load(); })); },
          [&] { taken = sukima::worker_id() != own; });
      return younger.load()->touch(b);
    });
    EXPECT_TRUE(poll_until(c, [&] { return begun.load(); }));
    for (int i = 0; i < 20; ++i) sukima::fork2(c, [] {}, [] {});
    future last(c, [](context b) { return fib(b, 10); });
    younger = &last;
    EXPECT_EQ(older.touch(c), 55);
  });
}

TEST_P(futures, are_touched_by_any_fiber_in_their_block) {
  for (int i = 0; i < 50; ++i)
    runtime.run([](context c) {
      std::atomic<long> sum{0};
      future f(c, [](context b) { return fib(b, 10); });
      sukima::parallel_for(c, 0, 20, [&](context b, int) { sum += f.touch(b); });
      EXPECT_EQ(sum, 20 * 55);
      future g(c, [](context b) { return fib(b, 9); });
      sukima::task_group group(c);
      for (int k = 0; k < 20; ++k) group.run([&] { sum += g.touch(); });
      EXPECT_TRUE(group.wait(c));
      EXPECT_EQ(sum, 20 * (55 + 34));
    });
}

/// A child that the group's own fiber runs hides the future from others that the child waits for.
TEST_P(futures, are_not_hidden_by_children_of_groups) {
  for (int i = 0; i < 50; ++i)
    runtime.run([](context c) {
      future f(c, [](context b) { return fib(b, 8); });
      sukima::task_group group(c);
      group.run([&](context b) {
        const auto other = sukima::launch([&](context d) { return f.touch(d); });
        EXPECT_EQ(other.touch(b), 21);
      });
      EXPECT_TRUE(group.wait(c));
    });
}

TEST_P(futures, throw_to_each_toucher_and_abort_no_other_task) {
  runtime.run([](context c) {
    future<int> f(c, []() -> int { throw support::test_error(3); });
    std::atomic<int> caught{0};
    std::atomic<int> finished{0};
    sukima::parallel_for(c, 0, 10, [&](context b, int i) {
      try {
        if (i % 2 == 0) f.touch(b);
      } catch (const support::test_error& e) {
        EXPECT_EQ(e.number, 3);
        ++caught;
      }
      fib(b, 8);
      ++finished;
    });
    EXPECT_EQ(caught, 5);
    EXPECT_EQ(finished, 10);
    EXPECT_THROW(f.touch(c), support::test_error);
    // It is never touched: its exception is lost with it.
    const future<void> dropped(c, [](context b) {
      fib(b, 10);
      throw support::test_error(4);
    });
    EXPECT_EQ(fib(c, 12), 144);
  });
}

TEST_P(futures, end_with_blocks_that_are_left) {
  for (int i = 0; i < 100; ++i) {
    counted::reset();
    EXPECT_THROW(runtime.run([&](context c) {
      std::atomic<bool> begun{false};
      future<void> cancelled(c, [&, own = counted()](context b) {
        begun = true;
        support::fork_for_ever(b);
      });
      future<counted> perhaps(c,
                              [own = counted()](context b) { return counted(static_cast<int>(fib(b, 9))); });
      if (runtime.workers() > 1 && i % 2 == 0) {
        EXPECT_TRUE(poll_until(c, [&] { return begun.load(); }));
      }
      throw support::test_error(1);
    }),
                 support::test_error);
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(counted::errors(), 0);
  }
}

TEST_P(futures, end_with_computations_that_are_aborted) {
  for (int i = 0; i < 100; ++i) {
    counted::reset();
    const bool returned = runtime.run([&](context c) {
      return static_cast<bool>(sukima::cancellable(c, [&](context b, const sukima::canceller& cancel) {
        std::atomic<int> inside{0};
        future<void> one(b, [&, own = counted()](context d) {
          ++inside;
          support::fork_for_ever(d);
        });
        future<void> other(b, [&, own = counted()](context d) {
          cancel.cancel();
          one.touch(d);
        });
        other.touch(b);
        return 1;
      }));
    });
    EXPECT_FALSE(returned);
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(counted::errors(), 0);
  }
}

TEST_P(futures, may_be_cancelled) {
  for (int i = 0; i < 50; ++i)
    runtime.run([&](context c) {
      std::atomic<bool> begun{false};
      future<void> runs(c, [&](context b) {
        begun = true;
        support::fork_for_ever(b);
      });
      if (runtime.workers() > 1) {
        EXPECT_TRUE(poll_until(c, [&] { return begun.load(); }));
      }
      runs.cancel();
      EXPECT_THROW(runs.touch(c), sukima::cancelled);
      future<int> done(c, [] { return 1; });
      EXPECT_EQ(done.touch(c), 1);
      done.cancel();
      EXPECT_EQ(done.touch(c), 1);
    });
}

/// The cancellation wakes their waiters.
TEST_P(futures, that_are_cancelled_wake_their_waiters) {
  if (GetParam() < 4) return;  // needs workers that wait
  runtime.run([&](context c) {
    std::atomic<int> waiting{0};
    std::atomic<bool> begun{false};
    future<void> runs(c, [&](context b) {
      begun = true;
      support::fork_for_ever(b);
    });
    EXPECT_TRUE(poll_until(c, [&] { return begun.load(); }));
    future<int> one(c, [&](context b) {
      ++waiting;
      EXPECT_THROW(runs.touch(b), sukima::cancelled);
      return 1;
    });
    EXPECT_TRUE(poll_until(c, [&] { return waiting == 1; }));
    runs.cancel();
    EXPECT_EQ(one.touch(c), 1);
  });
}

void wait_without_polls(const std::atomic<bool>& happened) {
  while (!happened.load()) std::this_thread::yield();
}

/// The launched one is not a part of the block's forks, so the limit of the fiber that computes the future
/// does not show it.
TEST(futures_of_two_workers, wake_launched_ones_that_touch_them) {
  sukima::runtime two(support::with_workers(2));
  two.run([](context c) {
    for (int i = 0; i < 300; ++i) {
      std::atomic<bool> comes{false};
      future f(c, [&comes, i] {
        wait_without_polls(comes);
        return i;
      });
      const auto outside = sukima::launch([&](context b) {
        comes = true;
        return f.touch(b);
      });
      EXPECT_EQ(f.touch(c), i);
      EXPECT_EQ(outside.touch(c), i);
    }
  });
}

TEST_P(futures, may_be_cancelled_by_a_thread_while_their_own_fiber_computes_them) {
  runtime.run([](context c) {
    std::atomic<bool> has_begun{false};
    std::atomic<bool> is_cancelled{false};
    future f(c, [&] {
      has_begun = true;
      wait_without_polls(is_cancelled);
      return 7;
    });
    std::thread other([&] {
      wait_without_polls(has_begun);
      f.cancel();
      EXPECT_TRUE(f.is_done());
      is_cancelled = true;
    });
    EXPECT_THROW(f.touch(c), sukima::cancelled);
    other.join();
    EXPECT_THROW(f.touch(c), sukima::cancelled);
  });
}

TEST_P(futures, do_not_wait_for_themselves) {
  runtime.run([&](context c) {
    std::atomic<future<int>*> self{nullptr};
    future<int> f(c, [&](context b) {
      EXPECT_TRUE(poll_until(b, [&] { return self.load() != nullptr; }));
      return self.load()->touch(b);
    });
    self = &f;
    EXPECT_THROW(f.touch(c), sukima::usage_error);
    // On another worker, and in what the expression has split off.
    std::atomic<bool> begun{false};
    std::atomic<future<void>*> other{nullptr};
    future<void> g(c, [&](context b) {
      begun = true;
      EXPECT_TRUE(poll_until(b, [&] { return other.load() != nullptr; }));
      sukima::parallel_for(b, 0, 10, [&](context d, int) {
        EXPECT_EQ(support::message_of<sukima::usage_error>([&] { other.load()->touch(d); }),
                  "sukima: a future was touched in its own expression, which would wait for itself; touch it "
                  "elsewhere");
      });
    });
    other = &g;
    if (runtime.workers() > 1) {
      EXPECT_TRUE(poll_until(c, [&] { return begun.load(); }));
      g.touch(c);
    } else {
      g.cancel();
    }
  });
}

/// Runs an expression in the fiber that makes its future. An idle worker may take the future first: then the
/// next attempt follows.
template <class Expression, class End> void in_its_own_fiber(context c, Expression expression, End end) {
  for (bool ran_here = false; !ran_here;) {
    std::atomic<future<void>*> self{nullptr};
    const pid_t here = support::this_thread();
    future<void> f(c, [&](context b) {
      ran_here = support::this_thread() == here;
      if (ran_here) expression(b, *self.load());
    });
    self = &f;
    end(f, c);
  }
}
void expect_touch_of_itself(context c, future<void>& f) {
  EXPECT_EQ(support::message_of<sukima::usage_error>([&] { f.touch(c); }),
            "sukima: a future was touched in its own expression, which would wait for itself; touch it "
            "elsewhere");
}

TEST_P(futures, do_not_wait_for_themselves_in_what_others_take) {
  if (GetParam() == 1) return;  // no other worker takes a part
  const auto in_a_branch = [](context b, future<void>& self) {
    std::atomic<bool> taken{false};
    sukima::fork2(
        b, [&](context d) { EXPECT_TRUE(poll_until(d, [&] { return taken.load(); })); },
        [&](context d) {
          taken = true;
          expect_touch_of_itself(d, self);
        });
  };
  const auto in_a_child = [](context b, future<void>& self) {
    std::atomic<bool> taken{false};
    sukima::task_group group(b);
    group.run([&](context d) {
      taken = true;
      expect_touch_of_itself(d, self);
    });
    EXPECT_TRUE(poll_until(b, [&] { return taken.load(); }));
    group.wait(b);
  };
  const auto in_a_call = [](context, future<void>& self) {
    sukima::run([&](context d) { expect_touch_of_itself(d, self); });
  };
  const auto touch = [](future<void>& f, context c) { f.touch(c); };
  const auto leave = [](future<void>&, context) {};
  runtime.run([&](context c) {
    const std::function<void(context, future<void>&)> parts[]{in_a_branch, in_a_child, in_a_call};
    for (const auto& part : parts) {
      in_its_own_fiber(c, part, touch);
      in_its_own_fiber(c, part, leave);
    }
  });
}

/// Such a branch is older than the expression.
TEST_P(futures, are_touched_by_the_other_branch_while_their_own_fiber_computes_them) {
  if (GetParam() == 1) return;  // the branch must begin while the future is computed
  runtime.run([](context c) {
    std::atomic<bool> begun{false};
    std::atomic<bool> touches{false};
    future<int> f(c, [&](context b) {
      begun = true;
      EXPECT_TRUE(poll_until(b, [&] { return touches.load(); }));
      return 3;
    });
    const auto [first, second] = sukima::fork2(
        c, [&](context b) { return f.touch(b); },
        [&](context b) {
          touches = true;
          return f.touch(b);
        });
    EXPECT_EQ(first + second, 6);
  });
}

TEST_P(futures, need_the_context_of_their_function) {
  runtime.run([](context c) {
    EXPECT_THROW(static_cast<void>(future<int>([] { return 1; })), sukima::usage_error);
    future<int> f(c, [] { return 2; });
    if (GetParam() == 1) {  // another worker could have run it, and then there is nothing to do
      EXPECT_THROW(f.touch(), sukima::usage_error);
    }
    // A call without a context runs on a fiber of its own, while the caller's waits, so no worker could split
    // it off.
    const std::string answer =
        support::message_of<sukima::usage_error>([&] { sukima::run([&](context d) { f.touch(d); }); });
    if (GetParam() == 1) {
      EXPECT_EQ(answer,
                "sukima: a call without a context touched a future of its caller; pass the context to that "
                "call");
    }
    EXPECT_EQ(f.touch(c), 2);
  });
  EXPECT_THROW(static_cast<void>(future<int>([] { return 1; })), sukima::usage_error);
  std::thread without_fibers(
      [] { EXPECT_THROW(static_cast<void>(future<int>([] { return 1; })), sukima::usage_error); });
  without_fibers.join();
}

/// The future's own fiber waits for the call that touches it.
TEST_P(futures, are_not_touched_in_a_call_of_another_runtime) {
  const support::must_end within("a touch in a call of another runtime");
  sukima::runtime another(support::with_workers(2));
  runtime.run([&](context c) {
    future f(c, [] { return 2; });
    const std::string refused =
        another.run([&](context d) { return support::message_of<sukima::usage_error>([&] { f.touch(d); }); });
    EXPECT_TRUE(refused == "sukima: a future of a block can be touched only inside its runtime" ||
                f.is_done())
        << refused;
    EXPECT_EQ(f.touch(c), 2);
  });
}

TEST_P(futures, are_touched_by_thread_bound_code) {
  for (int i = 0; i < 20; ++i)
    runtime.run([&](context c) {
      future f(c, [](context b) { return fib(b, 12); });
      future g(c, [&](context b) { return f.touch(b) + fib(b, 10); });
      sukima::thread_bound([&] { EXPECT_EQ(g.touch(c) + f.touch(c), 144 + 55 + 144); });
    });
}

TEST_P(futures, run_in_destructors_during_unwinding) {
  struct computes {
    context c;
    long& result;
    bool& untouched_ran;
    ~computes() {
      context own = c;
      future f(own, [](context b) { return fib(b, 10); });
      const future<void> untouched(own, [this] { untouched_ran = true; });
      result = f.touch(own);
    }
  };
  long result = 0;
  bool untouched_ran = false;
  EXPECT_THROW(runtime.run([&](context c) {
    const computes at_end{c, result, untouched_ran};
    throw support::test_error(1);
  }),
               support::test_error);
  EXPECT_EQ(result, 55);
  EXPECT_TRUE(untouched_ran);
}

class launched_futures : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, launched_futures, support::worker_counts(), support::name_of_count);

TEST_P(launched_futures, outlive_the_function_that_launches_them) {
  const auto make = [](int n) { return sukima::launch([n](context c) { return fib(c, n); }); };
  runtime.run([&](context c) {
    std::vector<shared_future<long>> all;
    for (int n = 0; n < 20; ++n) all.push_back(make(n));
    for (int n = 19; n >= 0; --n) EXPECT_EQ(all[static_cast<std::size_t>(n)].touch(c), support::plain_fib(n));
    const shared_future<long> copy = all[15];
    all.clear();
    EXPECT_EQ(copy.touch(), 610);
    EXPECT_EQ(&copy.touch(c), &copy.touch());
  });
}

TEST_P(launched_futures, have_any_type_of_result) {
  int n = 0;
  runtime.run([&](context c) {
    const shared_future<void> nothing = sukima::launch([&] { ++n; });
    const shared_future<int&> reference = sukima::launch([&]() -> int& { return n; });
    const auto moved = sukima::launch([own = std::make_unique<int>(7)]() mutable { return std::move(own); });
    nothing.touch(c);
    EXPECT_EQ(&reference.touch(c), &n);
    EXPECT_EQ(*moved.touch(c), 7);
  });
  EXPECT_EQ(n, 1);
}

TEST_P(launched_futures, are_touched_from_outside) {
  const shared_future<long> f =
      runtime.run([] { return sukima::launch([](context c) { return fib(c, 14); }); });
  EXPECT_EQ(f.touch(), 377);
  sukima::runtime other(support::with_workers(2));
  const shared_future<long> g =
      runtime.run([] { return sukima::launch([](context c) { return fib(c, 13); }); });
  other.run([&](context c) { EXPECT_EQ(g.touch(c), 233); });
}

// When it is resumed no thread is inside the runtime, and its workers may all be asleep.
TEST(launched_future, goes_on_when_no_entry_is_left) {
  const support::must_end within("a launched future that is resumed from outside");
  sukima::runtime runtime(support::with_workers(3));
  for (int i = 0; i < 5; ++i) {
    std::promise<sukima::resumer> parked;
    std::promise<void> done;
    std::atomic<bool> is_parked{false};
    runtime.run([&](context c) {
      const auto f = sukima::launch([&](context below) {
        sukima::suspend(below, [&](sukima::resumer r) {
          parked.set_value(std::move(r));
          is_parked = true;
        });
        done.set_value();
      });
      EXPECT_TRUE(poll_until(c, [&] { return is_parked.load(); }));
    });
    sukima::resumer r = parked.get_future().get();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // so that the workers sleep; no verdict
    r.resume();
    done.get_future().wait();
  }
}

TEST_P(launched_futures, are_launched_from_outside) {
  const shared_future<long> f = sukima::launch([](context c) { return fib(c, 11); });
  EXPECT_EQ(f.touch(), 89);
}

/// Fibonacci's numbers, each from two that were launched before.
TEST_P(launched_futures, wait_for_each_other) {
  runtime.run([](context c) {
    std::vector<shared_future<std::uint64_t>> numbers;
    numbers.reserve(90);  // they are read while it grows
    for (std::size_t i = 0; i < 90; ++i)
      numbers.push_back(sukima::launch([&numbers, i](context b) -> std::uint64_t {
        return i < 2 ? i : numbers[i - 1].touch(b) + numbers[i - 2].touch(b);
      }));
    EXPECT_EQ(numbers[89].touch(c), 1779979416004714189u);
    for (const auto& one : numbers) one.touch(c);
  });
}

TEST_P(launched_futures, throw_to_each_toucher_and_abort_no_other_task) {
  runtime.run([](context c) {
    const auto f = sukima::launch([]() -> int { throw support::test_error(5); });
    std::atomic<int> caught{0};
    sukima::parallel_for(c, 0, 20, [&](context b, int) {
      EXPECT_THROW(f.touch(b), support::test_error);
      ++caught;
    });
    EXPECT_EQ(caught, 20);
    static_cast<void>(sukima::launch([] { throw support::test_error(6); }));  // lost
  });
}

TEST_P(launched_futures, are_reached_by_no_abort_from_outside) {
  runtime.run([](context c) {
    shared_future<long> f;
    EXPECT_THROW(sukima::fork2(
                     c,
                     [&](context b) {
                       f = sukima::launch([](context d) { return fib(d, 16); });
                       f.touch(b);
                       throw support::test_error(1);
                     },
                     [](context b) { fib(b, 10); }),
                 support::test_error);
    EXPECT_EQ(f.touch(c), 987);
  });
}

TEST_P(launched_futures, may_be_cancelled) {
  for (int i = 0; i < 30; ++i)
    runtime.run([&](context c) {
      const auto begun = std::make_shared<std::atomic<bool>>(false);
      const auto f = sukima::launch([begun](context b) {
        *begun = true;
        support::fork_for_ever(b);
      });
      if (runtime.workers() > 1 && i % 2 == 0) {
        EXPECT_TRUE(poll_until(c, [&] { return begun->load(); }));
      }
      f.cancel();
      EXPECT_THROW(f.touch(c), sukima::cancelled);
    });
}

TEST_P(launched_futures, are_not_begun_by_a_caller_that_is_cancelled) {
  if (GetParam() != 1) return;  // another worker may begin it
  runtime.run([](context c) {
    int computed = 0;
    shared_future<void> f;
    EXPECT_FALSE(sukima::cancellable(c, [&](context b, const sukima::canceller& cancel) {
      f = sukima::launch([&] { ++computed; });
      cancel.cancel();
      f.touch(b);
      ADD_FAILURE() << "the caller is aborted";
    }));
    EXPECT_EQ(computed, 0);
    f.touch(c);
    EXPECT_EQ(computed, 1);
  });
}

TEST_P(launched_futures, do_not_wait_for_themselves) {
  runtime.run([](context c) {
    shared_future<int> self;
    std::atomic<bool> is_set{false};
    self = sukima::launch([&](context b) {
      EXPECT_TRUE(poll_until(b, [&] { return is_set.load(); }));
      return self.touch(b);
    });
    is_set = true;
    EXPECT_THROW(self.touch(c), sukima::usage_error);
  });
  EXPECT_THROW(shared_future<int>().touch(), sukima::usage_error);
}

/// A launch runs nothing, however many wait: its caller may hold a lock that the expressions need.
TEST_P(launched_futures, are_launched_under_a_lock) {
  constexpr int many = 5'000;
  const support::must_end within("launching under a lock");
  runtime.run([&](context c) {
    std::mutex lock;
    int done = 0;
    std::vector<shared_future<void>> all;
    all.reserve(many);
    for (int i = 0; i < many; ++i) {
      const std::lock_guard hold(lock);
      const pid_t thread = support::this_thread();
      const int before = done;
      all.push_back(sukima::launch([&] {
        const std::lock_guard mine(lock);
        ++done;
      }));
      EXPECT_EQ(done, before);
      EXPECT_EQ(support::this_thread(), thread);
    }
    if (runtime.workers() == 1) {
      EXPECT_EQ(done, 0);
    }
    for (const auto& one : all) one.touch(c);
    EXPECT_EQ(done, many);
  });
  if (GetParam() == 1) {
    EXPECT_EQ(runtime.statistics().launched_peak, std::size_t{many});
  }
}

TEST_P(launched_futures, are_any_number) {
  constexpr int many = 20'000;
  runtime.run([](context c) {
    std::vector<shared_future<int>> all;
    all.reserve(many);
    for (int i = 0; i < many; ++i) all.push_back(sukima::launch([i] { return i; }));
    std::int64_t sum = 0;
    for (const auto& one : all) sum += one.touch(c);
    EXPECT_EQ(sum, std::int64_t{many} * (many - 1) / 2);
  });
}

/// A touch has begun the older of two futures when a worker looks for one: it finds the younger one.
TEST(launched_futures_of_two_workers, begin_once) {
  sukima::runtime two(support::with_workers(2));
  two.run([](context c) {
    for (int i = 0; i < 300; ++i) {
      std::atomic<bool> is_held{false};
      std::atomic<bool> begins{false};
      std::atomic<bool> comes{false};
      std::atomic<int> begun{0};
      const auto holds_the_other_worker = sukima::launch([&] {
        is_held = true;
        wait_without_polls(begins);
      });
      wait_without_polls(is_held);
      const auto older = sukima::launch([&] {
        ++begun;
        begins = true;
        wait_without_polls(comes);
      });
      const auto younger = sukima::launch([&] { comes = true; });
      older.touch(c);
      EXPECT_EQ(begun, 1);
      younger.touch(c);
      holds_the_other_worker.touch(c);
    }
  });
}

TEST_P(launched_futures, wait_for_the_launching_fiber) {
  std::atomic<int> ended{0};
  runtime.run([&](context c) {
    std::vector<shared_future<void>> all;
    support::suspending_barrier both(2);
    const auto gate = sukima::launch([&](context b) { both.arrive(b); });
    for (int i = 0; i < 3'000; ++i)
      all.push_back(sukima::launch([&](context b) {
        gate.touch(b);
        ++ended;
      }));
    both.arrive(c);
    for (const auto& one : all) one.touch(c);
  });
  EXPECT_EQ(ended, 3'000);
}

TEST_P(launched_futures, end_with_their_runtime) {
  counted::reset();
  shared_future<void> begun;
  std::vector<shared_future<void>> others;
  {
    sukima::runtime own(support::with_workers(GetParam()));
    std::atomic<bool> is_begun{false};
    own.run([&](context c) {
      begun = sukima::launch([&](context b) {
        is_begun = true;
        support::fork_for_ever(b);
      });
      if (GetParam() > 1) {
        EXPECT_TRUE(poll_until(c, [&] { return is_begun.load(); }));
      }
      for (int i = 0; i < 100; ++i)
        others.push_back(sukima::launch([kept = counted()](context b) {
          // It is never resumed: its runtime cancels it.
          sukima::suspend(b, [](sukima::resumer) {}, [](sukima::resumer r) noexcept { r.resume(); });
        }));
    });
    own.shutdown();
    EXPECT_THROW(own.run([] { static_cast<void>(sukima::launch([] {})); }), sukima::usage_error);
  }
  EXPECT_THROW(begun.touch(), sukima::cancelled);
  for (const auto& one : others) EXPECT_THROW(one.touch(), sukima::cancelled);
  others.clear();
  EXPECT_EQ(counted::alive(), 0);
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(launched_futures, are_computed_without_a_touch) {
  if (GetParam() == 1) return;  // its only worker is the thread that has left
  std::atomic<int> computed{0};
  runtime.run([&](context c) {
    for (int i = 0; i < 100; ++i) static_cast<void>(sukima::launch([&] { ++computed; }));
    EXPECT_TRUE(poll_until(c, [&] { return computed == 100; }));
  });
}

}  // namespace

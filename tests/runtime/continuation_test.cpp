// SPDX-License-Identifier: Apache-2.0
// Continuations of futures, promises, waiting with an end, and moving results out.
#include "support.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using sukima::context;
using sukima::promise;
using sukima::shared_future;
using support::counted;
using support::fib;

class continuations : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, continuations, support::worker_counts(), support::name_of_count);

TEST_P(continuations, get_the_result) {
  runtime.run([](context c) {
    const auto f = sukima::launch([](context b) { return fib(b, 12); });
    const auto g = f.then([](context b, const long& n) { return n + fib(b, 10); });
    const auto h = g.then([](long n) { return std::to_string(n); });
    const auto nothing = h.then([](const std::string& s) { EXPECT_EQ(s, "199"); });
    const auto last = nothing.then([] { return 7; });
    EXPECT_EQ(last.touch(c), 7);
    EXPECT_EQ(h.touch(c), "199");
    // After the end, too.
    EXPECT_EQ(f.then([](long n) { return -n; }).touch(c), -144);
  });
}

/// A continuation may return a reference to a part of its source's value, of which no handle is left.
TEST_P(continuations, keep_the_source_to_whose_value_they_refer) {
  struct person {
    std::string name;
    counted own;
  };
  counted::reset();
  runtime.run([](context c) {
    auto name = sukima::launch([] { return person{std::string(100, 'n'), counted()}; }).then(&person::name);
    static_assert(std::is_same_v<decltype(name), shared_future<const std::string&>>);
    EXPECT_EQ(name.touch(c), std::string(100, 'n'));
    const auto same = name.then([](const std::string& s) -> const std::string& { return s; });
    EXPECT_EQ(&same.touch(c), &name.touch(c));
    name = {};
    EXPECT_EQ(same.touch(c), std::string(100, 'n'));
    EXPECT_EQ(counted::alive(), 1);
    // A value refers to nothing, so the source ends.
    const auto length = sukima::launch([] {
                          return person{std::string(100, 'n'), counted()};
                        }).then([](auto& p) { return p.name.size(); });
    EXPECT_EQ(length.touch(c), 100U);
  });
  // A worker may hold the library's reference to an ended future for a moment.
  EXPECT_TRUE(support::sleep_until([] { return counted::alive() == 0; }));
  EXPECT_EQ(counted::errors(), 0);
}

/// Each step refers to the same object. The steps that have ended are not kept.
TEST_P(continuations, in_a_long_chain_of_references_keep_one_future) {
  static constexpr int steps = 50'000;
  counted::reset();
  runtime.run([](context c) {
    struct state {
      int value = 0;
      counted own;
    };
    auto chain = sukima::launch([] { return state(); }).then([](const state& s) -> state& {
      return const_cast<state&>(s);
    });
    for (int i = 0; i < steps; ++i)
      chain = chain.then([own = counted()](state& s) -> state& {
        ++s.value;
        return s;
      });
    EXPECT_EQ(chain.touch(c).value, steps);
    EXPECT_EQ(counted::alive(), 1);
  });
  EXPECT_TRUE(support::sleep_until([] { return counted::alive() == 0; }));
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(continuations, begin_after_their_source) {
  runtime.run([](context c) {
    promise<int> given;
    std::atomic<int> begun{0};
    std::vector<shared_future<int>> all;
    for (int i = 0; i < 1000; ++i)
      all.push_back(given.get_future().then([&, i](int n) {
        ++begun;
        return n + i;
      }));
    for (int i = 0; i < 50; ++i) sukima::fork2(c, [] {}, [] {});
    EXPECT_EQ(begun, 0);
    given.set_value(5);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)].touch(c), 5 + i);
    EXPECT_EQ(begun, 1000);
  });
}

/// While it waits a continuation has no fiber: their number is not bounded by that of fibers.
TEST_P(continuations, are_very_many) {
  static constexpr int many = 100'000;
  runtime.run([](context c) {
    promise<void> given;
    std::atomic<int> sum{0};
    std::vector<shared_future<void>> all;
    all.reserve(many);
    for (int i = 0; i < many; ++i) all.push_back(given.get_future().then([&] { ++sum; }));
    given.set_value();
    sukima::when_all(all).touch(c);
    EXPECT_EQ(sum, many);
  });
  EXPECT_LT(runtime.statistics().fibers_peak, 200U);
}

TEST_P(continuations, are_not_called_after_an_error) {
  runtime.run([](context c) {
    std::atomic<bool> called{false};
    const auto fails = sukima::launch([]() -> int { throw support::test_error(3); });
    const auto after = fails.then([&](int) { called = true; }).then([&] { called = true; });
    EXPECT_THROW(after.touch(c), support::test_error);
    promise<int> given;
    const auto f = given.get_future();
    const auto after_cancelled = f.then([&](int) { called = true; });
    f.cancel();
    EXPECT_THROW(after_cancelled.touch(c), sukima::cancelled);
    EXPECT_FALSE(called);
    given.set_value(1);  // nothing happens
    EXPECT_THROW(f.touch(c), sukima::cancelled);
    // An exception of a continuation leaves its own touches only.
    const auto works = sukima::launch([] { return 1; });
    const auto throws = works.then([](int) -> int { throw support::test_error(4); });
    EXPECT_THROW(throws.touch(c), support::test_error);
    EXPECT_EQ(works.touch(c), 1);
  });
}

TEST_P(continuations, may_be_cancelled_before_their_source_ends) {
  counted::reset();
  for (int i = 0; i < 30; ++i)
    runtime.run([](context c) {
      promise<int> given;
      bool called = false;
      const auto after = given.get_future().then([&, own = counted()](int) { called = true; });
      after.cancel();
      EXPECT_EQ(counted::alive(), 0) << "its captures end with it";
      EXPECT_THROW(after.touch(c), sukima::cancelled);
      given.set_value(1);
      EXPECT_FALSE(called);
      EXPECT_EQ(given.get_future().touch(c), 1);
    });
  EXPECT_EQ(counted::errors(), 0);
}

/// A capture whose move throws once that is set.
struct moves_or_throws {
  counted own;
  const std::atomic<bool>* throws;
  explicit moves_or_throws(const std::atomic<bool>& when) : throws(&when) {}
  moves_or_throws(moves_or_throws&& other) : own(std::move(other.own)), throws(other.throws) {
    if (*throws) throw support::test_error(6);
  }
};

TEST_P(continuations, that_cannot_be_moved_end_their_captures_before_a_touch_rethrows) {
  counted::reset();
  for (int i = 0; i < 30; ++i)
    runtime.run([](context c) {
      promise<int> given;
      std::atomic<bool> throws{false};
      const auto after = given.get_future().then([own = moves_or_throws(throws)](int) {});
      throws = true;  // it begins only after this
      given.set_value(1);
      EXPECT_THROW(after.touch(c), support::test_error);
      EXPECT_EQ(counted::alive(), 0) << "although its handle exists";
    });
  EXPECT_EQ(counted::errors(), 0);
}

TEST_P(continuations, race_with_being_cancelled) {
  for (int i = 0; i < 200; ++i) {
    counted::reset();
    promise<int> given;
    const auto after = runtime.run([&] {
      return given.get_future().then([own = counted()](context c, int n) { return n + fib(c, 5); });
    });
    std::thread gives([&] { given.set_value(1); });
    after.cancel();
    gives.join();
    try {
      EXPECT_EQ(after.touch(), 6);
    } catch (const sukima::cancelled&) {
    }
    runtime.run([](context c) { fib(c, 5); });
    EXPECT_EQ(counted::errors(), 0);
  }
}

/// The source belongs to another runtime, or to none, and ends when that of the continuation has ended.
TEST_P(continuations, end_with_their_runtime) {
  for (int i = 0; i < 20; ++i) {
    counted::reset();
    promise<int> given;
    shared_future<void> after;
    shared_future<void> both;
    {
      sukima::runtime own(support::with_workers(GetParam()));
      own.run([&] {
        after = given.get_future().then([i, kept = counted()](int) { EXPECT_EQ(i % 2, 0); });
        both = sukima::when_all(after, given.get_future());
      });
      if (i % 2 == 0) {
        std::thread gives([&] { given.set_value(1); });  // at the same time
        own.shutdown();
        gives.join();
      }
    }
    EXPECT_TRUE(after.is_done());
    EXPECT_TRUE(both.is_done());
    if (i % 2 != 0) {
      EXPECT_THROW(after.touch(), sukima::cancelled);
      EXPECT_THROW(both.touch(), sukima::cancelled);
      given.set_value(1);
    }
    after = {};
    both = {};
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(counted::errors(), 0);
  }
}

TEST_P(continuations, wait_for_all) {
  runtime.run([](context c) {
    std::vector<shared_future<long>> all;
    for (int n = 0; n < 20; ++n) all.push_back(sukima::launch([n](context b) { return fib(b, n); }));
    sukima::when_all(all).touch(c);
    for (const auto& one : all) EXPECT_TRUE(one.is_done());
    const auto text = sukima::launch([] { return std::string("x"); });
    const auto nothing = sukima::launch([] {});
    const auto sum = sukima::when_all(all[10], text, nothing).then([=](context b) {
      return std::to_string(all[10].touch(b)) + text.touch(b);
    });
    EXPECT_EQ(sum.touch(c), "55x");
    sukima::when_all(std::vector<shared_future<int>>()).touch(c);
    sukima::when_all().touch(c);
  });
}

/// All have ended before an error leaves; the first in the order of the arguments.
TEST_P(continuations, wait_for_all_though_some_fail) {
  runtime.run([](context c) {
    promise<int> last;
    std::vector<shared_future<int>> all{sukima::launch([] { return 1; }), last.get_future(),
                                        sukima::launch([]() -> int { throw support::test_error(2); })};
    const auto ended = sukima::when_all(all);
    EXPECT_THROW(all[2].touch(c), support::test_error);
    EXPECT_FALSE(ended.is_done());
    last.set_exception(std::make_exception_ptr(support::test_error(1)));
    try {
      ended.touch(c);
      ADD_FAILURE() << "two have failed";
    } catch (const support::test_error& e) {
      EXPECT_EQ(e.number, 1);
    }
  });
}

TEST_P(continuations, wait_for_any) {
  runtime.run([](context c) {
    promise<int> never;
    promise<int> second;
    const auto first = sukima::when_any(never.get_future(), second.get_future());
    EXPECT_FALSE(first.is_done());
    second.set_exception(std::make_exception_ptr(support::test_error(1)));
    EXPECT_EQ(first.touch(c), 1U);
    EXPECT_FALSE(never.get_future().is_done());
    const std::vector<shared_future<int>> all{never.get_future(), never.get_future(), second.get_future()};
    EXPECT_EQ(sukima::when_any(all).touch(c), 2U);
    EXPECT_THROW(static_cast<void>(sukima::when_any(std::vector<shared_future<int>>())), sukima::usage_error);
    EXPECT_THROW(static_cast<void>(sukima::when_any(shared_future<int>())), sukima::usage_error);
  });
}

// The library refers to such a future until its last source has ended, and to any other one for a moment
// after its end.
TEST_P(continuations, lose_their_result_with_the_last_handle) {
  support::counted::reset();
  runtime.run([](context c) {
    for (const bool fails : {false, true}) {
      sukima::promise<void> never, first;
      const shared_future<void> one = never.get_future(), other = first.get_future();
      const std::array<sukima::detail::launched*, 2> sources{sukima::detail::handle_access::state_of(one),
                                                             sukima::detail::handle_access::state_of(other)};
      auto f = sukima::detail::launch_after_ends(
          [fails]() -> support::counted {
            if (fails) throw support::counted();
            return support::counted();
          },
          sukima::detail::inherited_place, sources, 1);
      auto copy = f;
      first.set_value();
      if (fails)
        EXPECT_THROW(static_cast<void>(f.touch(c)), support::counted);
      else
        static_cast<void>(f.touch(c));
      f = {};
      EXPECT_EQ(support::counted::alive(), 1);
      copy = {};
      EXPECT_EQ(support::counted::alive(), 0);
    }
  });
  EXPECT_EQ(support::counted::errors(), 0);
}

TEST_P(continuations, are_made_and_touched_outside) {
  const auto f = runtime.run([] { return sukima::launch([](context c) { return fib(c, 10); }); });
  const auto g = f.then([](long n) { return n + 1; });  // in the default runtime
  EXPECT_EQ(g.touch(), 56);  // with one worker no thread is in the source's runtime
  EXPECT_EQ(f.touch(), 55);
  const auto also = runtime.run([] { return sukima::launch([] { return 2; }); });
  const auto all = sukima::when_all(also, g.then([](long n) { return n; }));
  all.touch();
  EXPECT_EQ(also.touch(), 2);
  promise<int> given;
  const auto h = given.get_future().then([](int n) { return 2 * n; });
  given.set_value(4);
  EXPECT_EQ(h.touch(), 8);
}

TEST_P(continuations, may_have_a_hint) {
  runtime.run([](context c) {
    const auto f = sukima::launch([] { return 1; });
    EXPECT_EQ(f.then([](int n) { return n + 1; }, sukima::on(sukima::here())).touch(c), 2);
  });
}

class promises : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, promises, support::worker_counts(), support::name_of_count);

TEST_P(promises, wake_fibers_and_threads) {
  promise<std::string> given;
  const auto f = given.get_future();
  std::thread outside([&] { EXPECT_EQ(f.touch(), "xxx"); });
  std::thread gives;
  runtime.run([&](context c) {
    gives = std::thread([&] { given.set_value(3, 'x'); });
    EXPECT_EQ(f.touch(c), "xxx");
    EXPECT_EQ(&f.touch(c), &given.get_future().touch(c));
    EXPECT_EQ(f.touch(sukima::helping), "xxx");
  });
  gives.join();
  outside.join();
}

TEST_P(promises, give_one_result) {
  promise<int> given;
  given.set_value(1);
  EXPECT_THROW(given.set_value(2), sukima::usage_error);
  EXPECT_THROW(given.set_exception(std::make_exception_ptr(support::test_error(1))), sukima::usage_error);
  EXPECT_EQ(given.get_future().touch(), 1);
  promise<int> moved(std::move(given));
  EXPECT_EQ(moved.get_future().touch(), 1);
  EXPECT_THROW(static_cast<void>(given.get_future()),
               sukima::usage_error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(given.set_value(1), sukima::usage_error);
}

TEST_P(promises, have_any_type_of_result) {
  int n = 0;
  promise<int&> reference;
  reference.set_value(n);
  EXPECT_EQ(&reference.get_future().touch(), &n);
  promise<void> nothing;
  nothing.set_value();
  nothing.get_future().touch();
  promise<std::unique_ptr<int>> moved;
  moved.set_value(std::make_unique<int>(4));
  EXPECT_EQ(*moved.get_future().take(), 4);
}

TEST_P(promises, try_again_after_a_value_that_throws) {
  struct refuses {
    explicit refuses(bool does) {
      if (does) throw support::test_error(1);
    }
  };
  promise<refuses> given;
  EXPECT_THROW(given.set_value(true), support::test_error);
  EXPECT_FALSE(given.get_future().is_done());
  given.set_value(false);
  EXPECT_TRUE(given.get_future().is_done());
}

TEST_P(promises, cancel_what_they_never_give) {
  shared_future<int> f;
  {
    const promise<int> given;
    f = given.get_future();
  }
  EXPECT_THROW(f.touch(), sukima::cancelled);
  runtime.run([&](context c) { EXPECT_THROW(f.touch(c), sukima::cancelled); });
}

class waiting_with_an_end : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, waiting_with_an_end, support::worker_counts(), support::name_of_count);

TEST_P(waiting_with_an_end, ends_by_the_clock) {
  promise<int> given;
  const auto f = given.get_future();
  const auto wait = [&] {
    EXPECT_FALSE(f.wait_for(0s));
    EXPECT_FALSE(f.wait_for(-1h));
    EXPECT_FALSE(f.wait_for(2ms));
    EXPECT_FALSE(f.wait_until(std::chrono::system_clock::now() + 1ms));
    EXPECT_FALSE(f.wait_until(std::chrono::steady_clock::now() - 1s));
  };
  wait();
  runtime.run([&](context c) {
    wait();
    EXPECT_FALSE(f.wait_for(c, 1ms));
    EXPECT_FALSE(f.wait_until(c, std::chrono::steady_clock::now() + 1ms));
  });
  given.set_value(1);
  EXPECT_TRUE(f.wait_for(0s));
  EXPECT_TRUE(f.wait_for(1h));
  EXPECT_THROW(static_cast<void>(shared_future<int>().wait_for(1s)), sukima::usage_error);
}

TEST_P(waiting_with_an_end, ends_with_the_future) {
  const support::must_end within("waiting with an end far away");
  for (int i = 0; i < 20; ++i) {
    promise<int> given;
    const auto f = given.get_future();
    std::thread outside([&] { EXPECT_TRUE(f.wait_for(24h)); });
    std::thread for_ever([&] { EXPECT_TRUE(f.wait_for(24h * 365 * 1000)); });
    runtime.run([&](context c) {
      std::thread gives([&] { given.set_value(1); });
      EXPECT_TRUE(f.wait_for(c, 24h));
      gives.join();
      const auto computed = sukima::launch([](context b) { return fib(b, 8); });
      EXPECT_TRUE(computed.wait_for(c, 24h));
    });
    const auto computed = runtime.run([] { return sukima::launch([](context b) { return fib(b, 8); }); });
    EXPECT_TRUE(computed.wait_for(24h));
    outside.join();
    for_ever.join();
  }
}

TEST_P(waiting_with_an_end, races_with_the_clock) {
  for (int i = 0; i < 200; ++i) {
    promise<int> given;
    const auto f = given.get_future();
    runtime.run([&](context c) {
      std::thread gives([&] { given.set_value(i); });
      while (!f.wait_for(c, 20us)) {
      }
      EXPECT_EQ(f.touch(c), i);
      gives.join();
    });
  }
}

TEST_P(waiting_with_an_end, leaves_when_the_caller_is_aborted) {
  promise<int> given;
  const auto f = given.get_future();
  runtime.run([&](context c) {
    EXPECT_FALSE(sukima::cancellable(c, [&](context b, const sukima::canceller& cancel) {
      std::thread cancels([&] { cancel.cancel(); });
      struct joins {
        std::thread& t;
        ~joins() { t.join(); }
      } const at_end{cancels};
      f.wait_for(b, 24h);
      ADD_FAILURE() << "the caller is aborted";
    }));
  });
}

class taken : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, taken, support::worker_counts(), support::name_of_count);

TEST_P(taken, results_are_moved_out) {
  runtime.run([](context c) {
    sukima::future f(c, [] { return std::make_unique<int>(3); });
    std::unique_ptr<int> own = f.take(c);
    EXPECT_EQ(*own, 3);
    EXPECT_EQ(f.touch(c), nullptr);
    auto g = sukima::launch([] { return std::make_unique<int>(4); });
    const auto copy = g;
    own = std::move(g).take(c);
    EXPECT_EQ(*own, 4);
    EXPECT_FALSE(g);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(copy.touch(c), nullptr);
    EXPECT_THROW(std::move(g).take(c), sukima::usage_error);
    int n = 0;
    sukima::future<int&> reference(c, [&]() -> int& { return n; });
    EXPECT_EQ(&reference.take(c), &n);
    sukima::future<void> nothing(c, [&] { ++n; });
    nothing.take(c);
    EXPECT_EQ(n, 1);
    auto fails = sukima::launch([]() -> int { throw support::test_error(1); });
    EXPECT_THROW(std::move(fails).take(c), support::test_error);
  });
  auto outside = runtime.run([] { return sukima::launch([] { return std::string(100, 'x'); }); });
  const std::string text = std::move(outside).take();
  EXPECT_EQ(text.size(), 100U);
}

}  // namespace

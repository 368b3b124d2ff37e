// SPDX-License-Identifier: Apache-2.0
// Executors: bound fibers run one at a time, in order, and are continued by their executor only.
#include "support.hpp"

#include <sukima/detail/executor.hpp>

#include <array>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::detail::bound_task;
using sukima::detail::executor;
using sukima::detail::fiber;

/// An executor whose fibers run functions; the root waits for all of them.
class crew {
 public:
  explicit crew(executor::runs_on where) : where_(where), home_(*sukima::detail::running_runtime(), where) {}

  fiber& add(std::function<void(context)> f, std::size_t stack = 0) {
    member& m = members_.emplace_back();
    m.owner = this;
    m.f = std::move(f);
    m.run = [](sukima::detail::task* self, context c) {
      auto* const me = static_cast<member*>(self);
      EXPECT_EQ(me->owner->inside_.fetch_add(1), 0) << "two fibers of an executor run";
      me->f(c);
      me->owner->inside_.fetch_sub(1);
    };
    m.ended = [](bound_task* self) noexcept {
      crew& mine = *static_cast<member*>(self)->owner;
      if (mine.left_.fetch_sub(1) == 1 && mine.where_ == executor::runs_on::workers) mine.over_.resume();
    };
    fiber& s = home_.make_fiber(m, stack);
    home_.make_ready(s);
    left_.fetch_add(1);
    return s;
  }
  /// Called around whatever lets others of the executor run.
  template <class F> void outside(F f) {
    inside_.fetch_sub(1);
    f();
    EXPECT_EQ(inside_.fetch_add(1), 0) << "two fibers of an executor run";
  }
  void run(sukima::runtime& r, context c) {
    if (where_ == executor::runs_on::thread) {
      std::thread([&] { r.run([&] { home_.serve(); }); }).join();
      return;
    }
    sukima::suspend(c, [&](sukima::resumer me) {
      over_ = me;
      home_.start();
    });
  }
  executor& home() { return home_; }

 private:
  struct member : bound_task {
    crew* owner = nullptr;
    std::function<void(context)> f;
  };
  const executor::runs_on where_;
  executor home_;
  std::deque<member> members_;
  std::atomic<int> inside_{0};
  std::atomic<int> left_{0};
  sukima::resumer over_;
};

class executor_test : public testing::TestWithParam<std::tuple<unsigned, executor::runs_on>> {
 protected:
  sukima::runtime runtime{support::with_workers(std::get<0>(GetParam()))};
  executor::runs_on where = std::get<1>(GetParam());
};
std::string name_of(const testing::TestParamInfo<executor_test::ParamType>& of) {
  const bool on_workers = std::get<1>(of.param) == executor::runs_on::workers;
  return std::to_string(std::get<0>(of.param)) + (on_workers ? "_workers" : "_workers_and_a_thread");
}
INSTANTIATE_TEST_SUITE_P(workers, executor_test,
                         testing::Combine(support::worker_counts(),
                                          testing::Values(executor::runs_on::workers,
                                                          executor::runs_on::thread)),
                         name_of);

TEST_P(executor_test, runs_its_fibers_in_order) {
  std::vector<int> order;
  runtime.run([&](context c) {
    crew all(where);
    for (int i = 0; i < 10; ++i) all.add([&order, i](context) { order.push_back(i); });
    all.run(runtime, c);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST_P(executor_test, takes_turns) {
  std::vector<int> order;
  runtime.run([&](context c) {
    crew all(where);
    for (int i = 0; i < 3; ++i)
      all.add([&, i](context) {
        for (int turn = 0; turn < 3; ++turn) {
          order.push_back(i);
          all.outside([&] { all.home().take_turns(); });
        }
      });
    all.run(runtime, c);
  });
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1, 2}));
}

TEST_P(executor_test, parks_until_another_fiber_makes_it_ready) {
  int passed = 0;
  runtime.run([&](context c) {
    crew all(where);
    fiber* first = nullptr;
    fiber* second = nullptr;
    first = &all.add([&](context) {
      for (int i = 0; i < 1000; ++i) {
        all.outside([&] { all.home().park(); });
        ++passed;
        all.home().make_ready(*second);
      }
    });
    second = &all.add([&](context) {
      for (int i = 0; i < 1000; ++i) {
        all.home().make_ready(*first);
        all.outside([&] { all.home().park(); });
      }
    });
    all.run(runtime, c);
  });
  EXPECT_EQ(passed, 1000);
}

TEST_P(executor_test, forks_are_run_by_all_workers_and_come_home) {
  std::atomic<long> sum{0};
  runtime.run([&](context c) {
    crew all(where);
    for (int i = 0; i < 8; ++i)
      all.add(
          [&](context own) {
            for (int round = 0; round < 20; ++round) {
              all.outside([&] {
                sukima::parallel_for(own, 0, 200, [&](int k) {
                  for (volatile int spin = 0; spin < 200;) spin = spin + 1;
                  sum += k;
                });
                // The fiber may be alone again only when it has come home.
                all.home().take_turns();
              });
            }
          },
          128 * 1024);
    all.run(runtime, c);
  });
  EXPECT_EQ(sum, 8 * 20 * 199 * 100);
}

TEST_P(executor_test, suspensions_are_resumed_from_outside) {
  std::atomic<int> passed{0};
  std::vector<std::thread> others(64);
  runtime.run([&](context c) {
    crew all(where);
    for (std::size_t i = 0; i < others.size(); ++i)
      all.add([&, i](context own) {
        all.outside([&] {
          sukima::suspend(own, [&](sukima::resumer r) { others[i] = std::thread([r] { r.resume(); }); });
        });
        ++passed;
      });
    all.run(runtime, c);
  });
  for (std::thread& t : others) t.join();
  EXPECT_EQ(passed, 64);
}

TEST_P(executor_test, an_old_number_resumes_nothing) {
  std::thread other;
  runtime.run([&](context c) {
    crew all(where);
    all.add([&](context) {
      fiber& me = *sukima::detail::this_fiber_now();
      const std::uint64_t first = sukima::detail::begin_suspension(me);
      EXPECT_TRUE(sukima::detail::claim_suspension(me, first));
      EXPECT_FALSE(sukima::detail::try_resume(me, first));
      const std::uint64_t second = sukima::detail::begin_suspension(me);
      EXPECT_FALSE(sukima::detail::try_resume(me, first)) << "it belongs to the suspension before";
      EXPECT_TRUE(sukima::detail::try_resume(me, second));
      EXPECT_FALSE(sukima::detail::claim_suspension(me, second));
      sukima::detail::finish_suspension(me);
      const std::uint64_t third = sukima::detail::begin_suspension(me);
      other = std::thread([&me, second, third] {
        EXPECT_FALSE(sukima::detail::try_resume(me, second));
        EXPECT_TRUE(sukima::detail::try_resume(me, third));
        EXPECT_FALSE(sukima::detail::try_resume(me, third));
      });
      all.outside([&] { sukima::detail::finish_suspension(me); });
    });
    all.run(runtime, c);
  });
  other.join();
}

// Short switches are refused under sanitizers that must be notified of each switch; then there is nothing to
// compare.
#if !defined(SUKIMA_SANITIZED)
TEST_P(executor_test, parks_shortly_between_small_fibers_without_choice_points) {
  std::vector<std::string> seen;
  std::vector<bool> refused;
  runtime.run([&](context c) {
    crew all(where);
    executor& home = all.home();
    fiber* first = nullptr;
    fiber* second = nullptr;
    const auto parks = [&](fiber& me) {
      bool done = false;
      all.outside([&] { done = home.park_shortly(me); });
      return done;
    };
    // Each handles an exception while the other one runs.
    const auto talk = [&](fiber*& me, fiber*& other, const char* name, bool begins) {
      try {
        throw std::runtime_error(name);
      } catch (const std::runtime_error&) {
        for (int i = 0; i < 100; ++i) {
          if (!begins || i != 0) home.make_ready(*other);
          if (!parks(*me)) seen.emplace_back("refused");
          if (sukima::detail::this_fiber_now() != me) seen.emplace_back("another fiber");
          if (sukima::detail::running_executor() != &home) seen.emplace_back("another executor");
        }
        try {
          throw;
        } catch (const std::runtime_error& mine) {
          seen.emplace_back(mine.what());
        }
      }
    };
    first = &all.add([&](context here) {
      sukima::detail::call(here, [&] { talk(first, second, "first", true); });
      home.make_ready(*second);
    });
    second = &all.add([&](context here) {
      sukima::detail::call(here, [&] { talk(second, first, "second", false); });
      sukima::detail::call(here,
                           [&] { refused.push_back(!home.park_shortly(*second)); });  // nothing is ready
      all.add([](context) {});
      refused.push_back(!home.park_shortly(*second));  // its choice points are not known
      all.outside([&] { home.take_turns(); });
      all.add([](context) {}, std::size_t{1} << 20);
      sukima::detail::call(here,
                           [&] { refused.push_back(!home.park_shortly(*second)); });  // the next is large
    });
    all.run(runtime, c);
  });
  EXPECT_EQ(seen, (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(refused, (std::vector<bool>(3, true)));
}
#endif

TEST_P(executor_test, many_threads_post_at_once) {
  constexpr int rounds = 500;
  constexpr int members = 8;
  std::array<std::atomic<std::uint64_t>, members> numbers{};
  std::array<std::atomic<fiber*>, members> fibers{};
  std::atomic<int> passed{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> wakers;
  for (int t = 0; t < 3; ++t)
    wakers.emplace_back([&] {
      while (!over)
        for (std::size_t i = 0; i < members; ++i)
          if (const std::uint64_t n = numbers[i].load(); n != 0)
            sukima::detail::try_resume(*fibers[i].load(), n);
    });
  runtime.run([&](context c) {
    crew all(where);
    for (std::size_t i = 0; i < members; ++i)
      all.add([&, i](context) {
        fiber& me = *sukima::detail::this_fiber_now();
        fibers[i] = &me;
        for (int round = 0; round < rounds; ++round) {
          numbers[i] = sukima::detail::begin_suspension(me);
          all.outside([&] { sukima::detail::finish_suspension(me); });
          ++passed;
        }
      });
    all.run(runtime, c);
  });
  over = true;
  for (std::thread& t : wakers) t.join();
  EXPECT_EQ(passed, rounds * members);
}

TEST_P(executor_test, refuses_to_park_a_thread_bound_fiber) {
  runtime.run([&](context c) {
    crew all(where);
    all.add([&](context) {
      sukima::thread_bound([&] { EXPECT_THROW(all.home().park(), sukima::usage_error); });
    });
    all.run(runtime, c);
  });
}

}  // namespace

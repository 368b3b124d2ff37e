// SPDX-License-Identifier: Apache-2.0
// Hints about the place of computations, on made-up machines: inheritance, steals by hints, and exchanges.
#include "fiber/switch.hpp"
#include "place/hints.hpp"

#include "hinted.hpp"
#include "support.hpp"

#include <array>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::place;
using sukima::place_level;
using sukima::placement_policy;
using support::cpus;
using support::hinted;
using support::poll_until;

/// The place of the code that calls it.
place place_now() { return place(sukima::detail::hinted_place(*sukima::detail::running_fiber())); }

/// `second` is taken by another worker, and only then `first` begins.
template <class First, class Second> void on_two_workers(context c, First first, Second second) {
  std::atomic<bool> begun{false};
  sukima::fork2(
      c,
      [&](context below) {
        EXPECT_TRUE(poll_until(below, [&] { return begun.load(); }));
        first(below);
      },
      [&](context below) {
        begun = true;
        second(below);
      });
}

TEST_F(hinted, on_calls_its_function_and_gives_its_result) {
  start(1);
  int number = 1;
  const auto run = [&](context c) {
    EXPECT_EQ(sukima::on(c, core(3), [&](context below) { return support::fib(below, 10); }), 55);
    EXPECT_EQ(&sukima::on(c, core(3), [&]() -> int& { return number; }), &number);
    EXPECT_EQ(sukima::on(c, [&] { return core(3); }, [] { return place_now(); }), core(3));
    EXPECT_EQ(sukima::on(c, core(3), [&](context b) { return sukima::on(b, place{}, place_now); }), place());
    sukima::on(c, core(3), [&] { ++number; });
    EXPECT_EQ(place_now(), place());
  };
  runtime().run(run);
  runtime().run([&] {
    EXPECT_EQ(sukima::on(core(2), [&] { return number; }), 2);
    EXPECT_EQ(&sukima::on(core(3), [&]() -> int& { return number; }), &number);
    EXPECT_EQ(sukima::on(core(2), [] { return sukima::on([] { return place{}; }, place_now); }), place());
  });
}

TEST_F(hinted, frames_end_with_their_exceptions) {
  start(2);
  runtime().run([&](context c) {
    EXPECT_THROW(sukima::on(c, core(1),
                            [&](context b) {
                              sukima::on(b, core(2), [](context) { throw std::runtime_error("inside"); });
                            }),
                 std::runtime_error);
    EXPECT_EQ(place_now(), place());
  });
}

TEST_F(hinted, nothing_is_asked_where_hints_are_off) {
  sukima::settings s = settings_of(2);
  s.placement = placement_policy::off;
  start(s);
  std::atomic<int> asked{0};
  const auto where = [&] {
    ++asked;
    return core(1);
  };
  std::atomic<int> iterations{0};
  runtime().run([&](context c) {
    sukima::on(c, where, [](context below) { return support::fib(below, 12); });
    on_two_workers(c, [](context) {}, [](context) {});
    std::atomic<bool> begun{false};
    sukima::fork2(
        c, [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return begun.load(); })); },
        [&] { begun = true; }, sukima::on(where));
    sukima::parallel_for(c, 0, 100, [&](int) { ++iterations; }, sukima::on([&](int) { return where(); }));
  });
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(iterations, 100);
}

/// Nothing moves: the other worker runs something, and fibers are not exchanged.
TEST_F(hinted, time_with_a_hint_is_counted_where_it_is_spent) {
  sukima::settings s = settings_of(2);
  s.placement = placement_policy::prefer;
  start(s);
  runtime().run([&](context c) {
    std::atomic<bool> seen{false};
    std::atomic<bool> over{false};
    on_two_workers(
        c,
        [&](context b) {
          const auto own = [&] {
            return runtime().statistics().workers[static_cast<unsigned>(sukima::worker_id())];
          };
          const int here = sukima::worker_id();
          EXPECT_TRUE(poll_until(b, [&] { return seen.load(); }));
          EXPECT_EQ(own().at_home_seconds + own().away_seconds, 0.0);
          sukima::on(b, core(1 - here), [] {});
          EXPECT_GT(own().away_seconds, 0.0);
          EXPECT_EQ(own().at_home_seconds, 0.0);
          const double away = own().away_seconds;
          sukima::on(b, core(here), [&](context inner) { sukima::on(inner, place{}, [] {}); });
          EXPECT_GT(own().at_home_seconds, 0.0);
          EXPECT_NEAR(own().away_seconds, away, 0.05 * away) << "but for the rate of ticks, better known now";
          over = true;
        },
        [&](context b) {
          sukima::on(b, core(sukima::worker_id()), [] {});
          seen = true;
          EXPECT_TRUE(poll_until(b, [&] { return over.load(); }));
        });
  });
}

/// A task has the place of the frame that it was split off from.
TEST_F(hinted, choice_points_inherit_by_their_address) {
  start(2);
  runtime().run([&](context c) {
    std::atomic<bool> begun{false};
    // Older than the frame with the hint, though split off below it, and not before.
    bool is_inside = false;
    sukima::fork2(
        c,
        [&](context b) {
          sukima::on(b, core(5), [&](context inner) {
            is_inside = true;
            EXPECT_TRUE(poll_until(inner, [&] { return begun.load(); }));
            EXPECT_EQ(place_now(), core(5));
          });
        },
        [&] {
          EXPECT_EQ(place_now(), place());
          begun = true;
        },
        sukima::guard([&] { return is_inside ? 1.0 : 0.0; }));
    // Inside a hint, and inside a second one.
    sukima::on(c, core(5), [&](context outer) {
      on_two_workers(
          outer, [&](context) { EXPECT_EQ(place_now(), core(5)); },
          [&](context) { EXPECT_EQ(place_now(), core(5)); });
      sukima::on(outer, core(6), [&](context inner) {
        on_two_workers(
            inner, [&](context) {},
            [&](context b) {
              EXPECT_EQ(place_now(), core(6));
              sukima::parallel_for(b, 0, 10, [&](int) { EXPECT_EQ(place_now(), core(6)); });
            });
      });
      EXPECT_EQ(place_now(), core(5));
    });
  });
}

TEST_F(hinted, groups_and_calls_without_context_inherit) {
  start(2);
  runtime().run([&](context c) {
    sukima::on(c, core(5), [&](context b) {
      sukima::task_group group(b);
      for (int i = 0; i < 20; ++i) group.run([&] { EXPECT_EQ(place_now(), core(5)); });
      EXPECT_TRUE(group.wait());
      sukima::fork2([&] { EXPECT_EQ(place_now(), core(5)); }, [&] { EXPECT_EQ(place_now(), core(5)); });
    });
  });
}

TEST_F(hinted, branches_of_a_fork_have_their_own) {
  start(2);
  runtime().run([&](context c) {
    for (const bool taken : {false, true}) {
      std::atomic<bool> begun{!taken};
      int value = 3;
      const auto both = sukima::fork2(
          c,
          [&](context b) {
            EXPECT_TRUE(poll_until(b, [&] { return begun.load(); }));
            return place_now();
          },
          [&]() -> int& {
            EXPECT_EQ(place_now(), core(6));
            begun = true;
            return value;
          },
          sukima::on(core(5), core(6)), sukima::guard(1.0));
      EXPECT_EQ(both.first, core(5));
      EXPECT_EQ(&both.second, &value);
    }
    // Generic branches, which run as clones, too.
    const auto sum = [](const auto& self, auto below, int n) -> long {
      if (n < 2) return n;
      auto [a, b] = sukima::fork2(
          below, [&](auto d) { return self(self, d, n - 1); }, [&](auto d) { return self(self, d, n - 2); },
          sukima::on(place(7)));
      return a + b;
    };
    EXPECT_EQ(sum(sum, c, 20), 6765);
  });
}

TEST_F(hinted, futures_have_their_own_or_inherit) {
  start(2);
  runtime().run([&](context c) {
    for (const bool taken : {false, true}) {
      std::atomic<int> begun{0};
      const auto look = [&] {
        ++begun;
        return place_now();
      };
      sukima::on(c, core(5), [&](context b) {
        sukima::future own(b, look, sukima::on(core(6)));
        sukima::future inherits(b, look);
        const auto launched_own = sukima::launch(look, sukima::on([&] { return core(7); }));
        const auto launched_inherits = sukima::launch(look);
        if (taken) {
          EXPECT_TRUE(poll_until(b, [&] { return begun == 4; }));
        }
        EXPECT_EQ(own.touch(b), core(6));
        EXPECT_EQ(inherits.touch(b), core(5));
        EXPECT_EQ(launched_own.touch(b), core(7));
        EXPECT_EQ(launched_inherits.touch(b), core(5));
      });
    }
    const auto wrong = []() -> place { throw std::runtime_error("no place"); };
    EXPECT_THROW(static_cast<void>(sukima::launch([] {}, sukima::on(wrong))), std::runtime_error);
  });
}

TEST_F(hinted, children_reductions_and_later_branches_have_their_own) {
  start(2);
  runtime().run([&](context c) {
    for (const bool follows : {true, false}) {
      const place wanted = follows ? core(6) : place{};
      const auto hint = sukima::on(wanted);
      sukima::task_group group(c);
      for (int i = 0; i < 10; ++i) {
        group.run(c, [&] { EXPECT_EQ(place_now(), wanted); }, hint);
        group.run([&](context) { EXPECT_EQ(place_now(), wanted); }, sukima::on([&] { return wanted; }));
      }
      EXPECT_TRUE(group.wait(c));
      const auto look = [&](int i) {
        EXPECT_EQ(place_now(), wanted);
        return i;
      };
      EXPECT_EQ(sukima::parallel_reduce(c, 0, 100, 0, look, std::plus{}, hint), 4950);
      EXPECT_EQ(sukima::parallel_reduce(0, 100, 0, look, std::plus{}, sukima::grain(3), hint), 4950);
      const auto where = [] { return place_now(); };
      EXPECT_EQ(sukima::fork(c, where, where, where, hint), std::tuple(place{}, wanted, wanted));
      EXPECT_EQ(sukima::fork(where, where, where, where, sukima::on(core(1), wanted)),
                std::tuple(core(1), wanted, wanted, wanted));
    }
    EXPECT_EQ(place_now(), place());
    // A place's function that throws leaves before anything is added.
    const auto wrong = []() -> place { throw std::runtime_error("no place"); };
    int called = 0;
    sukima::task_group group(c);
    EXPECT_THROW(group.run(c, [&] { ++called; }, sukima::on(wrong)), std::runtime_error);
    EXPECT_TRUE(group.wait(c));
    EXPECT_THROW(sukima::parallel_reduce(
                     c, 0, 9, 0, [&](int) { return ++called; }, std::plus{}, sukima::on(wrong)),
                 std::runtime_error);
    EXPECT_EQ(called, 0);
  });
}

TEST_F(hinted, place_functions_may_throw) {
  start(2);
  const auto wrong = []() -> place { throw std::runtime_error("no place"); };
  int called = 0;
  runtime().run([&](context c) {
    EXPECT_THROW(sukima::on(c, wrong, [&] { ++called; }), std::runtime_error);
    EXPECT_THROW(sukima::fork2(c, [] {}, [&] { ++called; }, sukima::on(wrong)), std::runtime_error);
    // At the moment when the branch is given away: other workers want work until the exception has left.
    EXPECT_THROW(
        sukima::fork2(
            c, [&](context b) { poll_until(b, [] { return false; }); }, [&] { ++called; }, sukima::on(wrong)),
        std::runtime_error);
    EXPECT_THROW(sukima::parallel_for(
                     c, 0, 10, [&](int) { ++called; }, sukima::on([&](int) { return wrong(); })),
                 std::runtime_error);
    EXPECT_EQ(place_now(), place());
  });
  EXPECT_EQ(called, 0);
}

TEST_F(hinted, loops_are_grouped_by_place) {
  start(4);
  std::vector<std::atomic<int>> done(1000);
  const auto where = [&](int i) { return core(i * 7 % 8); };
  runtime().run([&](context c) {
    sukima::parallel_for(
        c, 0, 1000,
        [&](int i) {
          EXPECT_EQ(place_now(), where(i));
          ++done[static_cast<std::size_t>(i)];
        },
        sukima::on(where), sukima::grain(3));
    sukima::parallel_for(
        c, done, [&](context, std::atomic<int>& one) { ++one; },
        sukima::on([&](const std::atomic<int>& one) { return where(static_cast<int>(&one - done.data())); }));
    sukima::parallel_for(
        c, 0, 1000, [&](int i) { ++done[static_cast<std::size_t>(i)]; }, sukima::on(core(2)));
    sukima::parallel_for(c, 0, 0, [&](int) { FAIL(); }, sukima::on(where));
  });
  sukima::parallel_for(
      0, 1000, [&](int i) { ++done[static_cast<std::size_t>(i)]; }, sukima::on([&](int) { return place(); }));
  for (const std::atomic<int>& one : done) ASSERT_EQ(one, 4);
}

TEST(placed_groups, have_each_iteration_once_and_in_order) {
  using sukima::detail::placed_group;
  const std::vector<sukima_place> places{7, 0, 7, 9, 0, 7};
  const sukima::detail::placed_groups g = sukima::detail::group_by_place(places, 100);
  ASSERT_EQ(g.count, 3u);
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < g.count; ++i) {
    const placed_group& one = g.groups[i];
    std::vector<std::int64_t> own(&g.order[one.from], &g.order[one.from] + one.count);
    EXPECT_EQ(own, one.place == 0   ? (std::vector<std::int64_t>{101, 104})
                   : one.place == 7 ? (std::vector<std::int64_t>{100, 102, 105})
                                    : std::vector<std::int64_t>{103});
    all.insert(all.end(), own.begin(), own.end());
  }
  EXPECT_EQ(all.size(), 6u);
  EXPECT_EQ(sukima::detail::group_by_place({}, 0).count, 0u);
}

class hinted_thieves : public hinted, public testing::WithParamInterface<placement_policy> {};

TEST_P(hinted_thieves, take_tasks_hinted_near_them_first) {
  sukima::settings s = settings_of(2);
  s.placement = GetParam();
  start(s);
  const auto by_hint = [&] { return runtime().statistics().steals_by_hint; };
  // The first task is taken before any worker has followed a hint.
  while (by_hint() == 0)
    runtime().run([&](context c) {
      std::atomic<bool> begun{false};
      sukima::fork2(
          c, [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return begun.load(); })); },
          [&] { begun = true; }, sukima::on(core(1)));
    });
}
INSTANTIATE_TEST_SUITE_P(all, hinted_thieves,
                         testing::Values(placement_policy::prefer, placement_policy::exchange));

/// With both steal protocols.
class exchanges : public hinted, public testing::WithParamInterface<unsigned> {
 protected:
  sukima::runtime& start_with(unsigned workers) {
    sukima::settings s = settings_of(workers);
    s.published_tasks = GetParam();
    return start(s);
  }
};
INSTANTIATE_TEST_SUITE_P(protocols, exchanges, testing::Values(3u, 0u), [](const auto& protocol) {
  return protocol.param == 0 ? std::string("requests") : std::string("publish");
});

TEST_P(exchanges, bring_a_fiber_to_its_place) {
  start_with(2);
  runtime().run([&](context c) {
    std::atomic<bool> there{false};
    on_two_workers(
        c,
        [&](context b) {
          const int other = 1 - sukima::worker_id();
          sukima::on(b, core(other), [&](context inner) {
            EXPECT_TRUE(poll_until(inner, [&] { return sukima::worker_id() == other; }));
          });
          there = true;
        },
        [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return there.load(); })); });
  });
  EXPECT_GE(runtime().statistics().exchanges, 1u);
}

/// No worker is on CPU 3: one on the other CPU of its cache is near enough.
TEST_P(exchanges, bring_a_fiber_to_the_nearest_place_with_a_worker) {
  start_with(2);
  for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i] = i % 2 == 0 ? 0 : 2;
  runtime().run([&](context c) {
    std::atomic<bool> there{false};
    on_two_workers(
        c,
        [&](context b) {
          const int other = 1 - sukima::worker_id();
          sukima::on(b, core(other == 0 ? 1 : 3), [&](context inner) {
            EXPECT_TRUE(poll_until(inner, [&] { return sukima::worker_id() == other; }));
          });
          there = true;
        },
        [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return there.load(); })); });
  });
}

TEST_P(exchanges, bring_two_fibers_to_each_others_places) {
  start_with(2);
  runtime().run([&](context c) {
    std::atomic<int> home{0};
    const auto go = [&](context b) {
      const int other = 1 - sukima::worker_id();
      sukima::on(b, core(other), [&](context inner) {
        EXPECT_TRUE(poll_until(inner, [&] { return sukima::worker_id() == other; }));
        ++home;
        EXPECT_TRUE(poll_until(inner, [&] { return home == 2; }));
      });
    };
    on_two_workers(c, go, go);
  });
}

/// The worker in the wanted place never polls: the fiber does not wait for it.
TEST_P(exchanges, do_not_wait_for_a_worker_that_never_polls) {
  start_with(2);
  std::atomic<bool> seen{false};
  std::atomic<bool> over{false};
  runtime().run([&](context c) {
    on_two_workers(
        c,
        [&](context b) {
          EXPECT_TRUE(poll_until(b, [&] { return seen.load(); }));
          const int own = sukima::worker_id();
          sukima::on(b, core(1 - own), [&](context inner) {
            const auto offered = [&] { return runtime().statistics().offers_taken_back != 0; };
            EXPECT_TRUE(poll_until(inner, offered));
            EXPECT_EQ(sukima::worker_id(), own);
          });
          over = true;
        },
        [&](context b) {
          sukima::on(b, core(7), [] {});  // where it is was not looked at before
          seen = true;
          while (!over) std::this_thread::yield();
        });
  });
  EXPECT_EQ(runtime().statistics().exchanges, 0u);
}

TEST_P(exchanges, call_an_idle_worker_that_sleeps) {
  start_with(2);
  runtime().run([&](context c) {
    const int other = 1 - sukima::worker_id();
    std::atomic<bool> seen{false};
    // Both have followed a hint: the other worker was seen on its CPU.
    on_two_workers(
        c, [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return seen.load(); })); },
        [&](context b) { sukima::on(b, core(other), [&] { seen = true; }); });
    sukima::on(c, core(other),
               [&](context b) { EXPECT_TRUE(poll_until(b, [&] { return sukima::worker_id() == other; })); });
  });
}

TEST_P(exchanges, leave_thread_bound_fibers_where_they_are) {
  start_with(2);
  runtime().run([&](context c) {
    std::atomic<bool> seen{false};
    std::atomic<bool> over{false};
    std::atomic<int> polls{0};  // of the other one
    on_two_workers(
        c,
        [&](context b) {
          EXPECT_TRUE(poll_until(b, [&] { return seen.load(); }));
          sukima::thread_bound([&] {
            const int own = sukima::worker_id();
            sukima::on(b, core(1 - own), [&](context inner) {
              while (polls < 1000 && sukima::worker_id() == own) {
                sukima::fork2(inner, [] {}, [&] { EXPECT_EQ(place_now(), core(1 - own)); });
                std::this_thread::yield();
              }
              EXPECT_EQ(sukima::worker_id(), own);
            });
          });
          over = true;
        },
        // It runs where the other one should run, can leave, and polls.
        [&](context b) {
          sukima::on(b, core(sukima::worker_id()), [] {});
          seen = true;
          EXPECT_TRUE(poll_until(b, [&] {
            ++polls;
            return over.load();
          }));
        });
  });
}

TEST_P(exchanges, survive_exceptions_cancelling_and_blocking) {
  start_with(3);
  const auto far = [&] { return core((sukima::worker_id() + 1) % 3); };
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW(runtime().run([&](context c) {
      sukima::on(c, far, [&](context b) {
        sukima::fork2(
            b, [&](context d) { support::fib(d, 14); },
            [&](context d) {
              sukima::on(d, far, [&](context e) {
                support::fib(e, 12);
                throw std::runtime_error("far");
              });
            });
      });
    }),
                 std::runtime_error);
    runtime().run([&](context c) {
      const auto value = sukima::cancellable(c, [&](context b, const sukima::canceller& cancel) {
        sukima::fork2(
            b,
            [&](context d) { sukima::on(d, far, [&](context e) { poll_until(e, [] { return false; }); }); },
            [&](context d) {
              sukima::on(d, far, [&](context e) { support::fib(e, 12); });
              cancel.cancel();
            });
        return 1;
      });
      EXPECT_FALSE(value);
      sukima::on(c, far, [&](context b) {
        sukima::blocking(b, [] { std::this_thread::yield(); });
        support::fib(b, 12);
      });
    });
  }
}

/// Roots are exchanged as any fiber; each thread gets its own back.
TEST_P(exchanges, take_the_roots_of_entering_threads) {
  start_with(4);
  std::vector<std::jthread> threads;
  std::atomic<int> moved{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const std::thread::id own = std::this_thread::get_id();
        const long result = runtime().run([&](context c) {
          const int before = sukima::worker_id();
          const long value =
              sukima::on(c, core((before + 1) % 8), [&](context b) { return support::fib(b, 16) + t; });
          moved += sukima::worker_id() != before ? 1 : 0;
          return value;
        });
        ASSERT_EQ(result, 987 + t);
        ASSERT_EQ(std::this_thread::get_id(), own);
      }
    });
}

TEST_P(exchanges, go_on_while_workers_come_and_go) {
  start_with(4);
  std::atomic<bool> over{false};
  std::jthread changes([&] {
    for (unsigned i = 0; !over; ++i) {
      runtime().limit_workers(1 + i % 4);
      std::this_thread::yield();
    }
    runtime().limit_workers(0);
  });
  runtime().run([&](context c) {
    for (int i = 0; i < 200; ++i)
      sukima::parallel_for(
          c, 0, 16,
          [&](context b, int k) {
            sukima::on(b, core((k + i) % 4), [&](context d) { EXPECT_EQ(support::fib(d, 10), 55); });
          },
          sukima::on([&](int k) { return core(k % 4); }));
  });
  over = true;
}

/// All workers are on one CPU after the cpuset has lost the others: a hint for those means the nearest place.
TEST_P(exchanges, end_where_the_places_cpus_are_gone) {
  start_with(2);
  for (std::atomic<int>& cpu : cpus) cpu = 0;
  runtime().run([&](context c) {
    on_two_workers(
        c,
        [&](context b) {
          sukima::on(b, core(1), [&](context d) { EXPECT_EQ(support::fib(d, 16), 987); });
          sukima::on(b, of(7, place_level::numa_domain),
                     [&](context d) { EXPECT_EQ(support::fib(d, 16), 987); });
        },
        [&](context b) { support::fib(b, 16); });
  });
  EXPECT_EQ(runtime().statistics().exchanges, 0u);
  EXPECT_EQ(runtime().statistics().offers_taken_back, 0u);
}

class many_places : public hinted {
 protected:
  many_places() : hinted(64) {}
};

TEST_F(many_places, with_one_worker) {
  start(1);
  std::vector<int> done(640);
  runtime().run([&](context c) {
    for (int cpu = 0; cpu < 64; ++cpu)
      sukima::on(c, core(cpu), [&](context b) { EXPECT_EQ(support::fib(b, 10), 55); });
    sukima::parallel_for(
        c, 0, 640,
        [&](int i) {
          EXPECT_EQ(place_now(), core(i % 64));
          ++done[static_cast<std::size_t>(i)];
        },
        sukima::on([&](int i) { return core(i % 64); }));
  });
  EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 640);
  EXPECT_EQ(runtime().statistics().exchanges, 0u);
}

TEST_F(many_places, with_workers_that_wander) {
  start(8);
  runtime().run([&](context c) {
    for (int i = 0; i < 100; ++i)
      sukima::parallel_for(
          c, 0, 64,
          [&](context b, int k) {
            cpus[static_cast<std::size_t>(sukima::worker_id()) % 64] = (i * 7 + k) % 64;
            sukima::on(b, core(k), [&](context d) { EXPECT_EQ(support::fib(d, 8), 21); });
          },
          sukima::on([&](int k) { return core(63 - k); }));
  });
}

}  // namespace

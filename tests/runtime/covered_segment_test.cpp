// SPDX-License-Identifier: Apache-2.0
// A task that runs on top of a fiber that waits for a group hides no work below it.
#include "support.hpp"

#include <sukima/search.hpp>
#include <sukima/task_group.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <ranges>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::fork2;
using sukima::task_group;

class covered_segment : public support::runtimes {
 protected:
  const support::must_end within{"a child on top of the fiber that waits for its group"};
};
INSTANTIATE_TEST_SUITE_P(workers, covered_segment, support::worker_counts(), support::name_of_count);

/// A group with one child.
template <class Child> void group_of_one(context c, Child child) {
  task_group group(c);
  group.run(c, child);
  EXPECT_TRUE(group.wait(c));
}

TEST_P(covered_segment, a_suspended_child_may_wait_for_a_branch_of_its_waiter) {
  runtime.run([](context c) {
    support::suspending_barrier both(2);
    fork2(
        c, [&](context below) { group_of_one(below, [&](context child) { both.arrive(child); }); },
        [&](context below) { both.arrive(below); });
  });
}

/// At each level a branch and two iterations that have not begun, and a group.
void descend(context c, int levels, support::suspending_barrier& all) {
  if (levels == 0) return all.arrive(c);
  fork2(
      c,
      [&](context c1) {
        sukima::parallel_for(c1, 0, 3, [&](context c2, int i) {
          if (i != 0) return all.arrive(c2);
          group_of_one(c2, [&](context c3) { descend(c3, levels - 1, all); });
        });
      },
      [&](context c1) { all.arrive(c1); });
}

TEST_P(covered_segment, all_levels_of_nested_groups_are_within_reach) {
  for (const int levels : {1, 2, 20})
    runtime.run([levels](context c) {
      support::suspending_barrier all(static_cast<std::size_t>(1 + levels * 3));
      descend(c, levels, all);
    });
}

/// One of two workers is busy until a child of `body` has begun. So that child runs on top of its waiter, and
/// the work below it is still there. body(context, child_begins)
template <class Body> void while_the_other_worker_is_busy(context c, Body body) {
  std::atomic<bool> busy{false};
  std::atomic<bool> begun{false};
  fork2(
      c,
      [&](context below) {
        EXPECT_TRUE(support::poll_until(below, [&] { return busy.load(); }));
        fork2(below, [] {}, [] {});  // the worker that took the other branch has asked for one more
        body(below, [&] { begun = true; });
      },
      [&](context) {
        busy = true;
        while (!begun) std::this_thread::yield();
      });
}

TEST(covered_segments, a_child_that_runs_gives_a_branch_of_its_waiter_away) {
  const support::must_end within("a child that polls");
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round)
    two.run([](context c) {
      while_the_other_worker_is_busy(c, [](context c1, auto child_begins) {
        std::atomic<bool> taken{false};
        const auto child = [&](context c2) {
          child_begins();
          EXPECT_TRUE(support::poll_until(c2, [&] { return taken.load(); }));
        };
        fork2(c1, [&](context c2) { group_of_one(c2, child); }, [&](context) { taken = true; });
      });
    });
}

TEST(covered_segments, a_branch_that_fails_ends_the_child) {
  const support::must_end within("a child that is aborted");
  sukima::runtime two(support::with_workers(2));
  const auto run = [](context c) {
    while_the_other_worker_is_busy(c, [](context c1, auto child_begins) {
      const auto child = [&](context c2) {
        child_begins();
        support::fork_for_ever(c2);
      };
      fork2(c1, [&](context c2) { group_of_one(c2, child); }, [](context) { throw support::test_error(1); });
    });
  };
  for (int round = 0; round < 20; ++round) EXPECT_THROW(two.run(run), support::test_error);
}

TEST(covered_segments, tasks_that_a_destructor_of_a_child_gives_away_are_aborted_with_its_branch) {
  const support::must_end within("a branch that was split off while a child was unwound");
  sukima::runtime two(support::with_workers(2));
  const auto run = [](context c) {
    while_the_other_worker_is_busy(c, [](context c1, auto child_begins) {
      std::atomic<bool> taken{false};
      struct polls_at_end {
        context c;
        std::atomic<bool>& taken;
        ~polls_at_end() {
          EXPECT_TRUE(support::poll_until(c, [this] { return taken.load(); }));
        }
      };
      const auto child = [&](context c2) {
        child_begins();
        const polls_at_end until_it_is_taken{c2, taken};
        throw support::test_error(2);
      };
      fork2(
          c1, [&](context c2) { group_of_one(c2, child); },
          [&](context c2) {
            taken = true;
            support::fork_for_ever(c2);
          });
    });
  };
  for (int round = 0; round < 20; ++round) EXPECT_THROW(two.run(run), support::test_error);
}

/// Its waiter was looked through up to the group's end when the child was suspended.
TEST(covered_segments, a_fork_where_a_group_was_is_within_reach) {
  const support::must_end within("a branch that is pushed where a group has ended");
  sukima::runtime one(support::with_workers(1));
  one.run([](context c) {
    {
      support::suspending_barrier children(2);
      task_group group(c);
      for (int i = 0; i < 2; ++i) group.run(c, [&](context child) { children.arrive(child); });
      EXPECT_TRUE(group.wait(c));
    }
    support::suspending_barrier branches(2);
    fork2(c, [&](context below) { branches.arrive(below); }, [&](context below) { branches.arrive(below); });
  });
}

/// A workspace that says whether it is as the choices on its way have made it.
struct path {
  std::vector<int> choices;
  friend bool operator==(const path&, const path&) = default;
};

long leaves(context c, path& way, int levels) {
  if (levels == 0) return 1;
  return sukima::search(
      c, way, std::views::iota(0, 4), [](path& w, int choice) { w.choices.push_back(choice); },
      [](path& w, int) { w.choices.pop_back(); },
      [levels](context below, path& w, int choice) {
        long sum = 0;
        path copy = w;
        group_of_one(below, [&](context child) {
          sum = leaves(child, copy, levels - 1);
          EXPECT_EQ(support::fib(child, 5), 5);
        });
        EXPECT_EQ(w, copy);
        EXPECT_EQ(w.choices.back(), choice);
        return sum;
      },
      0L, std::plus<>{});
}

TEST_P(covered_segment, a_search_below_is_backtracked_and_replayed) {
  for (int round = 0; round < 5; ++round) {
    path way;
    EXPECT_EQ(runtime.run([&](context c) { return leaves(c, way, 5); }), 1024);
    EXPECT_TRUE(way.choices.empty());
  }
}

/// A workspace of which no copy can be made.
struct no_copy {
  explicit no_copy(std::atomic<int>& of) : failed(&of) {}
  no_copy(const no_copy& other) : failed(other.failed) {
    ++*failed;
    throw support::test_error(2);
  }
  no_copy& operator=(const no_copy&) = delete;
  ~no_copy() = default;
  std::atomic<int>* failed;
};

TEST(covered_segments, a_failed_copy_is_reported_to_the_waiter_and_not_to_the_child) {
  const support::must_end within("a child on top of a search that cannot be copied");
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> failed{0};
    std::atomic<bool> child_ended{false};
    no_copy workspace(failed);
    const auto body = [&](context c, auto child_begins) {
      sukima::search(
          c, workspace, std::views::iota(0, 2), [](no_copy&, int) {}, [](no_copy&, int) {},
          [&](context below, no_copy&, int) {
            group_of_one(below, [&](context child) {
              child_begins();
              EXPECT_TRUE(support::poll_until(child, [&] { return failed != 0; }));
              child_ended = true;
            });
            return 0;
          },
          0, std::plus<>{});
    };
    EXPECT_THROW(two.run([&](context c) { while_the_other_worker_is_busy(c, body); }), support::test_error);
    EXPECT_TRUE(child_ended);
  }
}

/// Pending branches that poll, and `leaf` below them.
long short_spine(context c, int levels, const std::function<void(context)>& leaf) {
  if (levels == 0) {
    leaf(c);
    return 1;
  }
  const auto [a, b] = fork2(
      c, [&leaf, levels](context below) { return short_spine(below, levels - 1, leaf); },
      [](context below) {
        fork2(below, [] {}, [] {});
        return 1L;
      });
  return a + b;
}

/// Steps are counted, not time: were all that is pending looked through for each split, it would be
/// levels × splits.
TEST(covered_segments, a_deep_one_is_looked_through_once_for_all_splits) {
  const support::must_end within("a child on top of a deep stack");
  constexpr int levels = support::sanitized ? 20'000 : 50'000;
  constexpr std::uint64_t splits = 2'000;
  sukima::runtime two(support::with_workers(2));
  const auto promotions = [&] { return two.statistics().promotions; };
  long sum = 0;
  two.run([&](context c) {
    while_the_other_worker_is_busy(c, [&](context c1, auto child_begins) {
      sum = short_spine(c1, levels, [&](context below) {
        group_of_one(below, [&](context child) {
          child_begins();
          EXPECT_TRUE(support::poll_until(child, [&] { return promotions() >= splits; }));
        });
      });
    });
  });
  EXPECT_EQ(sum, levels + 1);
  const sukima::statistics all = two.statistics();
  EXPECT_LE(all.choice_points_scanned, 4 * std::uint64_t{levels} + 300 * all.promotions) << all.text();
}

}  // namespace

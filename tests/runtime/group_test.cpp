// SPDX-License-Identifier: Apache-2.0
// task_group: children that add children, exceptions, cancelling, several fibers, memory, misuse.
#include "support.hpp"

#include <sukima/task_group.hpp>

#include <array>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace {

using sukima::context;
using sukima::task_group;
using support::counted;
using support::test_error;

class group_test : public support::runtimes {
 protected:
  void SetUp() override { counted::reset(); }
  void TearDown() override {
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(counted::errors(), 0);
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, group_test, support::worker_counts(), support::name_of_count);

TEST_P(group_test, runs_every_child_once) {
  for (const std::size_t n : std::initializer_list<std::size_t>{0, 1, 2, 10, 1000, 20'000}) {
    std::vector<std::atomic<int>> seen(n);
    runtime.run([&](context c) {
      task_group group(c);
      for (auto& s : seen) group.run(c, [&s] { ++s; });
      EXPECT_TRUE(group.wait(c));
      for (auto& s : seen) ASSERT_EQ(s, 1);
      for (auto& s : seen) group.run([&s](context) { ++s; });
      EXPECT_TRUE(group.wait());  // a second round
    });
    for (auto& s : seen) ASSERT_EQ(s, 2);
  }
}

TEST_P(group_test, works_without_a_context) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> sum{0};
    runtime.run([&] {
      task_group group;
      for (int i = 0; i < 100; ++i) group.run([&, i] { sum += i; });
      const auto [a, b] = sukima::fork2([] { return 1; }, [] { return 2; });
      EXPECT_EQ(a + b, 3);
      task_group inner;
      inner.run([&] { sum += 1000; });
      EXPECT_TRUE(inner.wait());
      EXPECT_TRUE(group.wait());
    });
    EXPECT_EQ(sum, 4950 + 1000);
  }
}

/// Numbers of nodes of a random tree: each child decides how many it adds.
void grow(task_group& group, std::atomic<long>& nodes, std::uint64_t seed, int depth) {
  ++nodes;
  if (depth == 0) return;
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  const auto children = static_cast<unsigned>(random() % 5);
  for (unsigned i = 0; i < children; ++i) {
    const std::uint64_t next = random();
    group.run([&group, &nodes, next, depth](context c) {
      support::fib(c, static_cast<int>(next % 10));
      grow(group, nodes, next, depth - 1);
    });
  }
}
long plain_grow(std::uint64_t seed, int depth) {
  if (depth == 0) return 1;
  long nodes = 1;
  std::minstd_rand random(static_cast<unsigned>(seed % 2147483646 + 1));
  const auto children = static_cast<unsigned>(random() % 5);
  for (unsigned i = 0; i < children; ++i) nodes += plain_grow(random(), depth - 1);
  return nodes;
}

TEST_P(group_test, children_add_children) {
  for (std::uint64_t seed = 0; seed < (support::sanitized ? 10 : 60); ++seed) {
    std::atomic<long> nodes{0};
    runtime.run([&](context c) {
      task_group group(c);
      grow(group, nodes, seed, 8);
      EXPECT_TRUE(group.wait(c));
    });
    ASSERT_EQ(nodes, plain_grow(seed, 8)) << "seed " << seed;
  }
}

TEST_P(group_test, runs_a_long_chain_of_successors) {
  struct link {
    task_group& group;
    std::atomic<int>& count;
    int left;
    void operator()() const {
      ++count;
      if (left > 0) group.run(link{group, count, left - 1});
    }
  };
  std::atomic<int> count{0};
  runtime.run([&](context c) {
    task_group group(c);
    group.run(link{group, count, 50'000});
    group.wait(c);
  });
  EXPECT_EQ(count, 50'001);
}

TEST_P(group_test, keeps_its_memory_bounded) {
  // More children than are kept waiting, from the fiber that made the group and from within a child.
  std::atomic<int> most{0};
  const auto watch = [&](const counted&) {
    int now = counted::alive();
    int seen = most;
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
  };
  runtime.run([&](context c) {
    task_group group(c);
    for (int i = 0; i < 10'000; ++i) group.run(c, [&, x = counted(i)] { watch(x); });
    group.run(c, [&] {
      for (int i = 0; i < 10'000; ++i) group.run([&, x = counted(i)] { watch(x); });
    });
    group.wait(c);
  });
  EXPECT_LT(most, 1500);
}

TEST_P(group_test, moves_what_cannot_be_copied) {
  std::atomic<int> sum{0};
  runtime.run([&](context c) {
    task_group group(c);
    for (int i = 0; i < 100; ++i) group.run([&, p = std::make_unique<int>(i)] { sum += *p; });
    group.wait(c);
  });
  EXPECT_EQ(sum, 4950);
}

TEST_P(group_test, an_exception_leaves_wait_and_cancels_the_rest) {
  for (int round = 0; round < 30; ++round) {
    runtime.run([&](context c) {
      task_group group(c);
      for (int i = 0; i < 20; ++i)
        group.run([&, i, x = counted(i)](context below) {
          if (i == round % 20) throw test_error(i);
          // One child ends by the exception only; the child that throws gets another worker.
          if (i == (round + 7) % 20 && GetParam() > 1) support::fork_for_ever(below);
        });
      EXPECT_EQ(support::message_of([&] { group.wait(c); }), "error " + std::to_string(round % 20));
      EXPECT_FALSE(group.cancelled());
      // It can be used again.
      std::atomic<int> sum{0};
      for (int i = 0; i < 10; ++i) group.run([&] { ++sum; });
      EXPECT_TRUE(group.wait(c));
      EXPECT_EQ(sum, 10);
    });
  }
}

TEST_P(group_test, a_child_that_throws_leaves_the_maker_alone) {
  runtime.run([](context c) {
    task_group group(c);
    group.run([] { throw test_error(1); });
    EXPECT_EQ(support::fib(c, 20), 6765);
    EXPECT_THROW(group.wait(c), test_error);
    EXPECT_EQ(support::fib(c, 20), 6765);
  });
}

TEST_P(group_test, is_cancelled_by_a_child_and_from_outside) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> begun{false};
    std::optional<std::thread> other;
    runtime.run([&](context c) {
      task_group group(c);
      for (int i = 0; i < 10; ++i)
        group.run([&, x = counted(i)](context below) {
          begun = true;
          support::fork_for_ever(below);
        });
      other.emplace([&] {
        EXPECT_TRUE(support::sleep_until([&] { return begun.load(); }));
        group.cancel();
      });
      EXPECT_FALSE(group.wait(c));
      other->join();
      group.run([&](context below) {
        group.cancel();
        support::fork_for_ever(below);
      });
      // The thread's call above may have come after the first round; this one is cancelled in any case.
      EXPECT_FALSE(group.wait(c));
    });
  }
}

TEST_P(group_test, the_destructor_cancels_and_waits) {
  // A worker is always free of endless children. If they occupied all workers, the group's fiber could wait
  // for ever for a branch of its own that no worker has begun.
  const int endless = GetParam() == 1 ? 10 : static_cast<int>(GetParam()) - 1;
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> running{0};
    const auto run_for_ever = [&](context below, int i) {
      if (i >= endless) return;
      struct visit {
        std::atomic<int>& n;
        explicit visit(std::atomic<int>& number) : n(number) { ++n; }
        ~visit() { --n; }
      } const here(running);
      support::fork_for_ever(below);
    };
    runtime.run([&](context c) {
      {
        task_group group(c);
        for (int i = 0; i < 10; ++i)
          group.run([&, i, x = counted(i)](context below) { run_for_ever(below, i); });
        support::fib(c, round % 20);
      }
      EXPECT_EQ(running, 0);
      EXPECT_EQ(counted::alive(), 0);
      try {
        task_group group(c);
        for (int i = 0; i < 10; ++i)
          group.run([&, i, x = counted(i)](context below) { run_for_ever(below, i); });
        throw test_error(round);
      } catch (const test_error& e) {
        EXPECT_EQ(e.number, round);
      }
      EXPECT_EQ(running, 0);
    });
  }
}

TEST_P(group_test, an_abort_from_outside_ends_the_children) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_FALSE(runtime.run([&](context c) {
      return sukima::cancellable(c, [&](context below, const sukima::canceller& cancel) {
        task_group group(below);
        for (int i = 0; i < 8; ++i)
          group.run([&, i, x = counted(i)](context deeper) {
            if (i == 7) cancel.cancel();  // the first that the waiting fiber runs
            support::fork_for_ever(deeper);
          });
        group.wait(below);
        ADD_FAILURE() << "an aborted wait returned";
      });
    }));
    // By a sibling's exception.
    std::atomic<bool> begun{false};
    EXPECT_THROW(runtime.run([&](context c) {
      sukima::fork2(
          c,
          [&](context below) {
            task_group group(below);
            for (int i = 0; i < 8; ++i)
              group.run([&, i, x = counted(i)](context deeper) {
                begun = true;
                if (i == 4 && GetParam() > 1) support::fork_for_ever(deeper);
              });
            group.wait(below);
          },
          [&](context below) {
            EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); }));
            throw test_error(1);
          });
    }),
                 test_error);
  }
}

TEST_P(group_test, is_used_by_several_fibers) {
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> sum{0};
    runtime.run([&](context c) {
      task_group group(c);
      sukima::parallel_for(c, 0, 50, [&](context below, int i) {
        for (int k = 0; k < 20; ++k)
          group.run([&, k](context deeper) {
            support::fib(deeper, k % 8);
            ++sum;
          });
        if (i % 5 == 0) group.wait(below);
      });
      group.wait(c);
    });
    EXPECT_EQ(sum, 1000);
  }
}

TEST(group, notifies_all_waiters_of_its_cancellation) {
  const support::must_end within("two that wait for a cancelled group");
  sukima::runtime runtime(support::with_workers(2));
  sukima::resumer parked;
  std::atomic<bool> begun{false};
  bool first = true, second = true;
  std::thread canceller;
  runtime.run([&](context c) {
    task_group group(c);
    group.run(c, [&](context below) {
      sukima::suspend(below, [&](sukima::resumer r) {
        parked = r;
        begun = true;
      });
    });
    EXPECT_TRUE(support::poll_until(c, [&] { return begun.load(); }));
    canceller = std::thread([&] {
      // The child and both that wait for it.
      EXPECT_TRUE(support::sleep_until([&] { return begun && runtime.statistics().suspensions >= 3; }));
      group.cancel();
      parked.resume();
    });
    sukima::fork2(
        c, [&](context below) { first = group.wait(below); },
        [&](context below) { second = group.wait(below); });
    EXPECT_TRUE(group.wait(c));
  });
  canceller.join();
  EXPECT_FALSE(first);
  EXPECT_FALSE(second);
}

TEST_P(group_test, children_may_suspend_and_have_groups) {
  std::atomic<int> sum{0};
  std::vector<std::thread> others;
  std::mutex lock;
  runtime.run([&](context c) {
    task_group group(c);
    for (int i = 0; i < 10; ++i)
      group.run([&](context below) {
        sukima::suspend(below, [&](sukima::resumer r) {
          const std::lock_guard hold(lock);
          others.emplace_back([r] { r.resume(); });
        });
        task_group inner(below);
        for (int k = 0; k < 10; ++k) inner.run([&] { ++sum; });
        EXPECT_TRUE(inner.wait(below));
      });
    EXPECT_TRUE(group.wait(c));
    EXPECT_EQ(sum, 100);
  });
  for (std::thread& t : others) t.join();
}

TEST_P(group_test, is_not_waited_for_by_its_own_children) {
  const char* const refused =
      "sukima: a child of a task group waits for that group, which would wait for itself; let code outside "
      "its children wait";
  runtime.run([&](context c) {
    task_group group(c);
    std::atomic<int> others{0};
    for (int i = 0; i < 3; ++i) group.run([&] { ++others; });
    group.run([&](context b) {
      EXPECT_EQ(support::message_of<sukima::usage_error>([&] { group.wait(b); }), refused);
    });
    group.run([&](context b) {
      sukima::parallel_for(b, 0, 3, [&](context d, int) {
        task_group inner(d);
        inner.run([&](context e) {
          EXPECT_EQ(support::message_of<sukima::usage_error>([&] { group.wait(e); }), refused);
        });
        EXPECT_TRUE(inner.wait(d));
      });
    });
    EXPECT_TRUE(group.wait(c));
    EXPECT_EQ(others, 3);
  });
}

/// There no abort would reach its children.
TEST_P(group_test, is_not_waited_for_in_another_runtime) {
  sukima::runtime another(support::with_workers(2));
  runtime.run([&](context c) {
    task_group group(c);
    std::atomic<int> run{0};
    another.run([&](context d) {
      group.run([&] { ++run; });
      const char* const refused =
          "sukima: a task group was waited for in a call of another runtime; wait for it outside that call";
      EXPECT_EQ(support::message_of<sukima::usage_error>([&] { group.wait(d); }), refused);
    });
    EXPECT_TRUE(group.wait(c));
    EXPECT_EQ(run, 1);
  });
}

TEST_P(group_test, may_be_waited_for_while_pinned) {
  runtime.run([](context c) {
    task_group group(c);
    std::atomic<int> sum{0};
    for (int i = 0; i < 50; ++i)
      group.run([&, i](context below) {
        support::fib(below, i % 12);
        ++sum;
      });
    sukima::thread_bound([&] { EXPECT_TRUE(group.wait(c)); });
    EXPECT_EQ(sum, 50);
  });
}

TEST_P(group_test, begins_children_while_all_others_are_suspended) {
  const support::must_end within("a group of suspended children");
  for (const std::size_t n : std::initializer_list<std::size_t>{3, 20, 500}) {
    std::atomic<std::size_t> ended{0};
    runtime.run([&](context c) {
      support::suspending_barrier all(n);
      task_group group(c);
      for (std::size_t i = 0; i < n; ++i)
        group.run([&](context below) {
          all.arrive(below);
          ++ended;
        });
      EXPECT_TRUE(group.wait(c));
    });
    EXPECT_EQ(ended, n);
  }
}

TEST_P(group_test, begins_children_while_others_join_what_is_suspended) {
  const support::must_end within("a group of children with suspended branches");
  for (int round = 0; round < 20; ++round)
    runtime.run([&](context c) {
      support::suspending_barrier all(2 * 8);
      task_group group(c);
      for (int i = 0; i < 8; ++i)
        group.run([&](context below) {
          sukima::fork2(
              below,
              [&](context deeper) {
                support::fib(deeper, 10);
                all.arrive(deeper);
              },
              [&](context deeper) { all.arrive(deeper); });
        });
      EXPECT_TRUE(group.wait(c));
    });
}

TEST_P(group_test, begins_children_while_its_thread_bound_waiter_runs_one_that_is_suspended) {
  const support::must_end within("a thread-bound wait for suspended children");
  for (int round = 0; round < 5; ++round)
    runtime.run([&](context c) {
      support::suspending_barrier all(6);
      task_group group(c);
      for (int i = 0; i < 6; ++i) group.run([&](context below) { all.arrive(below); });
      sukima::thread_bound([&] { EXPECT_TRUE(group.wait(c)); });
    });
}

TEST(group, shares_its_children_with_idle_workers) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> first{false};
    std::atomic<bool> second{false};
    two.run([&](context c) {
      task_group group(c);
      // Each ends only if the other one runs at the same time.
      group.run([&] {
        first = true;
        EXPECT_TRUE(support::sleep_until([&] { return second.load(); }));
      });
      group.run([&] {
        second = true;
        EXPECT_TRUE(support::sleep_until([&] { return first.load(); }));
      });
      group.wait(c);
    });
  }
}

TEST(group, leaves_pending_forks_to_others_while_it_waits) {
  sukima::runtime two(support::with_workers(2));
  std::atomic<bool> done{false};
  two.run([&](context c) {
    sukima::fork2(
        c,
        [&](context below) {
          task_group group(below);
          group.run([&] { EXPECT_TRUE(support::sleep_until([&] { return done.load(); })); });
          group.wait(below);
        },
        [&] { done = true; });
  });
}

TEST(group, says_how_it_cannot_be_used) {
  EXPECT_NE(support::message_of([] { task_group group; }).find("inside a runtime"), std::string::npos);
  sukima::runtime two(support::with_workers(2));
  two.run([](context) {
    EXPECT_NE(support::message_of([] { task_group group; }).find("task_group group(c)"), std::string::npos);
  });
  two.run([](context c) {
    task_group group(c);
    std::string message;
    std::thread([&] { message = support::message_of([&] { group.wait(); }); }).join();
    EXPECT_NE(message.find("inside a runtime"), std::string::npos);
  });
}

}  // namespace

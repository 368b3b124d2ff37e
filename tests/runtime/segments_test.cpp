// SPDX-License-Identifier: Apache-2.0
// Several tasks on one fiber, one on top of the other: an abort in the segment of one does not concern the
// others.
#include "support.hpp"

#include <sukima/future.hpp>
#include <sukima/task_group.hpp>

#include <thread>

namespace {

using sukima::canceller;
using sukima::context;
using sukima::task_group;

class segments : public support::runtimes {
 protected:
  void TearDown() override {
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
  }
  const support::must_end within{"what runs on top of a fiber with an abort"};
};
INSTANTIATE_TEST_SUITE_P(workers, segments, support::worker_counts(), support::name_of_count);

/// Ten children; how many of them ran.
int run_ten(context c) {
  std::atomic<int> ran{0};
  task_group group(c);
  for (int i = 0; i < 10; ++i) group.run(c, [&ran] { ++ran; });
  EXPECT_TRUE(group.wait(c));
  return ran;
}

TEST_P(segments, a_future_that_runs_on_top_of_a_cancelled_scope_runs_its_group) {
  runtime.run([](context c) {
    const auto f = sukima::launch(run_ten);
    EXPECT_FALSE(sukima::cancellable(c, [&](context below, const canceller& cancel) {
      cancel.cancel();
      f.touch(below);
    }));
    EXPECT_EQ(f.touch(c), 10);
  });
}

TEST_P(segments, a_shield_on_top_of_another_one_keeps_its_tasks) {
  runtime.run([](context c) {
    sukima::shielded(c, [](context c1) {
      task_group outer(c1);
      outer.run(c1, [](context c2) {
        EXPECT_FALSE(sukima::cancellable(c2, [](context c3, const canceller& cancel) {
          sukima::shielded(c3, [&](context c4) {
            cancel.cancel();
            EXPECT_EQ(run_ten(c4), 10);
            EXPECT_EQ(support::fib(c4, 15), 610);
          });
          support::fork_for_ever(c3);
        }));
      });
      EXPECT_TRUE(outer.wait(c1));
    });
  });
}

TEST_P(segments, an_abort_further_out_hides_none_further_in) {
  runtime.run([](context c) {
    EXPECT_FALSE(sukima::cancellable(c, [](context c0, const canceller& outer) {
      sukima::shielded(c0, [&](context c1) {
        outer.cancel();
        task_group group(c1);
        group.run(c1, [](context c2) {
          EXPECT_FALSE(sukima::cancellable(c2, [](context c3, const canceller& inner) {
            sukima::shielded(c3, [&](context) { inner.cancel(); });
            support::fork_for_ever(c3);
          }));
        });
        EXPECT_TRUE(group.wait(c1));
      });
    }));
  });
}

/// A part of the scope cancels it. That part runs on top of the fiber that opened the scope, and then raises
/// a shield. The other part begins to wait for an event that never happens while the shield stands.
TEST(segment, a_shield_hides_no_abort_from_what_runs_elsewhere) {
  const support::must_end within("a wait in a scope that was cancelled before");
  sukima::runtime runtime(support::with_workers(2));
  for (int i = 0; i < 20; ++i)
    runtime.run([](context c0) {
      sukima::shielded(c0, [](context c1) {
        std::atomic<bool> taken{false}, inner_began{false}, may_cancel{false}, cancelled{false}, waits{false};
        bool came_back = false;
        EXPECT_FALSE(sukima::cancellable(c1, [&](context c2, const canceller& cancel) {
          sukima::fork2(
              c2, [&](context c) { EXPECT_TRUE(support::poll_until(c, [&] { return taken.load(); })); },
              [&](context b) {
                taken = true;
                sukima::fork2(
                    b,
                    [&](context c) {
                      EXPECT_TRUE(support::poll_until(c, [&] { return inner_began.load(); }));
                      may_cancel = true;
                      while (!cancelled) std::this_thread::yield();
                      struct left {
                        std::atomic<bool>& waits;
                        ~left() { waits = true; }
                      } const at_end{waits};
                      sukima::suspend(
                          c, [&](const sukima::resumer&) { waits = true; },
                          [](sukima::resumer r) noexcept { r.resume(); });
                      came_back = true;
                    },
                    [&](context d) {
                      inner_began = true;
                      while (!may_cancel) std::this_thread::yield();
                      cancel.cancel();
                      sukima::shielded(d, [&](context) {
                        cancelled = true;
                        while (!waits) std::this_thread::yield();
                      });
                    });
              });
        }));
        EXPECT_FALSE(came_back);
      });
    });
}

}  // namespace

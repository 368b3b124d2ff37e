// SPDX-License-Identifier: Apache-2.0
// A callback of the user's throws while a fiber backtracks: the place where the exception leaves, and the
// code that it must not disturb.
#include "support.hpp"

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using sukima::context;

/// A workspace whose copy, made for a thief, fails.
struct board {
  explicit board(std::atomic<int>& failed_copies) : failed(&failed_copies) {}
  board(const board& other) : failed(other.failed) {
    ++*failed;
    throw std::runtime_error("no copy");
  }
  board& operator=(const board&) = delete;
  std::atomic<int>* failed;
};

/// Runs `body(context, ...)` once inside a search whose workspace cannot be copied.
template <class Body> void search_once(context c, std::atomic<int>& failed, Body body) {
  board workspace(failed);
  const std::vector<int> choices(2, 1);
  std::atomic<bool> first{true};
  sukima::search(
      c, workspace, choices, [](board&, int) {}, [](board&, int) {},
      [&](context below, board&, int) {
        if (first.exchange(false)) body(below);
        return 0;
      },
      0, std::plus<>{});
}

/// Runs f; where the search itself ended early because a copy failed, the failure leaves it in any case.
template <class F> void run_in(sukima::runtime& runtime, F f) {
  try {
    runtime.run(f);
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "no copy");
  }
}

long iterations(context c) {
  std::atomic<long> count{0};
  sukima::parallel_for(c, 0, 1000, [&](context, int) { ++count; });
  return count;
}

TEST(failed_copy, leaves_by_the_next_join_and_ends_when_it_is_caught) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> failed{0};
    bool caught = false;
    run_in(two, [&](context c) {
      search_once(c, failed, [&](context below) {
        try {
          for (;;) sukima::fork2(below, [] {}, [] {});
        } catch (const std::runtime_error&) {
          caught = true;
        }
        // More copies fail as long as the other worker asks for work: each leaves by a join, and a loop is
        // whole or leaves.
        try {
          EXPECT_EQ(iterations(below), 1000);
        } catch (const std::runtime_error&) {
        }
      });
    });
    EXPECT_TRUE(caught);
    EXPECT_GT(failed, 0);
  }
}

/// If a loop's own poll made the copy fail, the loop ends early: the failure leaves it, even if a handler
/// inside the iteration that continues has caught it.
TEST(failed_copy, that_ended_a_loop_leaves_it_also_if_it_is_caught_within) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> failed{0};
    run_in(two, [&](context c) {
      search_once(c, failed, [&](context below) {
        for (bool left = false; !left && !testing::Test::HasFailure();) {
          std::atomic<int> counted{0};
          try {
            sukima::parallel_for(below, 0, 64, [&](context within, int) {
              try {
                sukima::fork2(within, [] {}, [] {});
                std::atomic<int> inner{0};
                sukima::parallel_for(within, 0, 3, [&](context, int) { ++inner; });
                EXPECT_EQ(inner, 3);
              } catch (const std::runtime_error&) {
              }
              ++counted;
            });
            EXPECT_EQ(counted, 64);
          } catch (const std::runtime_error&) {
            left = true;
          }
        }
      });
    });
    EXPECT_GT(failed, 0);
  }
}

/// Runs `body` as a child of a group, on the fiber that waits for it, while the other worker is busy. A task
/// that begins on a fiber splits work off at its first poll.
template <class Body> void run_child(context c, Body body) {
  sukima::task_group group(c);
  group.run(c, body);
  group.wait(c);
}

/// The search's own poll makes its copy fail, so it ends early. Then a child that runs on top of its fiber
/// fails in the same way. Each failure leaves its own search: the second one does not displace the first one.
/// \returns whether both copies failed: the worker may split neither search.
bool two_searches_fail() {
  sukima::runtime two(support::with_workers(2));
  std::atomic<bool> busy{false};
  std::atomic<bool> over{false};
  std::atomic<int> failed{0};
  std::atomic<int> failed_on_top{0};
  bool left = false;
  int choices_made = 0;
  two.run([&](context c) {
    sukima::fork2(
        c,
        [&](context first) {
          EXPECT_TRUE(support::poll_until(first, [&] { return busy.load(); }));
          const auto fails_on_top = [&](context child) { search_once(child, failed_on_top, [](context) {}); };
          const auto fails = [&](context child) {
            board workspace(failed);
            sukima::search(
                child, workspace, std::vector<int>(2, 1), [](board&, int) {}, [](board&, int) {},
                [&](context below, board&, int) {
                  ++choices_made;
                  try {
                    sukima::fork2(below, [&](context within) { run_child(within, fails_on_top); }, [] {});
                  } catch (const std::runtime_error&) {
                  }
                  return 0;
                },
                0, std::plus<>{});
          };
          try {
            run_child(first, fails);
          } catch (const std::runtime_error& e) {
            EXPECT_STREQ(e.what(), "no copy");
            left = true;
          }
          over = true;
        },
        [&] {
          busy = true;
          while (!over) std::this_thread::yield();
        });
  });
  EXPECT_TRUE(left || choices_made == 2) << "the rest of the search is missing";
  return failed > 0 && failed_on_top > 0;
}

TEST(failed_copy, leaves_its_search_also_if_another_one_fails_on_top) {
  bool both = false;
  for (int i = 0; i < 10000 && !both; ++i) both = two_searches_fail();
  EXPECT_TRUE(both);
}

TEST(failed_copy, is_forgotten_when_another_exception_leaves_the_search) {
  sukima::runtime two(support::with_workers(2));
  int caught = 0;
  while (caught < 20) {
    std::atomic<int> failed{0};
    const auto leave_by_another = [&](context c) {
      try {
        search_once(c, failed, [&](context below) {
          // If the copy fails at the poll of this fork, its first branch throws before any join.
          for (;;)
            sukima::fork2(
                below,
                [&] {
                  if (failed > 0) throw 42;
                },
                [] {});
        });
      } catch (int) {
        ++caught;
      } catch (const std::runtime_error&) {  // it failed at the poll of a join
      }
    };
    two.run([&](context c) {
      leave_by_another(c);
      EXPECT_EQ(iterations(c), 1000) << "in the same computation";
    });
    two.run([&](context c) { EXPECT_EQ(iterations(c), 1000) << "in the next one"; });
  }
}

/// A call without a context notices the abort on a fiber of its own, where the failure is not pending: so the
/// abort leaves the scope first. The scope ends as cancelled, and the failure leaves by the next join.
TEST(failed_copy, that_is_pending_when_an_abort_leaves_its_scope_does_not_keep_that_from_ending) {
  sukima::runtime two(support::with_workers(2));
  int cancelled = 0;
  while (cancelled < 20 && !testing::Test::HasFailure()) {
    std::atomic<int> failed{0};
    run_in(two, [&](context c) {
      search_once(c, failed, [&](context below) {
        bool has_ended = false;
        try {
          const bool whole = sukima::cancellable(below, [&](context within, const sukima::canceller& cancel) {
            // If the copy fails at the poll of this fork, its first branch cancels before any join.
            for (;;)
              sukima::fork2(
                  within,
                  [&](context) {
                    if (failed == 0) return;
                    cancel.cancel();
                    for (;;) sukima::fork2([] {}, [] {});
                  },
                  [] {});
          });
          EXPECT_FALSE(whole);
          has_ended = true;
          sukima::fork2(below, [] {}, [] {});
          ADD_FAILURE() << "the failure did not leave by the next join";
        } catch (const std::runtime_error&) {
          cancelled += has_ended ? 1 : 0;  // else it failed at the poll of a join
        }
      });
    });
  }
}

}  // namespace

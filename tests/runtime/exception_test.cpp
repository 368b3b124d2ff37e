// SPDX-License-Identifier: Apache-2.0
// Exceptions from every place: where they arrive, and which tasks they abort and objects they destroy.
#include "support.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using sukima::context;
using sukima::fork2;
using support::counted;
using support::test_error;

[[noreturn]] void fail(int number) { throw test_error(number); }

/// The number of the test_error that f throws; −1: it throws none.
template <class F> int number_of(F&& f) {
  try {
    f();
  } catch (const test_error& e) {
    return e.number;
  }
  return -1;
}

class exception_test : public support::runtimes {
 protected:
  void SetUp() override { counted::reset(); }
  void TearDown() override {
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(counted::errors(), 0);
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610)
        << "the runtime works afterwards";
  }
};
INSTANTIATE_TEST_SUITE_P(workers, exception_test, support::worker_counts(), support::name_of_count);

TEST_P(exception_test, leaves_run) {
  EXPECT_EQ(number_of([&] { runtime.run([] { fail(1); }); }), 1);
  EXPECT_EQ(number_of([&] { runtime.run([](context) -> int { fail(2); }); }), 2);
}

TEST_P(exception_test, of_the_first_branch_leaves_the_fork) {
  runtime.run([](context c) {
    for (int i = 0; i < 100; ++i) {
      counted capture(i);
      EXPECT_EQ(number_of([&] { fork2(c, [i] { fail(i); }, [capture] { capture.value(); }); }), i);
      EXPECT_EQ(number_of([&] { fork2(c, [i]() -> counted { fail(i); }, [capture] { return capture; }); }),
                i);
    }
  });
}

TEST_P(exception_test, of_the_second_branch_leaves_the_fork) {
  runtime.run([](context c) {
    for (int i = 0; i < 100; ++i) {
      counted capture(i);
      EXPECT_EQ(number_of([&] { fork2(c, [] {}, [i, capture] { fail(i + capture.value()); }); }), 2 * i);
      EXPECT_EQ(number_of([&] { fork2(c, [capture] { return capture; }, [i]() -> counted { fail(i); }); }),
                i);
    }
  });
}

TEST_P(exception_test, of_the_first_branch_wins_when_both_throw_in_turn) {
  runtime.run([](context c) {
    for (int i = 0; i < 100; ++i) {
      const int n = number_of([&] { fork2(c, [] { fail(1); }, [] { fail(2); }); });
      EXPECT_TRUE(n == 1 || n == 2);
    }
  });
  sukima::runtime one(support::with_workers(1));
  EXPECT_EQ(number_of([&] { one.run([](context c) { fork2(c, [] { fail(1); }, [] { fail(2); }); }); }), 1);
}

TEST_P(exception_test, leaves_code_without_a_context) {
  runtime.run([] {
    EXPECT_EQ(number_of([] { fork2([] { fail(1); }, [] {}); }), 1);
    EXPECT_EQ(number_of([] { fork2([] {}, [] { fork2([] {}, [] { fail(2); }); }); }), 2);
    EXPECT_EQ(number_of([] {
                fork2([](context c) { fork2(c, [] { fork2([] { fail(3); }, [] {}); }, [] {}); }, [] {});
              }),
              3);
  });
}

/// A tree of forks, one leaf of which throws.
long tree(context c, const counted& value, int depth, int leaf, int thrower) {
  if (depth == 0) {
    if (leaf == thrower) fail(leaf);
    return 1;
  }
  auto [a, b] = fork2(
      c, [=](context below) { return tree(below, counted(value.value()), depth - 1, 2 * leaf, thrower); },
      [=](context below) { return tree(below, counted(value.value()), depth - 1, 2 * leaf + 1, thrower); });
  return a + b;
}

TEST_P(exception_test, comes_from_any_leaf_of_a_tree) {
  for (int thrower = 0; thrower < 1024; thrower += 31)
    EXPECT_EQ(number_of([&] { runtime.run([=](context c) { tree(c, counted(1), 10, 0, thrower); }); }),
              thrower);
  EXPECT_EQ(runtime.run([](context c) { return tree(c, counted(1), 10, 0, -1); }), 1024);
}

TEST_P(exception_test, leaves_loops) {
  runtime.run([](context c) {
    for (const int thrower : {0, 1, 500, 998, 999}) {
      EXPECT_EQ(number_of([&] {
                  sukima::parallel_for(c, 0, 1000, [&](int i) {
                    if (i == thrower) fail(i);
                  });
                }),
                thrower);
      EXPECT_EQ(number_of([&] {
                  sukima::parallel_reduce(
                      c, 0, 1000, counted(0),
                      [&](context below, int i) {
                        support::fib(below, 5);
                        if (i == thrower) fail(i);
                        return counted(i);
                      },
                      [](const counted& a, const counted&) { return a; });
                }),
                thrower);
    }
  });
}

TEST_P(exception_test, leaves_the_combining_function) {
  for (int round = 0; round < 50; ++round)
    EXPECT_EQ(number_of([&] {
                runtime.run([&](context c) {
                  sukima::parallel_reduce(
                      c, 0, 2000, counted(0), [](context, int i) { return counted(i); },
                      [&](const counted& a, const counted& b) -> counted {
                        if (b.value() >= 1000 + round) fail(7);
                        return counted(std::max(a.value(), b.value()));
                      });
                });
              }),
              7);
}

TEST_P(exception_test, leaves_the_move_of_a_capture) {
  struct throwing_move {
    throwing_move() = default;
    throwing_move(const throwing_move&) { fail(5); }
  };
  const throwing_move value;
  runtime.run([&](context c) { EXPECT_EQ(number_of([&] { fork2(c, [] {}, [value] {}); }), 5); });
}

/// The k-th copy or move fails, for each k; the other captures end in each case (TearDown counts them).
TEST_P(exception_test, leaves_each_move_of_a_capture) {
  struct fails_later {
    int* left;
    explicit fails_later(int* n) : left(n) {}
    fails_later(const fails_later& other) : left(other.left) {
      if (--*left == 0) fail(5);
    }
  };
  runtime.run([&](context c) {
    int calls = 0;
    for (int k = 1; calls == 0; ++k) {
      ASSERT_LT(k, 20);
      int left = k;
      const int n = number_of([&] {
        fork2(
            c, [](context below) { support::fib(below, 5); },
            [first = counted(1), fails = fails_later(&left), last = counted(2), &calls] { ++calls; });
      });
      EXPECT_EQ(n, calls == 0 ? 5 : -1);
    }
  });
}

TEST_P(exception_test, leaves_the_move_of_a_result) {
  struct result {
    counted value{1};
    bool armed = false;
    result() = default;
    // It throws. NOLINTNEXTLINE(performance-noexcept-move-constructor)
    result(result&& other) : value(std::move(other.value)), armed(other.armed) {
      if (armed) fail(6);
    }
  };
  runtime.run([](context c) {
    for (int i = 0; i < 50; ++i) {
      const int n = number_of([&] {
        fork2(
            c,
            [](context below) {
              support::fib(below, 5);
              result r;
              r.armed = true;
              return r;
            },
            [] { return result(); });
      });
      EXPECT_TRUE(n == 6 || n == -1);
    }
  });
}

TEST(exception, of_a_stolen_branch_aborts_the_first) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 30; ++round) {
    bool left = false;
    EXPECT_EQ(number_of([&] {
                two.run([&](context c) {
                  fork2(
                      c,
                      [&](context below) {
                        struct leaving {
                          bool& flag;
                          ~leaving() { flag = true; }
                        } at_end{left};
                        support::fork_for_ever(below);
                      },
                      [&] { fail(round); });
                });
              }),
              round);
    EXPECT_TRUE(left);
  }
}

TEST(exception, of_the_first_branch_aborts_a_stolen_one) {
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 30; ++round) {
    std::atomic<bool> begun{false};
    std::atomic<bool> left{false};
    EXPECT_EQ(number_of([&] {
                two.run([&](context c) {
                  fork2(
                      c,
                      [&](context below) {
                        EXPECT_TRUE(support::poll_until(below, [&] { return begun.load(); }));
                        fail(round);
                      },
                      [&](context below) {
                        begun = true;
                        struct leaving {
                          std::atomic<bool>& flag;
                          ~leaving() { flag = true; }
                        } at_end{left};
                        support::fork_for_ever(below);
                      });
                });
              }),
              round);
    EXPECT_TRUE(left) << "the exception leaves only after the other branch has ended";
  }
}

TEST(exception, aborts_all_descendants_of_a_stolen_branch) {
  sukima::runtime many(support::with_workers(4));
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> running{0};
    std::atomic<int> left{0};
    const std::function<void(context, int)> spread = [&](context c, int depth) {
      if (depth == 0) {
        struct leaving {
          std::atomic<int>& count;
          ~leaving() { ++count; }
        } at_end{left};
        // Two branches continue until they are aborted. If there were one for each worker, no worker would be
        // left for the branch that fails, which may have to wait for a worker at any of its polls.
        if (++running > 2) return;
        support::fork_for_ever(c);
      }
      fork2(
          c, [&](context below) { spread(below, depth - 1); },
          [&](context below) { spread(below, depth - 1); });
    };
    EXPECT_EQ(number_of([&] {
                many.run([&](context c) {
                  fork2(
                      c, [&](context below) { spread(below, 6); },
                      [&](context below) {
                        EXPECT_TRUE(support::poll_until(below, [&] { return running >= 2; }));
                        fail(9);
                      });
                });
              }),
              9);
    EXPECT_EQ(running, left);
  }
}

TEST_P(exception_test, can_be_caught_and_thrown_again_in_branches) {
  runtime.run([](context c) {
    for (int i = 0; i < 50; ++i) {
      const int n = number_of([&] {
        fork2(
            c,
            [](context below) {
              EXPECT_EQ(number_of([&] { fork2(below, [] {}, [] { fail(1); }); }), 1);
              EXPECT_EQ(number_of([&] { sukima::parallel_for(below, 0, 10, [](int) { fail(2); }); }), 2);
            },
            [](context below) {
              try {
                fork2(below, [] { fail(3); }, [] {});
              } catch (const test_error& e) {
                fail(e.number + 1);
              }
            });
      });
      EXPECT_EQ(n, 4);
    }
  });
}

TEST_P(exception_test, may_be_handled_across_forks) {
  runtime.run([](context c) {
    for (int i = 0; i < 50; ++i) {
      try {
        fail(i);
      } catch (...) {
        // The exception being handled belongs to the fiber, wherever it continues.
        EXPECT_EQ(support::fib(c, 12), 144);
        try {
          fork2(c, [](context below) { support::fib(below, 8); }, [] { fail(100); });
        } catch (const test_error& e) {
          EXPECT_EQ(e.number, 100);
        }
        EXPECT_EQ(number_of([] { throw; }), i);
      }
      EXPECT_EQ(std::current_exception(), nullptr);
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  });
}

TEST_P(exception_test, does_not_abort_forks_in_destructors) {
  struct computes_at_end {
    context c;
    long& result;
    ~computes_at_end() { result = support::fib(c, 14); }
  };
  for (int i = 0; i < 20; ++i) {
    long result = 0;
    EXPECT_EQ(number_of([&] {
                runtime.run([&](context c) {
                  computes_at_end at_end{c, result};
                  fail(3);
                });
              }),
              3);
    EXPECT_EQ(result, 377);
  }
}

TEST_P(exception_test, does_not_cut_loops_in_destructors_short) {
  struct counts_at_end {
    context c;
    std::array<long, 3>& results;
    ~counts_at_end() {
      std::atomic<long> with{0};
      std::atomic<long> without{0};
      sukima::parallel_for(c, 0, 1000, [&](context, int) { ++with; });
      sukima::parallel_for(c, 0, 1000, [&](int) { ++without; });
      results = {
          with, without,
          sukima::parallel_reduce(c, 0, 1000, 0L, [](context, int i) { return long{i}; }, std::plus<>{})};
    }
  };
  for (const bool own : {true, false}) {
    for (int i = 0; i < 20; ++i) {
      std::array<long, 3> results{};
      const int number = number_of([&] {
        runtime.run([&](context c) {
          sukima::cancellable(c, [&](context below, const sukima::canceller& k) {
            counts_at_end at_end{below, results};
            k.cancel();
            if (own) fail(3);
            sukima::fork2(below, [] {}, [] {});  // leaves by `aborted`
          });
        });
      });
      EXPECT_EQ(number, own ? 3 : -1);
      EXPECT_EQ(results, (std::array{1000L, 1000L, 499500L}));
    }
  }
}

TEST(exception, that_is_swallowed_comes_again) {
  sukima::runtime two(support::with_workers(2));
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> swallowed{0};
    EXPECT_EQ(number_of([&] {
                two.run([&](context c) {
                  fork2(
                      c,
                      [&](context below) {
                        try {
                          support::fork_for_ever(below);
                        } catch (...) {
                          ++swallowed;
                        }
                        support::fork_for_ever(below);
                      },
                      [] { fail(8); });
                });
              }),
              8);
    EXPECT_EQ(swallowed, 1);
  }
}

/// Its destructor's forks are polls, at which an older branch is given away.
struct gives_away {
  context c;
  std::atomic<bool>& begins;
  std::atomic<bool>& begun;
  ~gives_away() {
    begins = true;
    EXPECT_TRUE(support::poll_until(c, [this] { return begun.load(); }));
  }
};

TEST(exception, aborts_a_branch_that_was_given_away_during_unwinding) {
  sukima::runtime two(support::with_workers(2));
  for (int i = 0; i < 10; ++i) {
    std::atomic<bool> unwinds{false};
    std::atomic<bool> begun{false};
    EXPECT_EQ(number_of([&] {
                two.run([&](context c) {
                  fork2(
                      c,
                      [&](context below) {
                        const gives_away at_end{below, unwinds, begun};
                        fail(i);
                      },
                      [&](context below) {
                        begun = true;
                        support::fork_for_ever(below);
                      });
                });
              }),
              i);
  }
}

/// Without a poll, so that nothing is given away.
bool wait_until(const std::atomic<bool>& flag) {
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  while (!flag && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  return flag;
}

struct sets_at_end {
  std::atomic<bool>& flag;
  ~sets_at_end() { flag = true; }
};

/// A group's destructor waits during unwinding for a child that waits for an older branch; that one is given
/// away by this wait, and runs until it is cancelled.
TEST(exception, a_branch_that_the_end_of_a_group_gave_away_during_unwinding_can_be_cancelled) {
  sukima::runtime two(support::with_workers(2));
  for (int i = 0; i < 10; ++i) {
    std::atomic<bool> other_is_busy{false}, child_is_wanted{false}, child_runs{false}, ended{false};
    const auto throws = [&](context c) {
      sukima::task_group g(c);
      g.run([&] {
        child_runs = true;
        EXPECT_TRUE(wait_until(ended));
      });
      child_is_wanted = true;
      EXPECT_TRUE(wait_until(child_runs));
      fail(i);
    };
    const auto run = [&](context c) {
      return sukima::cancellable(c, [&](context inside, const sukima::canceller& scope) {
        fork2(
            inside,
            [&](context below) {
              EXPECT_TRUE(support::poll_until(below, [&] { return other_is_busy.load(); }));
              fork2(below, throws, [&](context older) {
                const sets_at_end at_end{ended};
                scope.cancel();
                support::fork_for_ever(older);
              });
            },
            [&] {
              other_is_busy = true;
              EXPECT_TRUE(wait_until(child_is_wanted));
            });
      });
    };
    // The failure or the cancellation, whichever comes first.
    try {
      EXPECT_FALSE(two.run(run));
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), "error " + std::to_string(i));
    }
  }
}

/// The exception is caught above the fork whose second branch was given away during the unwinding. The first
/// branch already waits for that branch when it cancels them both.
TEST(exception, a_branch_that_was_given_away_during_unwinding_can_be_cancelled) {
  sukima::runtime two(support::with_workers(2));
  for (int i = 0; i < 10; ++i) {
    std::atomic<bool> busy{false};
    std::atomic<bool> unwinds{false};
    std::atomic<bool> begun{false};
    const auto throws = [&](context c) {
      EXPECT_EQ(number_of([&] {
                  const gives_away at_end{c, unwinds, begun};
                  fail(i);
                }),
                i);
    };
    const auto cancels = [&](context c, const sukima::canceller& scope) {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      scope.cancel();
      support::fork_for_ever(c);
    };
    const bool ended = two.run([&](context c) {
      return sukima::cancellable(c, [&](context inside, const sukima::canceller& scope) {
        // The other worker has something to do until the destructor runs: nothing is given away before.
        fork2(
            inside,
            [&](context below) {
              EXPECT_TRUE(support::poll_until(below, [&] { return busy.load(); }));
              fork2(below, throws, [&](context c2) { cancels(c2, scope); });
            },
            [&] {
              busy = true;
              while (!unwinds) std::this_thread::yield();
            });
      });
    });
    EXPECT_FALSE(ended);
  }
}

TEST_P(exception_test, of_any_type_passes) {
  EXPECT_THROW(runtime.run([](context c) { fork2(c, [] {}, [] { throw 5; }); }), int);
  EXPECT_THROW(runtime.run([](context c) { fork2(c, [] { throw std::string("text"); }, [] {}); }),
               std::string);
}

/// Undo and copy of a workspace: errors of the user's callbacks while the fiber backtracks are not lost.
struct workspace {
  int depth = 0;
  static inline std::atomic<bool> copy_fails{false};
  workspace() = default;
  workspace(const workspace& other) : depth(other.depth) {
    if (copy_fails) fail(20);
  }
};

long walk(context c, workspace& w, int depth, const std::function<void(workspace&)>& at_undo) {
  if (depth == 0) return support::fib(c, 3) - 1;
  static const std::vector<int> three{0, 1, 2};
  return sukima::search(
      c, w, three, [](workspace& v, int) { ++v.depth; },
      [&](workspace& v, int) {
        --v.depth;
        at_undo(v);
      },
      [&](context below, workspace& v, int) { return walk(below, v, depth - 1, at_undo); }, std::plus{});
}

TEST_P(exception_test, leaves_the_copy_of_a_workspace) {
  workspace::copy_fails = true;
  for (int round = 0; round < 20; ++round) {
    workspace w;
    const int n = number_of(
        [&] { EXPECT_EQ(runtime.run([&](context c) { return walk(c, w, 7, [](workspace&) {}); }), 2187); });
    EXPECT_TRUE(n == -1 || n == 20);
    if (GetParam() == 1) {
      EXPECT_EQ(n, -1);
    }
    EXPECT_EQ(w.depth, 0);
  }
  workspace::copy_fails = false;
}

TEST_P(exception_test, leaves_an_undo) {
  for (int round = 0; round < 20; ++round) {
    workspace w;
    std::atomic<int> undone{0};
    EXPECT_EQ(number_of([&] {
                runtime.run([&](context c) {
                  return walk(c, w, 6, [&](workspace&) {
                    if (++undone == 300) fail(21);
                  });
                });
              }),
              21);
  }
}

}  // namespace

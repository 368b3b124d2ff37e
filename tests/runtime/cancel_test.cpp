// SPDX-License-Identifier: Apache-2.0
// cancellable: cancelled before, during and after, by any thread; nested scopes.
#include "support.hpp"

#include <sukima/task_group.hpp>

#include <optional>
#include <string>
#include <thread>

namespace {

using sukima::canceller;
using sukima::context;
using support::counted;
using support::test_error;

class cancel_test : public support::runtimes {
 protected:
  void SetUp() override { counted::reset(); }
  void TearDown() override {
    EXPECT_EQ(counted::alive(), 0);
    EXPECT_EQ(runtime.run([](context c) { return support::fib(c, 15); }), 610);
  }
};
INSTANTIATE_TEST_SUITE_P(workers, cancel_test, support::worker_counts(), support::name_of_count);

TEST_P(cancel_test, returns_the_result_if_not_cancelled) {
  runtime.run([](context c) {
    EXPECT_EQ(sukima::cancellable(c, [](context below, const canceller&) { return support::fib(below, 15); }),
              610);
    EXPECT_TRUE(sukima::cancellable(c, [](context, const canceller&) {}));
  });
  runtime.run([] {
    EXPECT_EQ(sukima::cancellable([](const canceller&) { return std::string("done"); }), "done");
    EXPECT_TRUE(sukima::cancellable([](const canceller&) {}));
  });
}

TEST_P(cancel_test, ends_a_computation_that_cancels_itself) {
  runtime.run([](context c) {
    for (int i = 0; i < 50; ++i) {
      const counted capture(i);
      EXPECT_EQ(sukima::cancellable(c,
                                    [capture](context below, const canceller& cancel) -> int {
                                      cancel.cancel();
                                      support::fork_for_ever(below);
                                    }),
                std::nullopt);
      EXPECT_FALSE(sukima::cancellable(c, [](context below, const canceller& cancel) {
        sukima::parallel_for(below, 0, 1'000'000'000, [&](context, int k) {
          if (k == 3) cancel.cancel();
        });
      }));
    }
  });
}

TEST_P(cancel_test, is_ended_by_another_thread) {
  for (int i = 0; i < 20; ++i) {
    std::optional<canceller> shared;
    std::atomic<bool> ready{false};
    std::thread other([&] {
      EXPECT_TRUE(support::sleep_until([&] { return ready.load(); }));
      shared->cancel();
    });
    const auto result = runtime.run([&](context c) {
      return sukima::cancellable(c, [&](context below, const canceller& cancel) -> int {
        shared.emplace(cancel);
        ready = true;
        support::fork_for_ever(below);
      });
    });
    EXPECT_FALSE(result);
    other.join();
  }
}

TEST(cancel, stops_all_branches_on_all_workers) {
  sukima::runtime many(support::with_workers(4));
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> entered{0};
    std::atomic<int> left{0};
    std::atomic<int> endless{0};
    struct visit {
      std::atomic<int>& entered;
      std::atomic<int>& left;
      visit(std::atomic<int>& e, std::atomic<int>& l) : entered(e), left(l) { ++entered; }
      ~visit() { ++left; }
    };
    EXPECT_FALSE(many.run([&](context c) {
      return sukima::cancellable(c, [&](context below, const canceller& cancel) {
        sukima::parallel_for(below, 0, 64, [&](context deeper, int k) {
          const visit here(entered, left);
          if (k == 20) cancel.cancel();
          // Iterations up to the cancelling one complete, in any piece, so one of them reaches it. Three
          // others continue until they are aborted. A fourth could occupy the last worker, and then the piece
          // with the cancelling one would not begin.
          if (k > 20 && k % 3 == 0 && ++endless <= 3) support::fork_for_ever(deeper);
        });
      });
    }));
    EXPECT_EQ(entered, left);
  }
}

TEST_P(cancel_test, ends_only_the_scope_it_was_made_for) {
  runtime.run([](context c) {
    const auto outer = sukima::cancellable(c, [](context c1, const canceller&) {
      const auto inner = sukima::cancellable(c1, [](context c2, const canceller& cancel) -> int {
        cancel.cancel();
        support::fork_for_ever(c2);
      });
      EXPECT_FALSE(inner);
      return support::fib(c1, 10);
    });
    EXPECT_EQ(outer, 55);
  });
}

TEST_P(cancel_test, of_an_outer_scope_ends_inner_ones) {
  runtime.run([](context c) {
    for (int i = 0; i < 20; ++i) {
      bool passed = false;
      const auto outer = sukima::cancellable(c, [&](context c1, const canceller& cancel) -> int {
        sukima::cancellable(c1, [&](context c2, const canceller&) {
          cancel.cancel();
          support::fork_for_ever(c2);
        });
        passed = true;
        return 1;
      });
      EXPECT_FALSE(outer);
      EXPECT_FALSE(passed);
    }
  });
}

TEST_P(cancel_test, does_nothing_after_the_end) {
  std::optional<canceller> kept;
  runtime.run([&](context c) {
    EXPECT_EQ(sukima::cancellable(c,
                                  [&](context, const canceller& cancel) {
                                    kept.emplace(cancel);
                                    return 1;
                                  }),
              1);
    kept->cancel();
    EXPECT_EQ(support::fib(c, 10), 55);
  });
  kept->cancel();
}

TEST_P(cancel_test, twice_is_the_same_as_once) {
  EXPECT_FALSE(runtime.run([](context c) {
    return sukima::cancellable(c, [](context below, const canceller& cancel) {
      const canceller copy = cancel;
      cancel.cancel();
      copy.cancel();
      support::fork_for_ever(below);
    });
  }));
}

TEST_P(cancel_test, lets_exceptions_pass) {
  runtime.run([](context c) {
    EXPECT_THROW(sukima::cancellable(c,
                                     [](context below, const canceller&) {
                                       sukima::fork2(below, [] {}, [] { throw test_error(1); });
                                     }),
                 test_error);
    EXPECT_THROW(sukima::cancellable(c,
                                     [](context, const canceller& cancel) {
                                       cancel.cancel();
                                       throw test_error(2);
                                     }),
                 test_error);
    EXPECT_EQ(support::fib(c, 12), 144);
  });
}

TEST_P(cancel_test, works_without_a_context) {
  for (int i = 0; i < 10; ++i)
    EXPECT_FALSE(runtime.run([] {
      return sukima::cancellable([](const canceller& cancel) {
        cancel.cancel();
        for (;;) sukima::fork2([] {}, [] {});
      });
    }));
}

// What comes first decides -------------------------------------------------------------------------------

TEST_P(cancel_test, a_body_that_cancels_itself_and_returns_has_no_value) {
  runtime.run([](context c) {
    EXPECT_EQ(sukima::cancellable(c,
                                  [](context, const canceller& cancel) {
                                    cancel.cancel();
                                    return std::string("not used");
                                  }),
              std::nullopt);
    EXPECT_FALSE(sukima::cancellable(c, [](context, const canceller& cancel) { cancel.cancel(); }));
    // Only this scope was cancelled.
    EXPECT_EQ(sukima::cancellable(c,
                                  [](context c1, const canceller&) {
                                    sukima::cancellable(
                                        c1, [](context, const canceller& cancel) { cancel.cancel(); });
                                    return support::fib(c1, 12);
                                  }),
              144);
  });
}

/// Code that catches everything gets `aborted` again at each poll, and what it returns is not used.
TEST_P(cancel_test, a_body_that_swallows_the_abort_has_no_value) {
  runtime.run([](context c) {
    for (int i = 0; i < 20; ++i) {
      int caught = 0;
      const auto value = sukima::cancellable(c, [&](context below, const canceller& cancel) {
        cancel.cancel();
        long sum = 0;
        for (int k = 0; k < 3; ++k) {
          try {
            sum += support::fib(below, 12);
          } catch (...) {
            ++caught;
          }
        }
        return sum;
      });
      EXPECT_EQ(value, std::nullopt);
      EXPECT_EQ(caught, 3);
    }
  });
}

TEST_P(cancel_test, a_branch_that_swallows_the_abort_does_not_hide_its_siblings_exception) {
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(support::message_of([&] {
                runtime.run([&](context c) {
                  std::atomic<bool> begun{false};
                  const auto swallow = [&](context below) {
                    begun = true;
                    try {
                      support::poll_until(below, [&] { return GetParam() == 1; });
                    } catch (...) {  // NOLINT(bugprone-empty-catch): what is tested
                    }
                    return 1;
                  };
                  const auto fail = [&](context below) {
                    if (GetParam() > 1) support::poll_until(below, [&] { return begun.load(); });
                    throw test_error(7);
                    return 2;
                  };
                  i % 2 == 0 ? sukima::fork2(c, swallow, fail) : sukima::fork2(c, fail, swallow);
                });
              }),
              "error 7");
}

// Shields ------------------------------------------------------------------------------------------------

/// Forks in an ordinary destructor, which no exception may leave.
struct forks_at_end {
  context c;
  std::atomic<int>& ran;
  ~forks_at_end() {
    sukima::shielded(c, [&](context below) {
      sukima::parallel_for(below, 0, 200, [&](context deeper, int) {
        support::fib(deeper, 8);
        ++ran;
      });
    });
  }
};

TEST_P(cancel_test, a_shielded_destructor_runs_to_its_end) {
  const support::must_end within("a shielded destructor");
  runtime.run([](context c) {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ran{0};
      bool passed = false;
      EXPECT_FALSE(sukima::cancellable(c, [&](context below, const canceller& cancel) {
        {
          const forks_at_end at_end{below, ran};
          cancel.cancel();
        }
        passed = true;
        support::fork_for_ever(below);
      }));
      EXPECT_TRUE(passed);
      EXPECT_EQ(ran, 200);
    }
  });
}

/// Cancels and forks while an exception is thrown, so that the fork takes note of the abort and goes on.
struct cancels_at_end {
  const canceller& cancel;
  ~cancels_at_end() {
    cancel.cancel();
    sukima::fork2([] {}, [] {});
  }
};

/// A call without a context runs on another fiber, which notices the abort and returns. After that, only the
/// fiber that waited for it can report the abort to its own next fork.
TEST_P(cancel_test, ends_a_fiber_that_waited_while_another_noticed_the_abort) {
  const support::must_end within("a scope that was cancelled while its fiber waited");
  runtime.run([](context c) {
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(sukima::cancellable(c, [](context below, const canceller& cancel) {
        sukima::run([&cancel](context) {
          try {
            const cancels_at_end at_end{cancel};
            throw test_error(1);
          } catch (const test_error&) {
          }
        });
        support::fork_for_ever(below);
      }));
  });
}

TEST_P(cancel_test, a_noexcept_function_forks_below_a_shield) {
  const support::must_end within("a shielded noexcept function");
  const auto sum = [](context c) noexcept {
    return sukima::shielded(c, [](context below) { return support::fib(below, 16); });
  };
  runtime.run([&](context c) {
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(sukima::cancellable(c, [&](context below, const canceller& cancel) {
        cancel.cancel();
        EXPECT_EQ(sum(below), 987);
        EXPECT_EQ(sukima::shielded(below, [] { return sukima::shielded([] { return 5; }); }), 5);
        support::fork_for_ever(below);
      }));
  });
}

/// Code with a context calls code without one, as a library does. That code runs on a fiber of its own.
TEST_P(cancel_test, a_shielded_call_without_a_context_begins_in_a_cancelled_scope) {
  const support::must_end within("a shielded call without a context");
  runtime.run([&](context c) {
    for (int i = 0; i < 20; ++i) {
      bool has_run = false;
      EXPECT_FALSE(sukima::cancellable(c, [&](context, const canceller& cancel) {
        cancel.cancel();
        sukima::shielded([&](context below) {
          EXPECT_EQ(support::fib(below, 16), 987);
          has_run = true;
        });
        sukima::parallel_for(0, 1000, [](int) {});
      }));
      EXPECT_TRUE(has_run);
    }
  });
}

/// The cancelled scope is above one shield. The scope that cancels it runs on top of it, in a shield of its
/// own.
TEST_P(cancel_test, a_scope_that_is_cancelled_from_within_another_shield_ends_there) {
  const support::must_end within("a scope between shields");
  runtime.run([&](context c) {
    for (int i = 0; i < 20; ++i) {
      bool is_done = true;
      EXPECT_EQ(sukima::shielded(c,
                                 [&](context c1) {
                                   is_done = sukima::cancellable(c1, [](context c2, const canceller& cancel) {
                                     sukima::task_group group(c2);
                                     group.run([&cancel](context c3) {
                                       sukima::shielded(c3, [&](context) { cancel.cancel(); });
                                     });
                                     group.wait(c2);
                                     support::fork_for_ever(c2);
                                   });
                                   return support::fib(c1, 12);  // it is not cancelled
                                 }),
                144);
      EXPECT_FALSE(is_done);
    }
  });
}

/// A scope that is cancelled inside a shield ends, although the outer scope was cancelled before.
TEST_P(cancel_test, scopes_and_exceptions_inside_a_shield_work_as_usual) {
  const support::must_end within("scopes inside a shield");
  runtime.run([&](context c) {
    for (int i = 0; i < 20; ++i)
      EXPECT_FALSE(sukima::cancellable(c, [&](context c1, const canceller& outer) {
        outer.cancel();
        sukima::shielded(c1, [&](context c2) {
          EXPECT_FALSE(sukima::cancellable(c2, [](context c3, const canceller& inner) {
            sukima::parallel_for(c3, 0, 8, [&](context c4, int k) {
              if (k == 0) inner.cancel();
              support::fork_for_ever(c4);
            });
          }));
          EXPECT_THROW(sukima::fork2(
                           c2, [](context c3) { support::fib(c3, 10); }, [] { throw test_error(1); }),
                       test_error);
          sukima::task_group group(c2);
          std::atomic<int> ran{0};
          for (int k = 0; k < 30; ++k) group.run([&] { ++ran; });
          EXPECT_TRUE(group.wait(c2));
          EXPECT_EQ(ran, 30);
        });
        support::fork_for_ever(c1);
      }));
  });
}

}  // namespace

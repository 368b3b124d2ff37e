// SPDX-License-Identifier: Apache-2.0
// cancellable: cancelled before, during and after, by anybody; nested scopes.
#include "support.hpp"

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

TEST_P(cancel_test, returns_the_result_if_nobody_cancels) {
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
          // Iterations up to the cancelling one pass, in whatever piece they are: somebody gets there.
          if (k > 20 && k % 3 == 0) support::poll_until(deeper, [&] { return false; });
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

}  // namespace

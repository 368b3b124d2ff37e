// SPDX-License-Identifier: Apache-2.0
// The checked mode: every operation ends the program if it gets the context of an outer function. Correct
// programs behave the same with it, and beside sources that are compiled without it.
#include "../support.hpp"
#include "mixed.hpp"

#include <csignal>
#include <numeric>
#include <stop_token>
#include <vector>

static_assert(SUKIMA_CHECKED);

namespace mixed {

long checked_fibonacci(sukima::context c, int n) {
  if (n < 2) return n;
  const auto [a, b] =
      sukima::fork2(c, fibonacci{n - 1, unchecked_fibonacci}, fibonacci{n - 2, unchecked_fibonacci});
  return a + b;
}

}  // namespace mixed

namespace {

using namespace std::chrono_literals;
using sukima::context;
using support::with_workers;

const auto aborted_by_check = testing::KilledBySignal(SIGABRT);

/// Each death test is a process of its own.
class checked_death_test : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE); }
};

void fork_with(context c) {
  sukima::fork2(c, [] {}, [] {});
}

/// Something that takes a context, and what a message calls it.
struct operation {
  const char* name;
  void (*call)(context c);
};
const operation operations[] = {
    {"sukima::fork2", fork_with},
    {"sukima::fork", [](context c) { sukima::fork(c, [] {}, [] {}, [] {}); }},
    {"sukima::parallel_for", [](context c) { sukima::parallel_for(c, 0, 0, [](int) {}); }},
    {"sukima::parallel_for", [](context c) { sukima::parallel_for(c, std::vector<int>{1, 2}, [](int) {}); }},
    {"sukima::parallel_reduce",
     [](context c) { sukima::parallel_reduce(c, 0, 9, 0, [](int i) { return i; }, std::plus{}); }},
    {"sukima::parallel_reduce",
     [](context c) {
       sukima::parallel_reduce(c, std::vector<int>{1, 2}, 0, [](int i) { return i; }, std::plus{});
     }},
    {"sukima::parallel_scan",
     [](context c) {
       std::vector<int> v(3, 1);
       sukima::parallel_scan(c, v, v.begin());
     }},
    {"sukima::parallel_exclusive_scan",
     [](context c) {
       std::vector<int> v(3, 1);
       sukima::parallel_exclusive_scan(c, v.begin(), v.end(), v.begin(), 0);
     }},
    {"sukima::parallel_sort",
     [](context c) {
       std::vector<int> v(3, 1);
       sukima::parallel_sort(c, v);
     }},
    {"sukima::parallel_stable_sort",
     [](context c) {
       std::vector<int> v(3, 1);
       sukima::parallel_stable_sort(c, v);
     }},
    {"sukima::parallel_nth_element",
     [](context c) {
       std::vector<int> v(3, 1);
       sukima::parallel_nth_element(c, v, v.begin());
     }},
    {"sukima::search",
     [](context c) {
       int workspace = 0;
       sukima::search(
           c, workspace, std::vector<int>{}, [](int&, int) {}, [](int&, int) {}, [](int&, int) { return 0; },
           std::plus{});
     }},
    {"sukima::search_first",
     [](context c) { sukima::search_first<int>(c, [](context, sukima::first_solution<int>&) {}); }},
    {"sukima::cancellable",
     [](context c) { sukima::cancellable(c, [](context, const sukima::canceller&) {}); }},
    {"sukima::cancellable", [](context c) { sukima::cancellable(c, std::stop_source().get_token(), [] {}); }},
    {"sukima::cancellable", [](context c) { sukima::cancellable(c, 1h, [] {}); }},
    {"sukima::cancellable",
     [](context c) { sukima::cancellable(c, std::chrono::steady_clock::now() + 1h, [] {}); }},
    {"sukima::suspend", [](context c) { sukima::suspend(c, [](sukima::resumer r) { r.resume(); }); }},
    {"sukima::blocking", [](context c) { sukima::blocking(c, [] {}); }},
    {"sukima::task_group", [](context c) { const sukima::task_group group(c); }},
    {"sukima::task_group::run",
     [](context c) {
       sukima::run([&](context own) {
         sukima::task_group group(own);
         group.run(c, [] {});
         group.wait(own);
       });
     }},
    {"sukima::task_group::wait",
     [](context c) {
       sukima::run([&](context own) {
         sukima::task_group group(own);
         group.wait(c);
       });
     }},
};

constexpr const char* in_function_without = " got the context of an outer function in a function without one";
constexpr const char* pass_the_innermost =
    " got the context of an outer function; pass the context that the innermost";
constexpr const char* on_other_thread = " got a context on a thread that runs no task";

/// Runs f(context) on a runtime of so many workers.
template <class F> void run_on(unsigned workers, F f) {
  sukima::runtime runtime(with_workers(workers));
  runtime.run([&](context c) { f(c); });
}

TEST_F(checked_death_test, every_operation_refuses_the_context_of_an_outer_function) {
  for (const operation& o : operations)
    EXPECT_EXIT(run_on(1, [&](context c) { sukima::fork2(c, [&](context) { o.call(c); }, [] {}); }),
                aborted_by_check, std::string(o.name) + pass_the_innermost);
}

TEST_F(checked_death_test, a_loop_body_without_a_context_has_none) {
  EXPECT_EXIT(run_on(2, [](context c) { sukima::parallel_for(c, 0, 1000, [&](int) { fork_with(c); }); }),
              aborted_by_check, std::string("fork2") + in_function_without);
}

TEST_F(checked_death_test, a_branch_without_a_context_has_none) {
  EXPECT_EXIT(run_on(1, [](context c) { sukima::fork2(c, [&] { fork_with(c); }, [] {}); }), aborted_by_check,
              std::string("fork2") + in_function_without);
  EXPECT_EXIT(run_on(1, [](context c) { sukima::fork2(c, [] {}, [&] { fork_with(c); }); }), aborted_by_check,
              std::string("fork2") + in_function_without);
}

TEST_F(checked_death_test, an_untaken_second_branch_has_its_own_context) {
  EXPECT_EXIT(run_on(1, [](context c) { sukima::fork2(c, [] {}, [&](context) { fork_with(c); }); }),
              aborted_by_check, std::string("fork2") + pass_the_innermost);
}

TEST_F(checked_death_test, a_task_that_another_worker_took_has_a_context_of_its_own) {
  const auto outer_context_after_steal = [](context c) {
    const auto here = std::this_thread::get_id();
    std::atomic<bool> taken{false};
    sukima::fork2(
        c, [&](context below) { support::poll_until(below, [&] { return taken.load(); }); },
        [&](context) {
          taken = std::this_thread::get_id() != here;
          fork_with(c);
        });
  };
  EXPECT_EXIT(run_on(2, outer_context_after_steal), aborted_by_check,
              std::string("fork2") + pass_the_innermost);
}

TEST_F(checked_death_test, loops_and_searches_hand_contexts_to_their_bodies) {
  EXPECT_EXIT(
      run_on(1, [](context c) { sukima::parallel_for(c, 0, 9, [&](context, int) { fork_with(c); }); }),
      aborted_by_check, std::string("fork2") + pass_the_innermost);
  const auto search_with_outer_context = [](context c) {
    int workspace = 0;
    sukima::search(
        c, workspace, std::vector<int>{1, 2}, [](int&, int) {}, [](int&, int) {},
        [&](context, int&, int) {
          fork_with(c);
          return 0;
        },
        std::plus{});
  };
  EXPECT_EXIT(run_on(1, search_with_outer_context), aborted_by_check,
              std::string("fork2") + pass_the_innermost);
  EXPECT_EXIT(run_on(1,
                     [](context c) {
                       sukima::cancellable(c, [&](context, const sukima::canceller&) { fork_with(c); });
                     }),
              aborted_by_check, std::string("fork2") + pass_the_innermost);
}

TEST_F(checked_death_test, a_copy_from_before_a_task_group_is_too_old) {
  EXPECT_EXIT(run_on(1,
                     [](context c) {
                       const context before = c;
                       const sukima::task_group group(c);
                       fork_with(before);
                     }),
              aborted_by_check, std::string("fork2") + pass_the_innermost);
}

TEST_F(checked_death_test, an_ordinary_thread_has_no_context) {
  EXPECT_EXIT(run_on(1, [](context c) { std::thread([&] { fork_with(c); }).join(); }), aborted_by_check,
              std::string("fork2") + on_other_thread);
}

class checked : public support::runtimes {};
INSTANTIATE_TEST_SUITE_P(workers, checked, support::worker_counts(), support::name_of_count);

TEST_P(checked, sources_with_and_without_checks_work_together) {
  runtime.run([](context c) {
    EXPECT_EQ(mixed::checked_fibonacci(c, 18), support::plain_fib(18));
    EXPECT_EQ(mixed::unchecked_fibonacci(c, 18), support::plain_fib(18));
  });
}

TEST_P(checked, every_operation_accepts_its_callers_context) {
  runtime.run([](context c) {
    for (const operation& o : operations) {
      if (std::string(o.name).starts_with("sukima::task_group::")) continue;
      o.call(c);
      sukima::fork2(c, [&](context below) { o.call(below); }, [&](context below) { o.call(below); });
      sukima::parallel_for(c, 0, 3, [&](int) { sukima::run([&](context own) { o.call(own); }); });
    }
    fork_with(c);
  });
}

TEST_P(checked, a_context_is_good_again_after_an_exception) {
  runtime.run([](context c) {
    for (int round = 0; round < 100; ++round) {
      EXPECT_THROW(sukima::fork2(
                       c, [](context below) { sukima::parallel_for(below, 0, 9, [](int) { throw 1; }); },
                       [](context below) { fork_with(below); }),
                   int);
      fork_with(c);
    }
  });
}

TEST(checked_mixture, keeps_the_instances_of_both_modes_apart) {
  // Without checks an untaken second branch uses the place of the choice point that has ended.
  sukima::runtime one(with_workers(1));
  one.run([](context c) {
    EXPECT_GT(sukima::fork2(c, mixed::own_context{}, mixed::own_context{}).second, c.top);
    EXPECT_EQ(mixed::unchecked_second_context(c), c.top);
  });
}

}  // namespace

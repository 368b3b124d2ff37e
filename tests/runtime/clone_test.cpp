// SPDX-License-Identifier: Apache-2.0
// Sequential clones: what runs as one computes the same, leaves in the same ways, and still gives work away.
#include "clones.hpp"

#include "fiber/fiber.hpp"

#include <sukima/detail/clone.h>

#include <memory>
#include <vector>

namespace {

using sukima::context;
using sukima::fork2;
using support::second_ns;
using support::with_clones;

class clones : public support::with_clone_settings {};
INSTANTIATE_TEST_SUITE_P(settings, clones, clones::all(), clones::name);

long fib(auto c, int n) {
  if (n < 2) return n;
  auto [a, b] = fork2(c, [=](auto k) { return fib(k, n - 1); }, [=](auto k) { return fib(k, n - 2); });
  return a + b;
}

long plain_fib(context c, int n) {
  if (n < 2) return n;
  auto [a, b] = fork2(
      c, [=](context k) { return plain_fib(k, n - 1); }, [=](context k) { return plain_fib(k, n - 2); });
  return a + b;
}

TEST_P(clones, compute_fibonacci_numbers) {
  for (int i = 0; i < times; ++i) ASSERT_EQ(runtime.run([](context c) { return fib(c, 20); }), 6765);
  expect_clones([&] { runtime.run([](context c) { return fib(c, 20); }); });
}

/// A branch with a name and a state, which its caller reads afterwards.
struct counting_branch {
  int n;
  long calls = 0;
  bool operator()(auto c);
};
bool count_calls(auto c, int n) {
  if (n < 2) return true;
  counting_branch first{n - 1};
  const auto second = [n](auto k) { return count_calls(k, n - 2); };
  auto [a, b] = fork2(c, first, second);
  return a && b && first.calls == 1;
}
bool counting_branch::operator()(auto c) {
  ++calls;
  return count_calls(c, n);
}

TEST_P(clones, call_a_branch_that_has_a_name_and_not_a_copy_of_it) {
  for (int i = 0; i < times; ++i) ASSERT_TRUE(runtime.run([](context c) { return count_calls(c, 20); }));
}

void count_versions(auto c, int depth, support::versions& seen) {
  seen.note(c);
  if (depth == 0) return;
  fork2(
      c, [depth, &seen](auto k) { count_versions(k, depth - 1, seen); },
      [depth, &seen](auto k) { count_versions(k, depth - 1, seen); });
}

TEST_P(clones, are_parallel_code_that_learns_nothing_where_they_are_off) {
  support::versions seen;
  for (int i = 0; i < times; ++i) runtime.run([&](context c) { count_versions(c, 6, seen); });
  if (!are_off()) return;
  EXPECT_EQ(seen.tracked + seen.clone, 0);
  EXPECT_EQ(seen.parallel, times * 126);
}

/// The leaves in their order, as a list that can only be moved.
using list = std::unique_ptr<std::vector<int>>;
list leaves(auto c, int from, int to) {
  if (to - from == 1) return std::make_unique<std::vector<int>>(1, from);
  const int middle = from + (to - from) / 3 + (to - from == 2 ? 1 : 0);
  auto shared = std::make_unique<int>(middle);  // a capture that can only be moved
  auto [a, b] = fork2(
      c, [=](auto k) { return leaves(k, from, middle); },
      [to, m = std::move(shared)](auto k) { return leaves(k, *m, to); });
  a->insert(a->end(), b->begin(), b->end());
  return std::move(a);
}

TEST_P(clones, keep_the_order_of_results_and_what_can_only_be_moved) {
  std::vector<int> expected;
  for (int i = 0; i < 300; ++i) expected.push_back(i);
  for (int i = 0; i < times; ++i)
    ASSERT_EQ(*runtime.run([](context c) { return leaves(c, 0, 300); }), expected);
}

void count_leaves(auto c, int depth, std::atomic<int>& count) {
  if (depth == 0) {
    ++count;
    return;
  }
  fork2(
      c, [&, depth](auto k) { count_leaves(k, depth - 1, count); },
      [&, depth](auto k) {
        auto [none, one] =
            fork2(k, [&, depth](auto l) { count_leaves(l, depth - 1, count); }, [](auto) { return 1; });
        static_assert(std::is_same_v<decltype(none), std::monostate>);
        count += one - 1;
      });
}

TEST_P(clones, run_branches_without_results) {
  for (int i = 0; i < times; ++i) {
    std::atomic<int> count = 0;
    runtime.run([&](context c) { count_leaves(c, 8, count); });
    ASSERT_EQ(count, 256);
  }
}

/// Counts the frames that have been entered and not left.
class frame {
 public:
  explicit frame(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;
  ~frame() { --alive_; }

 private:
  std::atomic<int>& alive_;
};

/// Throws the number of the first leaf that is divisible by 97.
int throws_at_a_leaf(auto c, int from, int to, std::atomic<int>& alive) {
  const frame own(alive);
  if (to - from == 1) {
    if (from % 97 == 96) throw from;
    return 1;
  }
  const int middle = from + (to - from) / 2;
  auto [a, b] = fork2(
      c, [=, &alive](auto k) { return throws_at_a_leaf(k, from, middle, alive); },
      [=, &alive](auto k) { return throws_at_a_leaf(k, middle, to, alive); });
  return a + b;
}

TEST_P(clones, pass_exceptions_on) {
  for (int i = 0; i < times; ++i) {
    std::atomic<int> alive = 0;
    try {
      runtime.run([&](context c) { return throws_at_a_leaf(c, 0, 97, alive); });
      FAIL() << "no exception";
    } catch (int leaf) {
      ASSERT_EQ(leaf, 96);
    }
    ASSERT_EQ(alive, 0) << "frames that were not left";
    ASSERT_EQ(runtime.run([&](context c) { return throws_at_a_leaf(c, 0, 96, alive); }), 96);
  }
}

TEST_P(clones, are_left_when_they_are_cancelled) {
  // Often enough that the whole call becomes a clone.
  for (int i = 0; i < times; ++i) runtime.run([](context c) { return fib(c, 12); });
  expect_to_be_left_when_cancelled([](context c) { return fib(c, 70); });  // takes centuries
}

/// A clone may call functions with a plain context, without a context, and functions that suspend.
long mixed(auto c, int n) {
  if (n < 2) return n;
  auto [a, b] = fork2(
      c, [=](auto k) { return mixed(k, n - 1); },
      [=](auto k) {
        if (n % 3 == 0) return plain_fib(k, n - 2);
        if (n % 3 == 1) {
          long sum = 0;
          sukima::parallel_for(k, 0, 1, [&](int) {
            auto [x, y] = fork2([=] { return n - 2 < 2 ? 0l : 1l; }, [] { return -1l; });
            sum = x + y;
          });
          return sum <= 0 ? mixed(k, n - 2) : -1;
        }
        return mixed(k, n - 2);
      });
  return a + b;
}

TEST_P(clones, call_code_with_plain_contexts_and_without) {
  for (int i = 0; i < times; ++i) {
    const long found = runtime.run([](context c) { return mixed(c, 16); });
    ASSERT_EQ(found, 987);
  }
}

TEST_P(clones, may_suspend) {
  const auto suspends = [](auto self, auto c, int depth) -> int {
    if (depth == 0) {
      sukima::suspend(c, [](sukima::resumer r) { r.resume(); });
      return 1;
    }
    auto [a, b] = fork2(
        c, [=](auto k) { return self(self, k, depth - 1); },
        [=](auto k) { return self(self, k, depth - 1); });
    return a + b;
  };
  for (int i = 0; i < times; ++i)
    ASSERT_EQ(runtime.run([&](context c) { return suspends(suspends, c, 6); }), 64);
}

TEST(clone, that_lasts_longer_than_expected_gives_work_away) {
  sukima::runtime runtime(with_clones(2, second_ns));
  // The place learns that its calls are short.
  while (runtime.statistics().clones == 0) runtime.run([](context c) { return fib(c, 10); });
  const auto before = runtime.statistics();
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  for (;;) {
    ASSERT_EQ(runtime.run([](context c) { return fib(c, 27); }), 196418);
    const auto now = runtime.statistics();
    if (now.clones_left > before.clones_left && now.steals > before.steals) break;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << now.text();
  }
}

/// model/clone.pml: what is pushed at `top` next may be polled on the fast path, which does not lower
/// `oldest`.
TEST(closed_clone, reopens_what_is_older_and_nothing_above_its_top) {
  sukima::runtime runtime(with_clones(1, second_ns));
  runtime.run([](context c) {
    sukima::detail::fiber& s = sukima::detail::fiber_of(c.top);
    char* const above = c.top + 64;
    s.oldest = c.top;
    char* older = sukima_close_older(above);
    EXPECT_EQ(s.oldest, above);
    sukima_reopen_older(above, older);
    EXPECT_EQ(s.oldest, c.top);

    s.oldest = above;  // as when the stack shrinks because tasks are reclaimed
    older = sukima_close_older(c.top);
    s.limit.request_poll();
    EXPECT_EQ(sukima_poll_in_clone(c.top), 0);
    sukima_reopen_older(c.top, older);
    EXPECT_EQ(s.oldest, c.top);
  });
}

TEST(clone_site, expects_the_longest_of_the_first_calls_then_follows_rises_sooner_than_falls) {
  sukima_clone_site site{};
  for (const std::uint64_t ticks : {100u, 900u, 300u, 200u}) sukima_clone_learn(&site, "", 3, ticks);
  EXPECT_EQ(site.at[3].expected, 900u);
  EXPECT_EQ(site.at[3].samples, 4u);
  sukima_clone_learn(&site, "", 3, 1900);
  EXPECT_EQ(site.at[3].expected, 1400u);
  sukima_clone_learn(&site, "", 3, 600);
  EXPECT_EQ(site.at[3].expected, 1350u);
  for (int i = 0; i < 1000; ++i) sukima_clone_learn(&site, "", 3, 600);
  EXPECT_LT(site.at[3].expected, 620u);
  EXPECT_EQ(site.at[2].samples, 0u);
}

TEST(clone_site, has_one_entry_for_all_great_depths_and_very_long_calls) {
  sukima_clone_site site{};
  sukima_clone_learn(&site, "", 63, 10);
  sukima_clone_learn(&site, "", 64, ~std::uint64_t{0});
  sukima_clone_learn(&site, "", ~0u, 0);
  EXPECT_EQ(site.at[63].samples, 3u);
  EXPECT_EQ(site.at[63].expected, ~std::uint32_t{0});
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Sequential clones of folds, and of loops over blocks and over ranges that split themselves.
//
// Bodies that call themselves through other contexts are types of their own. Lambdas in templates would be
// other types for each context, and take longer to compile.
#include "clones.hpp"

#include <chrono>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

namespace {

using sukima::blocked_range;
using sukima::context;
using sukima::parallel_fold;
using sukima::parallel_for;
using sukima::parallel_reduce;
using support::second_ns;
using support::with_clones;

class range_clones : public support::with_clone_settings {};
INSTANTIATE_TEST_SUITE_P(settings, range_clones, range_clones::all(), range_clones::name);

/// The numbers [first, last), split in two while there are more than three.
struct halves {
  int first;
  int last;
  auto begin() const { return std::views::iota(first, last).begin(); }
  auto end() const { return std::views::iota(first, last).end(); }
  std::optional<halves> split() {
    if (last - first <= 3) return std::nullopt;
    const int middle = first + (last - first) / 2;
    return halves{middle, std::exchange(last, middle)};
  }
};

/// The paths of a tree in their order; each way of writing a loop has a level.
std::string paths(auto c, const std::string& path, int depth);

// The bodies of its loops.
struct deeper {
  const std::string* path;
  int depth;
  std::string operator()(auto k, int i) const { return paths(k, *path + std::to_string(i), depth - 1); }
};
struct deeper_from_each : deeper {
  std::string operator()(auto k, int first, int last) const {
    std::string text;
    for (int i = first; i < last; ++i) text += deeper::operator()(k, i);
    return text;
  }
};
struct append_deeper : deeper {
  void operator()(auto k, std::string& text, int i) const { text += deeper::operator()(k, i); }
};
struct store_deeper : deeper {
  std::vector<std::string>* parts;
  void operator()(auto k, int i) const { (*parts)[static_cast<std::size_t>(i)] = deeper::operator()(k, i); }
  void operator()(auto k, int first, int last) const {
    for (int i = first; i < last; ++i) operator()(k, i);
  }
};

std::string paths(auto c, const std::string& path, int depth) {
  if (depth == 0) return path + " ";
  const deeper below{&path, depth};
  switch (depth % 4) {
    case 0:
      return parallel_fold(c, 0, 5, std::string(), append_deeper{below}, std::plus{});
    case 1:
      return parallel_reduce(c, blocked_range(0, 5), std::string("<"), deeper_from_each{below}, std::plus{},
                             sukima::grain(2)) +
             ">";
    case 2:
      return parallel_reduce(c, halves{0, 9}, std::string("("), below, std::plus{}) + ")";
    default: {
      std::vector<std::string> parts(6);
      parallel_for(c, blocked_range(0, 3), store_deeper{below, &parts});
      parallel_for(c, halves{3, 6}, store_deeper{below, &parts});
      return std::accumulate(parts.begin(), parts.end(), std::string());
    }
  }
}

TEST_P(range_clones, keep_the_order_of_results) {
  sukima::runtime plain(with_clones(1, 0));
  const std::string expected = plain.run([](context c) { return paths(c, "", 4); });
  EXPECT_EQ(std::count(expected.begin(), expected.end(), ' '), 5 * 5 * 9 * 6);
  for (int i = 0; i < times; ++i) ASSERT_EQ(runtime.run([](context c) { return paths(c, "", 4); }), expected);
  expect_clones([&] { runtime.run([](context c) { return paths(c, "", 4); }); });
}

TEST_P(range_clones, get_each_element_in_one_block) {
  const auto count = [](context c) {
    return parallel_fold(
        c, blocked_range(0, 1000), std::vector<int>(1000),
        [](auto, std::vector<int>& seen, int first, int last) {
          EXPECT_LT(first, last);
          for (int i = first; i < last; ++i) ++seen[static_cast<std::size_t>(i)];
        },
        [](std::vector<int> a, const std::vector<int>& b) {
          for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
          return a;
        });
  };
  for (int i = 0; i < times; ++i) ASSERT_EQ(runtime.run(count), std::vector<int>(1000, 1));
  expect_clones([&] { runtime.run(count); });
}

TEST_P(range_clones, pass_exceptions_on) {
  const auto throws_at = [&](int bad) {
    return runtime.run([bad](context c) {
      return parallel_fold(
          c, 0, 10, 0,
          [bad](auto k, int& sum, int i) {
            sum += parallel_reduce(
                k, halves{0, 8}, 0,
                [bad, i](auto l, int j) {
                  return parallel_reduce(
                      l, blocked_range(0, 2), 0,
                      [bad, i, j](auto, int first, int last) {
                        if (100 * i + 10 * j + first == bad) throw support::test_error(bad);
                        return last - first;
                      },
                      std::plus{});
                },
                std::plus{});
          },
          std::plus{});
    });
  };
  for (int i = 0; i < times; ++i) {
    ASSERT_EQ(throws_at(-1), 160);
    EXPECT_THROW(throws_at(470), support::test_error);
  }
}

/// Each body notes which version of it runs.
void count_versions(context c, support::versions& seen) {
  parallel_fold(
      c, 0, 2, 0,
      [&](auto k, int&, int) {
        seen.note(k);
        parallel_for(
            k, blocked_range(0, 4),
            [&](auto l, int, int) {
              seen.note(l);
              parallel_for(l, halves{0, 8}, [&](auto m, int) { seen.note(m); });
            },
            sukima::grain(2));
      },
      std::plus{});
}

TEST_P(range_clones, are_parallel_code_that_learns_nothing_where_they_are_off) {
  support::versions seen;
  for (int i = 0; i < times; ++i) runtime.run([&](context c) { count_versions(c, seen); });
  // More where a piece that was given away ends in a short block.
  EXPECT_GE(seen.tracked + seen.clone + seen.parallel, times * (2 + 2 * 2 + 2 * 2 * 8));
  if (!are_off()) return;
  EXPECT_EQ(seen.tracked + seen.clone, 0);
}

/// Blocks of a clone are measured: a loop that is much longer than expected polls, and gives work away.
TEST(range_clone, of_blocks_that_is_long_polls_between_them) {
  sukima::runtime runtime(with_clones(2, second_ns));
  const auto count = [&](int n) {
    return runtime.run([n](context c) {
      return parallel_reduce(
          c, blocked_range(0, n), 0,
          [](auto, int first, int last) {
            for (int i = 0; i < 100 * (last - first); ++i) asm volatile("");
            return last - first;
          },
          std::plus{});
    });
  };
  while (runtime.statistics().clones == 0) ASSERT_EQ(count(10), 10);
  const auto before = runtime.statistics();
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  for (;;) {
    ASSERT_EQ(count(100'000), 100'000);
    const auto now = runtime.statistics();
    if (now.clones_left > before.clones_left && now.steals > before.steals) break;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << now.text();
  }
}

}  // namespace

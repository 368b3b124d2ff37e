// SPDX-License-Identifier: Apache-2.0
// Sequential clones of loops and searches that a condition ends: a clone tests it before each iteration, and
// parallel code finds the same end first.
//
// Bodies that call themselves through other contexts are types of their own, as in clone_range_test.cpp.
#include "clones.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

namespace {

using std::views::iota;
using std::views::take_while;
using sukima::context;
using sukima::parallel_for;
using sukima::parallel_reduce;
using sukima::set_bits;
using support::second_ns;
using support::with_clones;

class end_clones : public support::with_clone_settings {};
INSTANTIATE_TEST_SUITE_P(settings, end_clones, end_clones::all(), end_clones::name);

struct chosen {
  std::string path;
};
const auto push = [](chosen& path, auto digit) { path.path += std::to_string(+digit); };
const auto pop = [](chosen& path, auto) { path.path.pop_back(); };

/// The paths of a tree in their order; each way of writing a loop has a level. The elements behind an end
/// would fulfil the condition, too.
std::string paths(auto c, chosen& path, int depth);

// The bodies of its searches and loops, and the end of them.
struct search_deeper {
  int depth;
  std::string operator()(auto k, chosen& mine, auto) const { return paths(k, mine, depth - 1); }
};
struct deeper {
  int depth;
  const chosen* path;
  std::string operator()(auto k, auto digit) const {
    chosen own{path->path + std::to_string(+digit)};
    return paths(k, own, depth - 1);
  }
};
struct store_deeper : deeper {
  std::vector<std::string>* parts;
  void operator()(auto k, unsigned bit) const { (*parts)[bit] = deeper::operator()(k, bit); }
};
struct less_than_4 {
  bool operator()(auto x) const { return x < 4; }
};

std::string paths(auto c, chosen& path, int depth) {
  if (depth == 0) return path.path + " ";
  static const std::vector<int> digits{1, 2, 3, 9, 4, 5};
  const auto is_small = take_while(less_than_4{});
  const search_deeper below{depth};
  const deeper own_below{depth, &path};
  switch (depth % 5) {
    case 0:
      return sukima::search(c, path, digits | is_small, push, pop, below, std::plus{});
    case 1:
      return sukima::search(c, path, set_bits(0b10111u) | is_small, push, pop, below, std::plus{});
    case 2:
      return parallel_reduce(c, digits | is_small, std::string(), own_below, std::plus{});
    case 3:
      return parallel_reduce(c, iota(2) | is_small, std::string(), own_below, std::plus{});
    default: {
      std::vector<std::string> parts(3);
      parallel_for(c, set_bits(0b10111u) | is_small, store_deeper{own_below, &parts});
      return std::accumulate(parts.begin(), parts.end(), std::string());
    }
  }
}

TEST_P(end_clones, keep_the_order_of_results) {
  sukima::runtime plain(with_clones(1, 0));
  chosen w;
  const std::string expected = plain.run([&](context c) { return paths(c, w, 5); });
  EXPECT_EQ(std::count(expected.begin(), expected.end(), ' '), 3 * 2 * 2 * 3 * 2);
  for (int i = 0; i < times; ++i) {
    ASSERT_EQ(runtime.run([&](context c) { return paths(c, w, 5); }), expected);
    ASSERT_TRUE(w.path.empty());
  }
  expect_clones([&] { runtime.run([&](context c) { return paths(c, w, 5); }); });
}

/// Around the number of elements after which a clone goes on in another function.
TEST_P(end_clones, end_where_the_condition_says) {
  for (int n = 30; n <= 34; ++n) {
    const auto count = [&](context c) {
      return parallel_reduce(
          c, iota(0) | take_while([n](int i) { return i < n; }), 0, [](auto, int) { return 1; }, std::plus{});
    };
    for (int i = 0; i < times; ++i) ASSERT_EQ(runtime.run(count), n);
    expect_clones([&] { runtime.run(count); });
  }
}

TEST_P(end_clones, undo_their_steps_when_the_condition_throws) {
  const auto deepest = [](auto self, auto c, chosen& path, int depth) -> int {
    if (depth == 0) return 1;
    const auto accepts = [&path](int i) {
      if (path.path == "10" && i == 1) throw support::test_error(3);
      return i < 2;
    };
    return sukima::search(
        c, path, iota(0) | take_while(accepts), push, pop,
        [=](auto k, chosen& mine, int) { return self(self, k, mine, depth - 1); }, std::plus{});
  };
  for (int i = 0; i < times; ++i) {
    chosen w;
    EXPECT_THROW(runtime.run([&](context c) { return deepest(deepest, c, w, 4); }), support::test_error);
    ASSERT_TRUE(w.path.empty());
  }
}

/// \param run  run(context, range, body) calls body(context, i) for the elements of a range
template <class Run> void expect_no_look_ahead(Run run) {
  sukima::runtime runtime(with_clones(1, second_ns));
  int clones = 0;
  while (clones == 0) {
    int seen = -1;
    const auto range = iota(0) | take_while([&](int i) {
                         seen = i;
                         return i < 100;
                       });
    runtime.run([&](context c) {
      run(c, range, [&](auto k, int i) {
        if constexpr (sukima::detail::clone_context_type<decltype(k)>) {
          ++clones;
          EXPECT_EQ(seen, i);
        }
      });
    });
  }
  EXPECT_EQ(clones, 100);
}

TEST(end_clone, of_a_loop_tests_the_condition_of_the_next_iteration_only) {
  expect_no_look_ahead([](context c, const auto& range, auto body) { parallel_for(c, range, body); });
}

TEST(end_clone, of_a_search_tests_the_condition_of_the_next_choice_only) {
  expect_no_look_ahead([](context c, const auto& range, auto body) {
    chosen w;
    sukima::search(
        c, w, range, push, pop,
        [&](auto k, chosen&, int i) {
          body(k, i);
          return 0;
        },
        std::plus{});
  });
}

/// A clone that lasts longer than its place has learned finds the end for the workers that want a part.
TEST(end_clone, that_lasts_longer_than_expected_gives_work_away) {
  sukima::runtime runtime(with_clones(2, second_ns));
  const auto run = [&](int n) {
    return runtime.run([&](context c) {
      return parallel_reduce(
          c, iota(0) | take_while([n](int i) { return i < n; }), 0,
          [](auto, int) {
            for (int i = 0; i < 100; ++i) asm volatile("");
            return 1;
          },
          std::plus{});
    });
  };
  while (runtime.statistics().clones == 0) ASSERT_EQ(run(10), 10);
  const auto before = runtime.statistics();
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  for (;;) {
    ASSERT_EQ(run(100'000), 100'000);
    const auto now = runtime.statistics();
    if (now.clones_left > before.clones_left && now.steals > before.steals) break;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << now.text();
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Sequential clones of loops and searches: what runs as one computes the same, leaves in the same ways,
// restores its workspace, and still gives work away.
//
// Bodies that call themselves through other contexts are types of their own, as in clone_range_test.cpp.
#include "clones.hpp"

#include <algorithm>
#include <forward_list>
#include <numeric>
#include <string>
#include <vector>

namespace {

using sukima::context;
using sukima::parallel_for;
using sukima::parallel_reduce;
using sukima::set_bits;
using support::second_ns;
using support::with_clones;

class loop_clones : public support::with_clone_settings {};
INSTANTIATE_TEST_SUITE_P(settings, loop_clones, loop_clones::all(), loop_clones::name);

/// The paths of a tree in their order; each way of writing a loop has a level.
std::string paths(auto c, const std::string& path, int depth);

// The bodies of its loops.
struct deeper {
  const std::string* path;
  int depth;
  std::string operator()(auto k, auto i) const { return paths(k, *path + std::to_string(+i), depth - 1); }
};
struct store_deeper {
  const std::string* path;
  int depth;
  const std::vector<std::string>* parts;
  void operator()(auto k, std::string& part) const {
    part = paths(k, *path + static_cast<char>('a' + (&part - parts->data())), depth - 1);
  }
};

std::string paths(auto c, const std::string& path, int depth) {
  if (depth == 0) return path + " ";
  const deeper below{&path, depth};
  switch (depth % 4) {
    case 0:
      return parallel_reduce(c, 0, 3, std::string("<"), below, std::plus{}) + ">";
    case 1:
      return parallel_reduce(c, set_bits(0b10110u), std::string(), below, std::plus{});
    case 2: {
      const std::forward_list<int> list{7, 8, 9};
      return parallel_reduce(c, list, std::string(), below, std::plus{}, sukima::guard(0.5));
    }
    default: {
      std::vector<std::string> parts(20);
      parallel_for(c, parts, store_deeper{&path, depth, &parts});
      return std::accumulate(parts.begin(), parts.end(), std::string());
    }
  }
}

TEST_P(loop_clones, keep_the_order_of_results) {
  sukima::runtime plain(with_clones(1, 0));
  const std::string expected = plain.run([](context c) { return paths(c, "", 4); });
  EXPECT_EQ(std::count(expected.begin(), expected.end(), ' '), 3 * 20 * 3 * 3);
  for (int i = 0; i < times; ++i) ASSERT_EQ(runtime.run([](context c) { return paths(c, "", 4); }), expected);
  expect_clones([&] { runtime.run([](context c) { return paths(c, "", 4); }); });
}

/// The steps on the way to a node; every undo must fit to its top.
class steps {
 public:
  void push(unsigned bit) { taken_.push_back(bit); }
  void pop(unsigned bit) {
    if (taken_.empty() || taken_.back() != bit) std::abort();
    taken_.pop_back();
  }
  const std::vector<unsigned>& taken() const { return taken_; }

 private:
  std::vector<unsigned> taken_;
};
const auto push = [](steps& space, unsigned bit) { space.push(bit); };
const auto pop = [](steps& space, unsigned bit) { space.pop(bit); };
const auto push_unless_4 = [](steps& space, unsigned bit) {
  if (bit == 4) return false;
  space.push(bit);
  return true;
};

/// Words over the bits of a mask, in their order: searches, by number and by successor, and forks.
std::string words(auto c, steps& space, int depth);

// Two branches, each on a workspace of its own.
struct words_of_branch {
  steps own;
  int depth;
  const char* end;
  std::string operator()(auto l) { return words(l, own, depth - 1) + end; }
};
struct words_below {
  int depth;
  std::string operator()(auto k, steps& mine, unsigned) const {
    if (depth % 3 != 1) return words(k, mine, depth - 1);
    auto [a, b] = sukima::fork2(k, words_of_branch{mine, depth, ""}, words_of_branch{mine, depth, "|"});
    return a + b;
  }
};

std::string words(auto c, steps& space, int depth) {
  if (depth == 0) {
    std::string word;
    for (const unsigned bit : space.taken()) word += std::to_string(bit);
    return word + " ";
  }
  static const std::vector<unsigned> numbers{1, 2, 8};
  const words_below below{depth};
  if (depth % 2 == 0) return sukima::search(c, space, numbers, push, pop, below, std::plus{});
  return sukima::search(c, space, set_bits(0b1111u), push_unless_4, pop, below, std::string(), std::plus{},
                        sukima::guard(0.7));
}

TEST_P(loop_clones, of_searches_try_all_choices_in_their_order) {
  sukima::runtime plain(with_clones(1, 0));
  steps w;
  const std::string expected = plain.run([&](context c) { return words(c, w, 5); });
  EXPECT_EQ(std::count(expected.begin(), expected.end(), ' '), 243 * 4);
  for (int i = 0; i < times; ++i) {
    ASSERT_EQ(runtime.run([&](context c) { return words(c, w, 5); }), expected);
    ASSERT_TRUE(w.taken().empty());
  }
  expect_clones([&] { runtime.run([&](context c) { return words(c, w, 5); }); });
}

/// A search below loops, each of whose bodies notes which version of it runs.
void count_versions(auto c, steps& space, support::versions& seen) {
  parallel_for(c, 0, 3, [&](auto k, int) {
    seen.note(k);
    steps own = space;
    sukima::search(
        k, own, set_bits(0b11u), push, pop,
        [&](auto l, steps&, unsigned) {
          seen.note(l);
          return parallel_reduce(
              l, set_bits(0b11u), 0,
              [&](auto m, unsigned) {
                seen.note(m);
                return 1;
              },
              std::plus{});
        },
        std::plus{});
  });
}

TEST_P(loop_clones, are_parallel_code_that_learns_nothing_where_they_are_off) {
  support::versions seen;
  steps w;
  for (int i = 0; i < times; ++i) runtime.run([&](context c) { count_versions(c, w, seen); });
  if (!are_off()) return;
  EXPECT_EQ(seen.tracked + seen.clone, 0);
  EXPECT_EQ(seen.parallel, times * (3 + 6 + 12));
}

/// Throws at one node of a search.
long throws_below(auto c, steps& space, int depth, const std::vector<unsigned>& at);
struct throws_deeper {
  int depth;
  const std::vector<unsigned>* at;
  long operator()(auto k, steps& mine, unsigned) const { return throws_below(k, mine, depth - 1, *at); }
};
long throws_below(auto c, steps& space, int depth, const std::vector<unsigned>& at) {
  if (space.taken() == at) throw support::test_error(17);
  if (depth == 0) return 1;
  return sukima::search(c, space, set_bits(0b10101u), push, pop, throws_deeper{depth, &at}, std::plus{});
}

TEST_P(loop_clones, of_searches_undo_their_steps_when_a_body_throws) {
  for (int i = 0; i < times; ++i) {
    steps w;
    w.push(64);
    ASSERT_EQ(runtime.run([&](context c) { return throws_below(c, w, 5, {}); }), 243);
    EXPECT_THROW(runtime.run([&](context c) { return throws_below(c, w, 5, {64, 4, 16, 1}); }),
                 support::test_error);
    EXPECT_EQ(w.taken(), std::vector{64u});
  }
}

TEST_P(loop_clones, of_loops_pass_exceptions_on) {
  const auto run = [&](int bad) {
    return runtime.run([bad](context c) {
      return parallel_reduce(
          c, 0, 40, 0,
          [bad](auto k, int i) {
            return parallel_reduce(
                k, 0, 3, 0,
                [bad, i](auto, int j) {
                  if (3 * i + j == bad) throw support::test_error(bad);
                  return 1;
                },
                std::plus{});
          },
          std::plus{});
    });
  };
  for (int i = 0; i < times; ++i) {
    ASSERT_EQ(run(-1), 120);
    EXPECT_THROW(run(100), support::test_error);
  }
}

/// Never ends by itself.
long endless(auto c, steps& space) {
  return sukima::search(
      c, space, set_bits(0b11u), push, pop,
      [](auto k, steps& mine, unsigned) -> long {
        if (mine.taken().size() < 60) return endless(k, mine);
        return 1;
      },
      std::plus{});
}
long short_search(auto c, steps& space, int depth) {
  return sukima::search(
      c, space, set_bits(0b11u), push, pop,
      [depth](auto k, steps& mine, unsigned) -> long {
        return depth > 0 ? short_search(k, mine, depth - 1) : 1;
      },
      std::plus{});
}

TEST_P(loop_clones, of_searches_are_left_when_they_are_cancelled) {
  steps w;
  expect_to_be_left_when_cancelled([&](context c) { return endless(c, w); });
  EXPECT_TRUE(w.taken().empty());
}

/// A first solution ends clones on all workers, and their workspaces are undone.
int look(auto c, steps& space, int depth, sukima::first_solution<unsigned>& solution) {
  const auto sum = std::accumulate(space.taken().begin(), space.taken().end(), 0u);
  if (depth == 0) {
    if (sum == 77) solution.found(sum);
    return 0;
  }
  return sukima::search(
      c, space, set_bits(0b1101011u), push, pop,
      [depth, &solution](auto k, steps& mine, unsigned) { return look(k, mine, depth - 1, solution); },
      std::plus{});
}

TEST_P(loop_clones, of_searches_end_at_a_first_solution) {
  for (int i = 0; i < times; ++i) {
    steps w;
    const auto found = runtime.run([&](context c) {
      return sukima::search_first<unsigned>(c, [&](context k, auto& solution) { look(k, w, 6, solution); });
    });
    EXPECT_EQ(found, 77u);
    EXPECT_TRUE(w.taken().empty());
  }
}

/// A clone that lasts longer than its place has learned gives its own choices away; older ones are closed.
TEST(loop_clone, of_a_search_that_lasts_longer_than_expected_gives_work_away) {
  sukima::runtime runtime(with_clones(2, second_ns));
  steps w;
  while (runtime.statistics().clones == 0)
    ASSERT_EQ(runtime.run([&](context c) { return short_search(c, w, 3); }), 16);
  const auto before = runtime.statistics();
  const auto deadline = std::chrono::steady_clock::now() + support::patience;
  for (;;) {
    ASSERT_EQ(runtime.run([&](context c) { return short_search(c, w, 15); }), 65536);
    ASSERT_TRUE(w.taken().empty());
    const auto now = runtime.statistics();
    if (now.clones_left > before.clones_left && now.steals > before.steals) break;
    ASSERT_LT(std::chrono::steady_clock::now(), deadline) << now.text();
  }
}

/// Runs loops whose bodies do not poll, first short ones, until a long one has given work away.
/// \param count  count(context, n, body) adds the body's results up over n elements
template <class Count> void expect_polls_in_a_long_loop(Count count) {
  sukima::runtime runtime(with_clones(2, second_ns));
  const auto run = [&](int n) {
    return runtime.run([&](context c) {
      return count(c, n, [](auto, int) {
        for (int i = 0; i < 100; ++i) asm volatile("");
        return 1;
      });
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

TEST(loop_clone, that_is_long_polls_between_its_iterations) {
  expect_polls_in_a_long_loop(
      [](context c, int n, auto body) { return parallel_reduce(c, 0, n, 0L, body, std::plus{}); });
}

/// The number of elements is unknown when the clone begins.
TEST(loop_clone, over_a_long_list_polls_between_its_iterations) {
  expect_polls_in_a_long_loop([](context c, int n, auto body) {
    static const std::forward_list<int> ten(10);
    static const std::forward_list<int> many(100'000);
    return parallel_reduce(c, n == 10 ? ten : many, 0L, body, std::plus{});
  });
}

/// Around the number of elements after which a clone goes on in another function.
TEST_P(loop_clones, over_lists_take_each_element_once) {
  for (int n = 30; n <= 34; ++n) {
    std::forward_list<int> list(static_cast<std::size_t>(n));
    std::iota(list.begin(), list.end(), 0);
    const auto text = [&] {
      return runtime.run([&](context c) {
        return parallel_reduce(
            c, list, std::string(), [](auto, int i) { return std::to_string(i) + " "; }, std::plus{});
      });
    };
    std::string expected;
    for (int i = 0; i < n; ++i) expected += std::to_string(i) + " ";
    for (int i = 0; i < times; ++i) ASSERT_EQ(text(), expected);
    expect_clones(text);
  }
}

}  // namespace

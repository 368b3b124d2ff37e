// SPDX-License-Identifier: Apache-2.0
// search, search_first and best_solution: one workspace a worker, applied and undone in balance.
#include "support.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using sukima::context;

/// A path through a tree of choices that checks itself: every apply and undo must fit to its top.
class path {
 public:
  path() = default;
  path(const path& other) : steps_(other.steps_) { ++copies_; }
  path& operator=(const path&) = delete;

  void push(int step) { steps_.push_back(step); }
  void pop(int step) {
    if (steps_.empty() || steps_.back() != step)
      ++errors_;
    else
      steps_.pop_back();
  }
  const std::vector<int>& steps() const { return steps_; }
  bool is(const std::vector<int>& expected) const { return steps_ == expected; }

  static void reset() {
    copies_ = 0;
    errors_ = 0;
  }
  static int copies() { return copies_; }
  static int errors() { return errors_; }

 private:
  std::vector<int> steps_;
  inline static std::atomic<int> copies_{0};
  inline static std::atomic<int> errors_{0};
};

const auto push = [](path& p, int step) { p.push(step); };
const auto pop = [](path& p, int step) { p.pop(step); };
const std::vector<int> choices{0, 1, 2, 3, 4};

class search_test : public support::runtimes {
 protected:
  void SetUp() override { path::reset(); }
  void TearDown() override {
    EXPECT_EQ(path::errors(), 0);
    if (GetParam() == 1) {
      EXPECT_EQ(path::copies(), 0) << "one worker never copies its workspace";
    }
    EXPECT_EQ(static_cast<std::uint64_t>(path::copies()), path::copies() == 0 ? 0 : counted_copies());
  }
  /// Each piece that was given away costs one copy, also one that was taken back.
  std::uint64_t counted_copies() const { return runtime.statistics().promotions; }
};
INSTANTIATE_TEST_SUITE_P(workers, search_test, support::worker_counts(), support::name_of_count);

/// Counts the leaves of a tree of this depth, checks the path on the way.
long leaves(context c, path& p, std::vector<int> expected, int depth) {
  EXPECT_TRUE(p.is(expected));
  if (depth == 0) return 1;
  return sukima::search(
      c, p, choices, push, pop,
      [&](context below, path& mine, int step) {
        std::vector<int> next = expected;
        next.push_back(step);
        return leaves(below, mine, std::move(next), depth - 1);
      },
      std::plus{});
}

TEST_P(search_test, tries_every_choice_in_the_state_of_its_path) {
  path p;
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(runtime.run([&](context c) { return leaves(c, p, {}, 5); }), 3125);
    EXPECT_TRUE(p.is({}));
  }
}

/// Bodies without a context below bodies with one.
long leaves_without_context(path& p, int depth) {
  if (depth == 0) return 1;
  long sum = 0;
  sum = sukima::run([&](context c) {
    return sukima::search(
        c, p, choices, push, pop, [&](path& mine, int) { return leaves_without_context(mine, depth - 1); },
        0L, std::plus{});
  });
  return sum;
}

TEST_P(search_test, works_with_bodies_without_a_context) {
  path p;
  EXPECT_EQ(runtime.run([&] { return leaves_without_context(p, 4); }), 625);
  EXPECT_TRUE(p.is({}));
}

/// This program has no context anywhere.
long leaves_of(path& p, int depth) {
  if (depth == 0) return 1;
  return sukima::search(
      p, choices, push, pop, [&](path& mine, int) { return leaves_of(mine, depth - 1); }, std::plus{});
}

TEST_P(search_test, needs_no_context) {
  path p;
  for (int round = 0; round < 10; ++round) {
    EXPECT_EQ(runtime.run([&] { return leaves_of(p, 5); }), 3125);
    EXPECT_EQ(runtime.run([&] {
      return sukima::search(
          p, choices, push, pop, [](path& mine, int) { return leaves_of(mine, 3); }, 5L, std::plus{},
          sukima::guard(1.0));
    }),
              630);
  }
  EXPECT_TRUE(p.is({}));
}

TEST_P(search_test, first_solution_needs_no_context) {
  const auto found = runtime.run([&] {
    return sukima::search_first<int>([](sukima::first_solution<int>& solution) {
      path p;
      sukima::search(
          p, choices, push, pop,
          [&](path& mine, int) {
            sukima::search(
                mine, choices, push, pop,
                [&](path& deeper, int step) {
                  if (deeper.steps() == std::vector{3, 1}) solution.found(10 * deeper.steps()[0] + step);
                  return 0;
                },
                std::plus{});
            return 0;
          },
          std::plus{});
    });
  });
  EXPECT_EQ(found, 31);
}

TEST_P(search_test, search_first_gives_a_context_if_the_function_takes_one) {
  const auto report = [](context c, sukima::first_solution<int>& solution) {
    sukima::fork2(c, [] {}, [&] { solution.found(7); });
  };
  runtime.run([&](context c) {
    EXPECT_EQ(sukima::search_first<int>(report), 7);
    EXPECT_EQ(sukima::search_first<int>(c, report), 7);
    EXPECT_EQ(sukima::search_first<int>(c, [](auto& solution) { solution.found(8); }), 8);
  });
}

/// A workspace that is a range itself: which overload is meant must stay clear.
TEST_P(search_test, the_workspace_may_be_a_range) {
  std::vector<int> stack;
  const auto put = [](std::vector<int>& w, int x) { w.push_back(x); };
  const auto take = [](std::vector<int>& w, int) { w.pop_back(); };
  const auto top = [](std::vector<int>& w, int) { return w.back(); };
  EXPECT_EQ(runtime.run(
                [&](context c) { return sukima::search(c, stack, choices, put, take, top, 0, std::plus{}); }),
            10);
  EXPECT_EQ(runtime.run([&] { return sukima::search(stack, choices, put, take, top, 0, std::plus{}); }), 10);
  EXPECT_EQ(runtime.run([&] { return sukima::search(stack, choices, put, take, top, std::plus{}); }), 10);
}

/// Bodies that return references: what they refer to is read, not copied.
TEST_P(search_test, bodies_may_return_references) {
  path p;
  const std::vector<std::string> words{"a", "b", "c", "d", "e"};
  const std::string all = runtime.run([&](context c) {
    return sukima::search(
        c, p, choices, push, pop,
        [&](path&, int step) -> const std::string& { return words[static_cast<std::size_t>(step)]; },
        std::plus{});
  });
  EXPECT_EQ(all, "abcde");
}

TEST_P(search_test, combines_in_the_order_of_the_choices) {
  path p;
  const std::function<std::string(context, path&, int)> words = [&](context c, path& mine, int depth) {
    if (depth == 0) {
      std::string word;
      for (const int s : mine.steps()) word += static_cast<char>('a' + s);
      return word + " ";
    }
    return sukima::search(
        c, mine, choices, push, pop, [&](context below, path& q, int) { return words(below, q, depth - 1); },
        std::plus{});
  };
  std::string expected;
  for (char x = 'a'; x <= 'e'; ++x)
    for (char y = 'a'; y <= 'e'; ++y)
      for (char z = 'a'; z <= 'e'; ++z) expected += std::string{x, y, z, ' '};
  for (int round = 0; round < 20; ++round)
    EXPECT_EQ(runtime.run([&](context c) { return words(c, p, 3); }), expected);
}

TEST_P(search_test, skips_choices_that_cannot_be_applied) {
  path p;
  const auto apply_even = [](path& q, int step) {
    if (step % 2 != 0) return false;
    q.push(step);
    return true;
  };
  const std::function<long(context, path&, int)> count = [&](context c, path& mine, int depth) -> long {
    if (depth == 0) return 1;
    return sukima::search(
        c, mine, choices, apply_even, pop,
        [&](context below, path& q, int) { return count(below, q, depth - 1); }, std::plus{});
  };
  for (int round = 0; round < 10; ++round)
    EXPECT_EQ(runtime.run([&](context c) { return count(c, p, 6); }), 729);
  EXPECT_TRUE(p.is({}));
}

TEST_P(search_test, uses_the_initial_value_once) {
  path p;
  const long sum = runtime.run([&](context c) {
    return sukima::search(
        c, p, choices, push, pop, [](path&, int step) { return static_cast<long>(step); }, 100L, std::plus{});
  });
  EXPECT_EQ(sum, 110);
  const long none = runtime.run([&](context c) {
    return sukima::search(
        c, p, std::vector<int>{}, push, pop, [](path&, int) { return 1L; }, 7L, std::plus{});
  });
  EXPECT_EQ(none, 7);
}

TEST_P(search_test, undoes_innermost_first_when_a_body_throws) {
  path p;
  std::vector<int> undone;
  std::mutex lock;
  const auto remember = [&](path& q, int step) {
    q.pop(step);
    const std::lock_guard hold(lock);
    undone.push_back(step);
  };
  EXPECT_THROW(runtime.run([&](context c) {
    const auto only = [](int step) { return std::vector<int>{step}; };
    const auto one = only(1), two = only(2), three = only(3);
    sukima::search(
        c, p, one, push, remember,
        [&](context c1, path& p1, int) {
          return sukima::search(
              c1, p1, two, push, remember,
              [&](context c2, path& p2, int) {
                return sukima::search(
                    c2, p2, three, push, remember, [](path&, int) -> int { throw support::test_error(3); },
                    std::plus{});
              },
              std::plus{});
        },
        std::plus{});
  }),
               support::test_error);
  EXPECT_TRUE(p.is({}));
  if (GetParam() == 1) {
    EXPECT_EQ(undone, (std::vector{3, 2, 1}));
  }
}

TEST_P(search_test, leaves_the_workspace_as_it_was_after_exceptions) {
  for (int round = 0; round < 30; ++round) {
    path p;
    p.push(99);
    const std::function<long(context, path&, int)> walk = [&](context c, path& mine, int depth) -> long {
      if (mine.is({99, 3, 2, 4, 1})) throw support::test_error(round);
      if (depth == 0) return 1;
      return sukima::search(
          c, mine, choices, push, pop, [&](context below, path& q, int) { return walk(below, q, depth - 1); },
          std::plus{});
    };
    try {
      runtime.run([&](context c) { return walk(c, p, 5); });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const support::test_error& e) {
      EXPECT_EQ(e.number, round);
    }
    EXPECT_TRUE(p.is({99}));
  }
}

TEST(search, gives_a_thief_the_state_of_the_choice) {
  path::reset();
  sukima::runtime two(support::with_workers(2));
  for (int round = 0; round < 20; ++round) {
    path p;
    std::atomic<int> seen{0};
    const auto here = std::this_thread::get_id();
    two.run([&](context c) {
      sukima::search(
          c, p, choices, push, pop,
          [&](context c1, path& p1, int first) {
            if (std::this_thread::get_id() != here) {
              EXPECT_TRUE(p1.is({first}));
              ++seen;
              return 0;
            }
            return sukima::search(
                c1, p1, choices, push, pop,
                [&](context c2, path& p2, int second) {
                  EXPECT_TRUE(p2.is({first, second}));
                  EXPECT_TRUE(support::poll_until(c2, [&] { return seen != 0; }));
                  EXPECT_TRUE(p2.is({first, second})) << "coming forward restores the path";
                  return 0;
                },
                std::plus{});
          },
          std::plus{});
    });
    EXPECT_GT(seen, 0);
    EXPECT_TRUE(p.is({}));
  }
  EXPECT_GT(two.statistics().backtracks, 0u);
  EXPECT_EQ(path::errors(), 0);
}

TEST(search, throws_if_apply_refuses_a_choice_when_it_is_replayed) {
  path::reset();
  sukima::runtime two(support::with_workers(2));
  // More than thieves can take before the innermost body runs: then a step in progress has to be replayed.
  std::vector<int> many(1000);
  std::iota(many.begin(), many.end(), 0);
  for (int round = 0; round < 20; ++round) {
    path p;
    std::atomic<bool> pruned{false};
    const auto here = std::this_thread::get_id();
    const auto apply = [&](path& q, int step) {
      if (pruned) return false;
      q.push(step);
      return true;
    };
    const std::string message = support::message_of<sukima::replay_error>([&] {
      two.run([&](context c) {
        sukima::search(
            c, p, choices, apply, pop,
            [&](context c1, path& p1, int) {
              if (std::this_thread::get_id() != here) return 0;
              return sukima::search(
                  c1, p1, many, apply, pop,
                  [&](context c2, path&, int) {
                    if (std::this_thread::get_id() != here) return 0;
                    pruned = true;
                    EXPECT_FALSE(support::poll_until(c2, [] { return false; }));
                    return 0;
                  },
                  std::plus{});
            },
            std::plus{});
      });
    });
    EXPECT_NE(message.find("apply refused a choice"), std::string::npos) << message;
    EXPECT_EQ(path::errors(), 0) << "what was not applied again must not be undone";
    EXPECT_TRUE(p.is({}));
  }
}

TEST_P(search_test, finds_a_first_solution_and_stops) {
  path p;
  std::atomic<long> visited{0};
  const std::function<int(context, path&, int, sukima::first_solution<std::vector<int>>&)> look =
      [&](context c, path& mine, int depth, auto& solution) -> int {
    ++visited;
    const auto& s = mine.steps();
    if (depth == 0) {
      if (std::accumulate(s.begin(), s.end(), 0) == 7) solution.found(s);
      return 0;
    }
    return sukima::search(
        c, mine, choices, push, pop,
        [&](context below, path& q, int) { return look(below, q, depth - 1, solution); }, std::plus{});
  };
  for (int round = 0; round < 20; ++round) {
    const auto found = runtime.run([&](context c) {
      return sukima::search_first<std::vector<int>>(
          c, [&](context below, auto& solution) { look(below, p, 6, solution); });
    });
    ASSERT_TRUE(found);
    EXPECT_EQ(std::accumulate(found->begin(), found->end(), 0), 7);
    EXPECT_TRUE(p.is({}));
  }
  if (GetParam() == 1) {
    EXPECT_LT(visited, 20 * 1000) << "the whole tree has 19531 nodes";
  }
}

TEST_P(search_test, reports_that_no_solution_exists) {
  path p;
  const auto found = runtime.run([&](context c) {
    return sukima::search_first<int>(
        c, [&](context below, sukima::first_solution<int>&) { leaves(below, p, {}, 4); });
  });
  EXPECT_FALSE(found);
}

/// A solution of two parts, whose copies can be refused.
struct two_parts {
  int first, second;
  static inline bool refuses = false;
  static void check() {
    if (refuses) throw std::runtime_error("no copy");
  }
  two_parts(int one, int other) : first(one), second(other) {}
  two_parts(const two_parts& other) : first(other.first), second(other.second) { check(); }
  two_parts& operator=(const two_parts& other) {
    first = other.first;
    check();
    second = other.second;
    return *this;
  }
  two_parts(two_parts&&) = default;
  two_parts& operator=(two_parts&&) = default;
  ~two_parts() = default;
  friend bool operator==(const two_parts&, const two_parts&) = default;
};

TEST(best_solution, stays_whole_if_copying_a_better_one_throws) {
  sukima::best_solution<two_parts, int, std::greater<>> best(10);
  EXPECT_TRUE(best.offer(11, {1, 1}));
  two_parts::refuses = true;
  EXPECT_THROW(best.offer(12, {2, 2}), std::runtime_error);
  two_parts::refuses = false;
  EXPECT_EQ(best.best(), two_parts(1, 1));
  EXPECT_EQ(best.bound(), 11);
}

/// Knapsack by branch and bound: the same best value for any number of workers.
TEST_P(search_test, finds_the_best_solution) {
  const std::vector<int> weights{12, 7, 11, 8, 9, 6, 14, 3, 10, 5, 13, 4};
  const std::vector<int> values{24, 13, 23, 15, 16, 11, 28, 5, 20, 9, 25, 7};
  constexpr int room = 45;
  sukima::best_solution<unsigned, int, std::greater<int>> best(std::numeric_limits<int>::min());
  struct sack {
    unsigned items = 0;
    int weight = 0;
    int value = 0;
  };
  const std::vector<int> take_or_leave{1, 0};
  const std::function<int(context, sack&, std::size_t)> pack = [&](context c, sack& s,
                                                                   std::size_t item) -> int {
    if (item == weights.size()) {
      best.offer(s.value, s.items);
      return 0;
    }
    if (!best.promising(s.value +
                        std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(item), values.end(), 0)))
      return 0;
    return sukima::search(
        c, s, take_or_leave,
        [&, item](sack& t, int take) {
          if (take * weights[item] > room - t.weight) return false;
          t.items |= static_cast<unsigned>(take) << item;
          t.weight += take * weights[item];
          t.value += take * values[item];
          return true;
        },
        [&, item](sack& t, int take) {
          t.items &= ~(static_cast<unsigned>(take) << item);
          t.weight -= take * weights[item];
          t.value -= take * values[item];
        },
        [&, item](context below, sack& t, int) { return pack(below, t, item + 1); }, std::plus{});
  };
  sack s;
  runtime.run([&](context c) { return pack(c, s, 0); });
  int expected = 0;
  for (unsigned set = 0; set < 1u << weights.size(); ++set) {
    int weight = 0;
    int value = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      if ((set >> i & 1) != 0) {
        weight += weights[i];
        value += values[i];
      }
    if (weight <= room) expected = std::max(expected, value);
  }
  EXPECT_EQ(best.bound(), expected);
  ASSERT_TRUE(best.best());
  int value = 0;
  for (std::size_t i = 0; i < values.size(); ++i) value += (*best.best() >> i & 1) != 0 ? values[i] : 0;
  EXPECT_EQ(value, expected);
  EXPECT_EQ(s.items, 0u);
  EXPECT_EQ(s.weight, 0);
}

/// A sum whose functions are members.
struct total {
  long value = 0;
  total joined(const total& other) const { return {value + other.value}; }
};
struct walk : path {
  total result(int step) { return {step * step + static_cast<long>(steps().size())}; }
};

TEST_P(search_test, takes_pointers_to_members) {
  walk p;
  const total sum = runtime.run([&](context c) {
    return sukima::search(c, p, choices, &path::push, &path::pop, &walk::result, total{}, &total::joined);
  });
  EXPECT_EQ(sum.value, 0 + 1 + 4 + 9 + 16 + 5);
  const total once_more = runtime.run(
      [&] { return sukima::search(p, choices, &path::push, pop, &walk::result, &total::joined); });
  EXPECT_EQ(once_more.value, sum.value);
}

}  // namespace

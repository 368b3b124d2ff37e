// SPDX-License-Identifier: Apache-2.0
// Best solutions that nodes share: the same one everywhere and in each run, whatever was pruned or lost.
// Each node has an object of its own, as processes have.
#include "hope_support.hpp"
#include "random_programs.hpp"
#include "transport/sparse_graph.hpp"

#include <sukima/cluster/best_solution.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <thread>

namespace {

using namespace hope_support;
using cluster_support::nodes_in_process;
using cluster_support::own_node;
using cluster_support::shape;
using random_programs::mixed;
using sukima::call;
using sukima::context;

const hope::node_options eager{.before_helping = 0us,
                               .before_going_on = 0us,
                               .before_announcing = 0us,
                               .before_claiming = 0us,
                               .tick = 30us};

constexpr unsigned most_nodes = most_meshed + 4;
using best_of_node = best_solution<std::uint64_t, int, std::greater<>>;

/// One object for each node, as each process has one. One test at a time.
struct shared {
  std::array<sukima::detail::solution_board, most_nodes> board;
  std::array<std::unique_ptr<best_of_node>, most_nodes> best;
  std::atomic<std::uint64_t> visits{0};
  std::atomic<bool> is_pruning{true};
  shared() {
    for (unsigned i = 0; i < most_nodes; ++i)
      best[i] = std::make_unique<best_of_node>("value", 0, std::greater<>(), board[i]);
    for (const auto& b : best) all.push_back(b.get());
  }
  std::vector<sukima::detail::solution_board*> boards() {
    std::vector<sukima::detail::solution_board*> found;
    for (auto& b : board) found.push_back(&b);
    return found;
  }
  std::vector<best_of_node*> all;
};
shared* at = nullptr;
best_of_node& own_best() { return *at->best[own_node]; }

// A knapsack whose items are drawn: values are small, so that there are several best ones.
constexpr unsigned items = 14;
int weight_of(std::uint64_t seed, unsigned i) { return 3 + static_cast<int>(mixed(seed * 64 + i) % 9); }
int value_of(std::uint64_t seed, unsigned i) { return 3 + static_cast<int>(mixed(seed * 64 + 32 + i) % 4); }
constexpr int room = 45;

struct sack {
  std::uint64_t seed;
  std::uint64_t chosen;
  int weight;
  int value;
};
void pack(context c, sack s, unsigned next) {
  at->visits.fetch_add(1);
  if (next == items) {
    own_best().offer(s.value, s.chosen);
    return;
  }
  int possible = s.value;
  for (unsigned i = next; i < items; ++i) possible += value_of(s.seed, i);
  if (at->is_pruning && !own_best().promising(possible)) return;
  const sack with{s.seed, s.chosen | std::uint64_t{1} << next, s.weight + weight_of(s.seed, next),
                  s.value + value_of(s.seed, next)};
  if (with.weight > room)
    pack(c, s, next + 1);
  else
    sukima::fork2(c, call<pack>(with, next + 1), call<pack>(s, next + 1));
}
struct solution {
  int value = 0;
  std::uint64_t chosen = 0;
  friend bool operator==(const solution&, const solution&) = default;
};
/// All subsets: the best one, of several the smallest.
solution exhaustive(std::uint64_t seed) {
  solution best;
  for (std::uint64_t chosen = 1; chosen < std::uint64_t{1} << items; ++chosen) {
    int weight = 0;
    int value = 0;
    for (unsigned i = 0; i < items; ++i) {
      if ((chosen >> i & 1) == 0) continue;
      weight += weight_of(seed, i);
      value += value_of(seed, i);
    }
    if (weight <= room && value > best.value) best = {value, chosen};
  }
  return best;
}
solution found_by(unsigned node) {
  const best_of_node& best = *at->best[node];
  return {best.bound(), best.best().value_or(0)};
}
/// Runs the same entry everywhere. \returns what each node then has
template <class Nodes> std::vector<solution> pack_everywhere(Nodes& nodes, unsigned count,
                                                             std::uint64_t seed) {
  std::vector<solution> found(count);
  nodes.on_each([&](unsigned i) {
    nodes.run(i, call<pack>(sack{seed, 0, 0, 0}, 0u));
    found[i] = found_by(i);
  });
  return found;
}

TEST(best_solutions, are_the_same_on_all_nodes_that_omit) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    shared now;
    at = &now;
    const unsigned count = 1 + static_cast<unsigned>(seed % 4);
    hope_nodes nodes({.nodes = count, .workers = 1 + static_cast<unsigned>(seed % 2), .seed = seed},
                     seed % 3 == 0 ? eager : hope::node_options{}, {}, now.boards());
    for (std::uint64_t entry = 0; entry < 3; ++entry)
      EXPECT_EQ(pack_everywhere(nodes, count, seed + entry),
                std::vector<solution>(count, exhaustive(seed + entry)));
  }
}

TEST(best_solutions, are_the_same_on_all_nodes_that_steal) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    shared now;
    at = &now;
    const unsigned count = 1 + static_cast<unsigned>(seed % 4);
    nodes_in_process nodes({.nodes = count, .workers = 1 + static_cast<unsigned>(seed % 2), .seed = seed},
                           now.boards());
    for (std::uint64_t entry = 0; entry < 3; ++entry)
      EXPECT_EQ(pack_everywhere(nodes, count, seed + entry),
                std::vector<solution>(count, exhaustive(seed + entry)));
  }
}

TEST(best_solutions, are_the_same_though_messages_and_nodes_are_lost) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    shared now;
    at = &now;
    std::vector<faults> each(4);
    for (unsigned i = 0; i < 4; ++i) {
      each[i] = {.lost = seed % 3 == 0 ? 300u : 0u,
                 .doubled = 100,
                 .overtaken = 100,
                 .loses = seed % 2 == 0 ? is_best : nullptr};
      if (i != seed % 4 && mixed(seed * 4 + i) % 2 == 0) each[i].dies_at = 1 + mixed(seed * 8 + i) % 60;
    }
    hope_nodes nodes({.nodes = 4, .seed = seed}, eager, each, now.boards());
    EXPECT_EQ(pack_everywhere(nodes, 4, seed), std::vector<solution>(4, exhaustive(seed))) << "seed " << seed;
  }
}

/// Polls until then.
template <class Until> void wait(context c, Until until) {
  while (!until()) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}

// What the branches below wait for.
std::function<bool()> first_may_end;
std::function<bool()> second_may_begin;
std::atomic<unsigned> deep_visits{0};

/// Node 1 begins it as well, and leaves it to node 0.
void offers(context c) {
  if (own_node == 0) own_best().offer(50, 7);
  wait(c, [] { return first_may_end(); });
}
/// 2^depth - 1 calls, where nothing is pruned. None of them can be better than 40.
void explores(context c, int depth) {
  if (depth == 0) return;
  deep_visits.fetch_add(1);
  if (!own_best().promising(40)) return;
  sukima::fork2(c, call<explores>(depth - 1), call<explores>(depth - 1));
}
void waits_and_explores(context c, int depth) {
  wait(c, [] { return second_may_begin(); });
  explores(c, depth);
}
void both(context c) { sukima::fork2(c, call<offers>(), call<waits_and_explores>(8)); }

/// The second branch runs on node 1 while node 0 is in the first one, and no result has come.
template <class Nodes, class Condition> unsigned visits_with_bound(Nodes& nodes, Condition is_shared) {
  deep_visits = 0;
  first_may_end = [&] { return deep_visits.load() != 0 && is_shared(); };
  second_may_begin = [&] { return own_node == 1 && own_best().bound() == 50; };
  nodes.on_each([&](unsigned i) {
    nodes.run(i, call<both>());
    EXPECT_EQ(found_by(i), (solution{50, 7}));
  });
  return deep_visits.load();
}

TEST(best_solutions, prune_on_other_nodes_that_omit) {
  shared now;
  at = &now;
  hope_nodes nodes({.nodes = 2}, without_help, {}, now.boards());
  EXPECT_EQ(visits_with_bound(nodes, [&] { return nodes.statistics(0).named == 1; }), 1u);
}

TEST(best_solutions, prune_on_other_nodes_that_steal) {
  shared now;
  at = &now;
  nodes_in_process nodes({.nodes = 2}, now.boards());
  EXPECT_EQ(visits_with_bound(nodes, [&] { return nodes.given() == 1; }), 1u);
}

TEST(best_solutions, prune_on_one_machine) {
  shared now;
  at = &now;
  hope_nodes nodes({.nodes = 1}, {}, {}, now.boards());
  pack_everywhere(nodes, 1, 3);
  const std::uint64_t pruned = now.visits.exchange(0);
  now.is_pruning = false;
  pack_everywhere(nodes, 1, 3);
  EXPECT_LT(pruned, now.visits.load());
}

// Node 1 gets node 0's only message about the solution before it begins the entry.
TEST(best_solutions, reach_a_node_that_begins_the_entry_later) {
  shared now;
  at = &now;
  nodes_in_process nodes({.nodes = 2}, now.boards());
  first_may_end = [&] { return now.best[1]->bound() == 50; };
  nodes.on_each([&](unsigned i) {
    if (i == 1) nodes.wait_for_solution(1);
    nodes.run(i, call<offers>());
    EXPECT_EQ(found_by(i), (solution{50, 7}));
  });
}

void offers_away(context /*c*/) { own_best().offer(50, 7); }
void awaits_offer(context c) {
  wait(c, [] { return first_may_end(); });
}
void offered_away(context c) { sukima::fork2(c, call<awaits_offer>(), call<offers_away>()); }

// A node other than 0 sends it to a part of the others only.
TEST(best_solutions, reach_each_of_many_nodes_that_steal) {
  shared now;
  at = &now;
  nodes_in_process nodes({.nodes = most_nodes, .is_sparse = true}, now.boards());
  first_may_end = [&] {
    return std::ranges::all_of(now.best, [](const auto& best) { return best->bound() == 50; });
  };
  nodes.on_each([&](unsigned i) { nodes.run(i, call<offered_away>()); });
}

void offers_on_node_1(context c) {
  wait(c, [] { return second_may_begin(); });
  own_best().offer(60, 9);
}
void offer_elsewhere(context c) { sukima::fork2(c, call<offers>(), call<offers_on_node_1>()); }

// Node 0 omits the branch with the best solution, and gets no message but that with its result.
TEST(best_solutions, come_with_the_results_that_rely_on_them) {
  shared now;
  at = &now;
  hope_nodes nodes({.nodes = 2}, without_help, {{}, {.loses = is_best}}, now.boards());
  second_may_begin = [] { return own_node == 1; };
  first_may_end = [&] { return nodes.statistics(0).omitted == 1; };
  nodes.on_each([&](unsigned i) {
    nodes.run(i, call<offer_elsewhere>());
    EXPECT_EQ(found_by(i), (solution{60, 9})) << "node " << i;
  });
}

void offers_at_the_end(context) { own_best().offer(70, own_node + 1); }

// The others get it with the entry's result, after which node 0 sends none.
TEST(best_solutions, come_with_the_result_of_an_entry) {
  shared now;
  at = &now;
  nodes_in_process nodes({.nodes = 3}, now.boards());
  for (unsigned entry = 0; entry < 50; ++entry)
    nodes.on_each([&](unsigned i) {
      nodes.run(i, call<offers_at_the_end>());
      EXPECT_EQ(found_by(i), (solution{70, 1})) << "node " << i;
    });
}

void offers_nothing(context) {}

best_of_node* best_alone = nullptr;
std::atomic<bool> is_offered{false};
std::atomic<bool> is_refused{false};
void offers_and_waits(context /*c*/) {
  best_alone->offer(50, 7);
  is_offered = true;
  is_offered.notify_all();
  is_refused.wait(false);
}

// The second entry would forget the solution of the first one.
TEST(best_solutions, are_kept_while_another_thread_begins_an_entry) {
  best_of_node best("alone", 0);
  best_alone = &best;
  std::thread other([] {
    is_offered.wait(false);
    EXPECT_THROW(sukima::cluster::run(call<offers_nothing>()), sukima::usage_error);
    is_refused = true;
    is_refused.notify_all();
  });
  sukima::cluster::run(call<offers_and_waits>());
  other.join();
  EXPECT_EQ(best.best(), 7u);
  sukima::cluster::run(call<offers_nothing>());  // the refused entry has left nothing
  EXPECT_FALSE(best.best().has_value());
}

TEST(best_solutions, are_forgotten_when_an_entry_begins) {
  shared now;
  at = &now;
  {
    hope_nodes nodes({.nodes = 2}, {}, {}, now.boards());
    nodes.on_each([&](unsigned i) { nodes.run(i, call<pack>(sack{1, 0, 0, 0}, 10u)); });
  }
  nodes_in_process nodes({.nodes = 2}, now.boards());
  nodes.on_each([&](unsigned i) {
    nodes.run(i, call<pack>(sack{1, 0, 0, 0}, 10u));
    EXPECT_TRUE(now.best[i]->best().has_value());
    nodes.run(i, call<offers_nothing>());
    EXPECT_FALSE(now.best[i]->best().has_value());
    EXPECT_EQ(now.best[i]->bound(), 0);
  });
}

TEST(best_solutions, keep_the_better_one_and_of_equal_ones_the_smaller) {
  sukima::detail::solution_board board;
  best_of_node best("a", 10, std::greater<>(), board);
  EXPECT_FALSE(best.offer(10, 1));
  EXPECT_FALSE(best.best().has_value());
  EXPECT_TRUE(best.offer(11, 5));
  EXPECT_TRUE(best.promising(11));
  EXPECT_FALSE(best.promising(10));
  EXPECT_FALSE(best.offer(11, 6));
  EXPECT_TRUE(best.offer(11, 4));
  EXPECT_EQ(best.best(), 4u);
  EXPECT_EQ(best.bound(), 11);
}

/// A solution of two parts, whose copies and bytes can be refused.
struct two_parts {
  int first = 0;
  int second = 0;
  static inline bool refuses = false;
  static inline bool refuses_bytes = false;
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
  friend auto operator<=>(const two_parts&, const two_parts&) = default;
};

}  // namespace

template <> struct sukima::codec<two_parts> {
  static void encode(const two_parts& value, std::vector<std::byte>& to) {
    if (two_parts::refuses_bytes) throw std::runtime_error("no bytes");
    sukima::detail::put_value(value.first, to);
    sukima::detail::put_value(value.second, to);
  }
  static two_parts decode(std::span<const std::byte> from) {
    const int first = sukima::detail::get_value<int>(from);
    return {first, sukima::detail::get_value<int>(from)};
  }
};

namespace {

TEST(best_solutions, stay_whole_if_copying_a_better_one_throws) {
  sukima::detail::solution_board board;
  best_solution<two_parts, int, std::greater<>> best("a", 10, std::greater<>(), board);
  EXPECT_TRUE(best.offer(11, {1, 1}));
  two_parts::refuses = true;
  EXPECT_THROW(best.offer(12, {2, 2}), std::runtime_error);
  two_parts::refuses = false;
  EXPECT_EQ(best.best(), two_parts(1, 1));
  EXPECT_EQ(best.bound(), 11);
}

/// An exception on the thread that sends solutions would end the program.
TEST(best_solutions, are_encoded_only_by_the_thread_that_offers_them) {
  std::array<sukima::detail::solution_board, 2> boards;
  using best_of_parts = best_solution<two_parts, int, std::greater<>>;
  best_of_parts one("a", 10, std::greater<>(), boards[0]);
  best_of_parts other("a", 10, std::greater<>(), boards[1]);
  EXPECT_TRUE(one.offer(11, {1, 2}));
  two_parts::refuses_bytes = true;
  EXPECT_THROW(one.offer(12, {3, 3}), std::runtime_error);
  EXPECT_TRUE(boards[1].merge(0, boards[0].all()));
  EXPECT_EQ(boards[1].all(), boards[0].snapshot().content);
  two_parts::refuses_bytes = false;
  EXPECT_EQ(other.best(), two_parts(1, 2));
  EXPECT_EQ(other.bound(), 11);
}

TEST(best_solutions, of_other_entries_or_in_wrong_bytes_are_ignored) {
  sukima::detail::solution_board board;
  best_of_node best("a", 0, std::greater<>(), board);
  EXPECT_THROW(best_of_node("a", 0, std::greater<>(), board), sukima::usage_error);
  EXPECT_THROW(best_of_node(std::string(256, 'n'), 0, std::greater<>(), board), sukima::usage_error);
  board.begin_entry(3);
  EXPECT_TRUE(board.all().empty());
  best.offer(5, 8);
  const auto bytes_of_five = board.all();
  EXPECT_EQ(board.snapshot().entry, 3u);
  EXPECT_EQ(board.snapshot().content, bytes_of_five);
  board.begin_entry(4);
  EXPECT_TRUE(board.merge(3, bytes_of_five));
  EXPECT_FALSE(best.best().has_value());
  for (std::size_t size = 1; size < bytes_of_five.size(); ++size)
    EXPECT_FALSE(board.merge(4, std::span(bytes_of_five).first(size)));
  EXPECT_FALSE(best.best().has_value());
  EXPECT_TRUE(board.merge(4, bytes_of_five));
  EXPECT_EQ(best.best(), 8u);
}

}  // namespace

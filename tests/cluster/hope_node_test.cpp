// SPDX-License-Identifier: Apache-2.0
// Entries under hierarchical omission: the result is the sequential one, whatever becomes of messages and
// nodes. Where a test says which node runs what, its tasks wait for each other. ROUNDS comes from
// CMakeLists.txt: how often the numbers of seeds below.
#include "hope_support.hpp"
#include "random_programs.hpp"

#include <sukima/cancel.hpp>

#include <array>
#include <atomic>
#include <latch>
#include <stdexcept>

namespace {

using namespace hope_support;
using namespace random_programs;
using cluster_support::shape;

/// Where no answer comes, as messages are lost, or as a node is dead to the others and does not know it.
const hope::node_options impatient{.before_helping = 1ms};
/// Every result is announced, and a node helps at once with each task that another node claims.
const hope::node_options eager{.before_helping = 0us,
                               .before_going_on = 0us,
                               .before_announcing = 0us,
                               .before_claiming = 0us,
                               .tick = 30us};

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, call<fib>(n - 1), call<fib>(n - 2));
  return a + b;
}
long fib_alone(int n) { return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2); }

unsigned queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right);
unsigned queen_at(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right,
                  unsigned column) {
  const unsigned bit = 1u << column;
  if (((taken | left | right) & bit) != 0) return 0;
  return queens(c, size, taken | bit, (left | bit) << 1, (right | bit) >> 1);
}
unsigned queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right) {
  if (taken == (1u << size) - 1) return 1;
  return sukima::parallel_reduce(c, 0u, size, 0u, call<queen_at>(size, taken, left, right), std::plus{});
}

TEST(hope_nodes, get_the_sequential_result) {
  for (unsigned n = 1; n <= 4; ++n) {
    hope_nodes nodes({.nodes = n}, {});
    EXPECT_EQ(nodes.everywhere(call<fib>(24)), std::vector<long>(n, fib_alone(24)));
    EXPECT_EQ(nodes.everywhere(call<queens>(7u, 0u, 0u, 0u)), std::vector<unsigned>(n, 40));
    EXPECT_EQ(nodes.everywhere(call<fib>(20)), std::vector<long>(n, fib_alone(20)));
  }
}

TEST(hope_nodes, alone_name_nothing) {
  hope_nodes nodes({.nodes = 1}, eager);
  EXPECT_EQ(nodes.everywhere(call<fib>(27)), std::vector<long>(1, fib_alone(27)));
  EXPECT_EQ(nodes.sum().named, 0u);
}

/// What the tasks below wait for. One test at a time.
struct stage {
  std::atomic<unsigned> first_runs{0};
  std::atomic<unsigned> second_runs{0};
  std::function<bool()> first_may_end;
  std::function<bool(unsigned)> second_may_end;
};
stage* at = nullptr;

/// Polls until then: a task that is aborted leaves here.
template <class Until> void wait(sukima::context c, Until until) {
  while (!until()) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}
long first(sukima::context c) {
  at->first_runs.fetch_add(1);
  wait(c, [] { return at->first_may_end(); });
  return 1;
}
long second(sukima::context c) {
  const unsigned run = at->second_runs.fetch_add(1);
  wait(c, [&] { return at->second_may_end(run); });
  return 2;
}
long both(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<first>(), call<second>());
  return 10 * a + b;
}

// Of two nodes one begins with the second branch. The other one is notified of it.
TEST(hope_nodes, omit_what_another_one_has_run) {
  hope_nodes nodes({.nodes = 2}, without_help);
  stage now;
  at = &now;
  now.first_may_end = [&] { return now.second_runs.load() == 1 && nodes.statistics(0).named == 1; };
  now.second_may_end = [](unsigned) { return true; };
  EXPECT_EQ(nodes.everywhere(call<both>()), std::vector<long>(2, 12));
  EXPECT_EQ(now.second_runs.load(), 1u);
  EXPECT_EQ(nodes.statistics(0).omitted, 1u);
  EXPECT_EQ(nodes.statistics(1).computed, 1u);
  EXPECT_EQ(nodes.statistics(1).published, 1u);
}

/// The leaves of a tree of forks: how often each was begun, on any node.
constexpr unsigned levels = 3;
struct begun_leaves {
  std::array<std::atomic<unsigned>, 1u << levels> runs{};
  std::atomic<unsigned> all{0};
};
begun_leaves* leaves = nullptr;
unsigned tree(sukima::context c, unsigned level, unsigned number) {
  if (level < levels) {
    const auto [a, b] =
        sukima::fork2(c, call<tree>(level + 1, 2 * number), call<tree>(level + 1, 2 * number + 1));
    return a + b;
  }
  // At this poll the second branch of the fork above goes to another node.
  static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
  leaves->runs[number].fetch_add(1);
  leaves->all.fetch_add(1);
  wait(c, [] { return leaves->all.load() >= leaves->runs.size(); });
  return 1;
}

// Each node goes to its leaf. On its way it begins no leaf that the plan gives to another one.
TEST(hope_nodes, compute_nothing_on_the_way_of_the_plan) {
  begun_leaves begun;
  leaves = &begun;
  const unsigned count = static_cast<unsigned>(begun.runs.size());
  hope_nodes nodes({.nodes = count}, without_help);
  EXPECT_EQ(nodes.everywhere(call<tree>(0u, 0u)), std::vector<unsigned>(count, count));
  for (const auto& runs : begun.runs) EXPECT_EQ(runs.load(), 1u);
}

// Node 1 dies in the second branch when the other one knows that it is there.
// It does not know that it is dead. When it has finished, its requests get no answer.
TEST(hope_nodes, take_over_a_task_claimed_by_a_lost_node) {
  hope_nodes nodes({.nodes = 2}, without_help, {{}, {.patience = 0us}});
  stage now;
  at = &now;
  now.first_may_end = [&] { return now.second_runs.load() != 0 && nodes.statistics(0).named == 1; };
  now.second_may_end = [&](unsigned run) {
    if (run == 0 && nodes.statistics(0).named == 1) nodes.kill(1);
    return run != 0 || now.second_runs.load() == 2;
  };
  EXPECT_EQ(nodes.everywhere(call<both>()), std::vector<long>(2, 12));
  EXPECT_EQ(now.second_runs.load(), 2u);
  EXPECT_EQ(nodes.statistics(0).taken_over, 1u);
}

// Node 0 dies in the first branch, which has no name. Nodes 1 and 2 are in the second one then, and node 1
// goes on with the first one without asking node 2 for work before.
TEST(hope_nodes, go_on_where_a_lost_one_was_if_they_are_next) {
  hope_nodes nodes({.nodes = 3}, without_help, {{.patience = 0us}, {}, {}});
  stage now;
  at = &now;
  std::atomic<bool> is_killed{false};
  now.first_may_end = [&] {
    if (now.second_runs.load() == 2 && !is_killed.exchange(true)) nodes.kill(0);
    return is_killed.load();
  };
  now.second_may_end = [&](unsigned) { return is_killed.load(); };
  EXPECT_EQ(nodes.everywhere(call<both>()), std::vector<long>(3, 12));
  EXPECT_EQ(nodes.statistics(1).helped, 0u);
}

// Node 1 claims the second branch and is not done with it before the other one helps.
TEST(hope_nodes, help_with_what_others_do_not_end) {
  hope_nodes nodes({.nodes = 2}, {.before_helping = 0us});
  stage now;
  at = &now;
  now.first_may_end = [&] { return now.second_runs.load() != 0 && nodes.statistics(0).named != 0; };
  now.second_may_end = [&](unsigned run) { return run != 0; };
  EXPECT_EQ(nodes.everywhere(call<both>()), std::vector<long>(2, 12));
  EXPECT_EQ(now.second_runs.load(), 2u);
  EXPECT_EQ(nodes.statistics(0).helped, 1u);
}

long first_of_two(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<first>(), call<second>());
  return 10 * a + b;
}
long quick(sukima::context) { return 3; }
long two_and_one(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<first_of_two>(), call<quick>());
  return 10 * a + b;
}

// Node 1 finishes the second branch at once. Then it gets tasks of the first one, where node 0 is.
TEST(hope_nodes, get_tasks_from_others_when_they_have_none) {
  hope_nodes nodes({.nodes = 2}, without_help);
  stage now;
  at = &now;
  now.first_may_end = [&] { return now.second_runs.load() == 1 && nodes.statistics(0).omitted == 2; };
  now.second_may_end = [](unsigned) { return true; };
  EXPECT_EQ(nodes.everywhere(call<two_and_one>()), std::vector<long>(2, 123));
  EXPECT_EQ(now.second_runs.load(), 1u);
  EXPECT_EQ(nodes.statistics(0).given, 1u);
  EXPECT_EQ(nodes.statistics(1).computed, 2u);
}

// As above, by way of mediators. All that node 1 sends by that way is lost.
TEST(hope_nodes, send_results_to_the_node_that_waits_for_them_without_mediators) {
  hope_nodes nodes({.nodes = 2}, {.before_helping = 10h, .before_announcing = 0us, .most_direct = 1},
                   {{}, {.loses_bundles = true}});
  stage now;
  at = &now;
  now.first_may_end = [&] { return now.second_runs.load() == 1 && nodes.statistics(0).omitted == 2; };
  now.second_may_end = [](unsigned) { return true; };
  EXPECT_EQ(nodes.everywhere(call<two_and_one>()), std::vector<long>(2, 123));
  EXPECT_EQ(now.second_runs.load(), 1u);
  EXPECT_EQ(nodes.statistics(1).published, 2u);
  EXPECT_EQ(nodes.statistics(1).answers, 2u) << "one task was planned, one was given";
}

std::atomic<bool> is_whole{false};
long below_a_shield(sukima::context c) {
  return sukima::shielded(c, [](sukima::context below) {
    const long found = both(below);
    is_whole = true;
    return found;
  });
}
/// Of a node that says what the test says.
struct deaf final : receiver {
  void on_message(node_id /*from*/, byte_view /*message*/) override {}
  void on_left(node_id /*node*/) override {}
  void on_lost(node_id /*node*/, const std::string& /*why*/) override {}
};

// The other node has the entry's result while the second branch, which it claims, is awaited below a shield.
TEST(hope_nodes, finish_tasks_below_a_shield_although_the_entry_has_ended) {
  is_whole = false;
  sukima::runtime workers(cluster_support::settings_of({}));
  in_process_network network({.nodes = 2});
  deaf hears_nothing;
  const std::unique_ptr<transport> other = network.join(1);
  std::thread meets([&] { other->start(hears_nothing, clock::now() + 500s); });
  hope::node tested(workers, network.join(0), without_help);
  meets.join();
  stage now;
  at = &now;
  now.first_may_end = [&] { return tested.statistics().named == 1; };
  now.second_may_end = [](unsigned) { return true; };
  std::thread announcer([&] {
    while (tested.statistics().named == 0) std::this_thread::yield();
    bytes result;
    sukima::detail::put_value(12L, result);
    EXPECT_TRUE(other->send(
        0, hope::write_note({.kind = hope::note_kind::entry_result, .entry = 1, .content = result})));
  });
  sukima::detail::cluster_entry_of entry(call<below_a_shield>());
  tested.run(entry);
  announcer.join();
  EXPECT_EQ(entry.take(), 12);
  EXPECT_TRUE(is_whole.load());
  EXPECT_EQ(now.second_runs.load(), 1u);
  other->stop({});
}

TEST(hope_nodes, that_are_late_get_the_results) {
  hope_nodes nodes({.nodes = 3}, {});
  std::latch others(2);
  nodes.on_each([&](unsigned i) {
    if (i == 2) others.wait();
    for (int n = 5; n < 30; ++n) EXPECT_EQ(nodes.run(i, call<fib>(n)), fib_alone(n));
    if (i != 2) others.count_down();
  });
}

long throws(sukima::context c, int n) {
  const auto [a, b] = sukima::fork2(c, call<fib>(n), call<fib>(n - 1));
  throw std::out_of_range(std::to_string(a + b));
}

TEST(hope_nodes, throw_what_the_call_throws_and_go_on) {
  hope_nodes nodes({.nodes = 3}, eager);
  nodes.on_each([&](unsigned i) {
    try {
      nodes.run(i, call<throws>(18));
      ADD_FAILURE() << "node " << i << " got a result";
    } catch (const std::out_of_range& e) {
      EXPECT_EQ(e.what(), std::to_string(fib_alone(19)));
    }
  });
  EXPECT_EQ(nodes.everywhere(call<fib>(15)), std::vector<long>(3, fib_alone(15)));
}

struct unsendable {
  long value;
};

}  // namespace

template <> struct sukima::codec<unsendable> {
  static void encode(const unsendable& /*value*/, std::vector<std::byte>& to) {
    to.emplace_back();
    throw std::length_error("there is no room");
  }
  static unsendable decode(std::span<const std::byte> /*from*/) { return {-1}; }
};

namespace {

unsendable fib_without_way(sukima::context c, int n) { return {fib(c, n)}; }

// The result is there. Whether a node also sends it must not change what the program does.
TEST(hope_nodes, return_a_result_that_they_cannot_send) {
  for (unsigned n = 1; n <= 3; ++n) {
    hope_nodes nodes({.nodes = n}, eager);
    nodes.on_each([&](unsigned i) {
      EXPECT_EQ(nodes.run(i, call<fib_without_way>(18)).value, fib_alone(18)) << "node " << i;
      EXPECT_EQ(nodes.run(i, call<fib>(15)), fib_alone(15)) << "node " << i;
    });
  }
}

/// A few random programs on the same nodes, half of them by way of mediators. \returns what they did
hope::counts run_programs(const shape& s, hope::node_options chosen, std::vector<faults> each) {
  if (s.seed / 4 % 2 == 1) chosen.most_direct = 1;
  hope_nodes nodes(s, chosen, std::move(each));
  for (std::uint64_t i = 0; i < 4; ++i) {
    const spec program{mixed(s.seed * 8 + i), 6 + static_cast<std::uint32_t>(i % 3)};
    EXPECT_EQ(nodes.everywhere(call<piece>(program)), std::vector<std::uint64_t>(s.nodes, alone(program)))
        << "seed " << s.seed << ", program " << i;
  }
  return nodes.sum();
}
shape shape_of(std::uint64_t seed, unsigned nodes) {
  constexpr std::chrono::microseconds delays[]{0us, 50us, 500us};
  return {.nodes = nodes,
          .workers = 1 + static_cast<unsigned>(seed % 5 == 0),
          .seed = seed,
          .longest_delay = delays[seed % 3]};
}

TEST(hope_programs, omit_units_and_give_the_sequential_result) {
  std::uint64_t omitted = 0;
  for (std::uint64_t seed = 1; seed <= 24 * ROUNDS; ++seed) {
    const hope::counts c = run_programs(shape_of(seed, 2 + static_cast<unsigned>(seed % 3)),
                                        seed % 2 == 0 ? eager : hope::node_options{}, {});
    omitted += c.omitted + c.cut;
  }
  EXPECT_GT(omitted, 0u);
  std::printf("%llu units omitted or cut\n", static_cast<unsigned long long>(omitted));
}

// Twelve nodes in three groups.
TEST(hope_programs, give_the_sequential_result_by_way_of_mediators) {
  for (std::uint64_t seed = 1; seed <= 4 * ROUNDS; ++seed)
    run_programs(shape_of(seed, 12), seed % 2 == 0 ? eager : hope::node_options{}, {});
}

// Mediators are among the nodes that die. They do not know it, and wait ever longer for the others.
TEST(hope_programs, survive_the_loss_of_mediators) {
  for (std::uint64_t seed = 1; seed <= 4 * ROUNDS; ++seed) {
    std::vector<faults> each(12);
    for (node_id first = 0; first < 12; first += 4)
      for (node_id n = first; n < first + 1 + mixed(seed + first) % 3; ++n)
        each[n].dies_at = 1 + mixed(seed * 16 + n) % 40;
    run_programs(shape_of(seed, 12), seed % 2 == 0 ? eager : impatient, std::move(each));
  }
}

// One, two, three of four, at seeded numbers of their messages; the first of them at its first one.
TEST(hope_programs, survive_the_loss_of_nodes) {
  for (std::uint64_t seed = 1; seed <= 30 * ROUNDS; ++seed) {
    const unsigned dying = 1 + static_cast<unsigned>(seed % 3);
    std::vector<faults> each(4);
    for (unsigned k = 0; k < dying; ++k) {
      faults& f = each[(mixed(seed) + k) % 4];
      f.dies_at = k == 0 && seed % 2 == 0 ? 1 : 1 + mixed(seed * 4 + k) % 60;
    }
    run_programs(shape_of(seed, 4), seed % 4 < 2 ? eager : impatient, std::move(each));
  }
}

TEST(hope_programs, survive_lost_doubled_and_overtaken_messages) {
  constexpr unsigned chances[]{10, 200, 700};
  for (std::uint64_t seed = 1; seed <= 27 * ROUNDS; ++seed) {
    const faults f{
        .lost = chances[seed % 3], .doubled = chances[seed / 3 % 3], .overtaken = chances[seed / 9 % 3]};
    run_programs(shape_of(seed, 2 + static_cast<unsigned>(seed % 3)), seed % 2 == 0 ? eager : impatient,
                 std::vector<faults>(2 + seed % 3, f));
  }
}

TEST(hope_programs, survive_the_loss_of_all_messages) {
  for (std::uint64_t seed = 1; seed <= 4 * ROUNDS; ++seed)
    run_programs(shape_of(seed, 3), eager, std::vector<faults>(3, {.lost = 1000}));
}

// Some nodes take others for dead, which are not.
TEST(hope_programs, survive_false_suspicion) {
  for (std::uint64_t seed = 1; seed <= 16 * ROUNDS; ++seed) {
    std::vector<faults> each(4);
    for (unsigned i = 0; i < 4; ++i) {
      if (mixed(seed * 4 + i) % 2 == 0) continue;
      each[i].suspect = static_cast<node_id>((i + 1 + mixed(seed + i) % 3) % 4);
      each[i].suspects_at = 1 + mixed(seed * 3 + i) % 40;
      each[i].lost = 50;
    }
    run_programs(shape_of(seed, 4), eager, std::move(each));
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// When a node asks, which node it asks, and when it waits at its lifelines: the decisions without a network,
// and nodes that wait.
#include "steal/lifelines.hpp"
#include "support.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>

namespace {

using namespace cluster_support;
using namespace sukima::cluster;
using sukima::call;

constexpr clock::time_point first_time{1s};

using node_list = std::vector<node_id>;

/// A thief whose requests are answered in tests by their victim's number.
class tested_thief : public thief {
 public:
  using thief::thief;
  std::optional<node_id> next_victim(clock::time_point now) {
    const auto next = next_request(now);
    if (!next) return {};
    numbers_[next->victim] = next->number;
    return next->victim;
  }
  void on_none(node_id from, clock::time_point now) { thief::on_none(from, numbers_[from], now); }

 private:
  std::map<node_id, std::uint64_t> numbers_;
};

/// Refuses until no node is asked any more. \returns the nodes that were asked
std::set<node_id> refuse(tested_thief& t, clock::time_point now) {
  std::set<node_id> asked;
  for (unsigned i = 0; i < thief::most_refusals; ++i) {
    EXPECT_EQ(t.take_lifelines(now), node_list{});
    const auto victim = t.next_victim(now);
    if (!victim) break;
    asked.insert(*victim);
    EXPECT_FALSE(t.next_victim(now)) << "one request at a time";
    t.thief::on_none(*victim, 0, now);  // of no request
    t.on_none(*victim, now);
  }
  EXPECT_FALSE(t.next_victim(now + 1h));
  return asked;
}

/// The next answer of that node takes so long; no other node answers.
void measure(tested_thief& t, node_id node, std::chrono::microseconds trip, clock::time_point& now) {
  for (;;) {
    t.begin_entry();
    t.set_hungry(true);
    while (const auto victim = t.next_victim(now)) {
      if (*victim != node) continue;
      now += trip;
      t.on_none(node, now);
      return;
    }
  }
}

TEST(thief, asks_no_node_after_two_refusals) {
  tested_thief t(1, 4, 5);
  EXPECT_FALSE(t.next_victim(first_time)) << "no worker is idle";
  EXPECT_FALSE(t.next_look());
  clock::time_point now = first_time;
  for (int entry = 0; entry < 8; ++entry) {
    t.set_hungry(true);
    EXPECT_EQ(refuse(t, now).size(), thief::most_refusals) << "another one each time";
    EXPECT_EQ(t.take_lifelines(now), (node_list{0, 3})) << "its partners";
    EXPECT_EQ(t.take_lifelines(now + thief::patience - 1ns), node_list{});
    EXPECT_EQ(t.next_look(), now + thief::patience);
    now += thief::patience;
    EXPECT_EQ(t.take_lifelines(now), node_list{2}) << "then all";
    EXPECT_EQ(t.take_lifelines(now + 1h), node_list{}) << "once";
    EXPECT_FALSE(t.next_victim(now + 1h));
    EXPECT_FALSE(t.next_look()) << "it sleeps";
    t.begin_entry();
  }
}

TEST(thief, registers_a_lifeline_again_where_a_task_came_from) {
  tested_thief t(0, 4, 2);
  t.set_hungry(true);
  refuse(t, first_time);
  EXPECT_EQ(t.take_lifelines(first_time), (node_list{1, 2}));
  t.on_surplus(1);
  EXPECT_EQ(t.take_lifelines(first_time), node_list{1});
  t.set_hungry(false);
  t.on_surplus(2);
  EXPECT_EQ(t.take_lifelines(first_time + 1h), node_list{}) << "it has work";
  t.set_hungry(true);
  EXPECT_EQ(t.take_lifelines(first_time + 1h), (node_list{2, 3}));
  t.on_task(3);
  EXPECT_FALSE(t.is_hungry());
  t.set_hungry(true);
  refuse(t, first_time + 2h);
  EXPECT_EQ(t.take_lifelines(first_time + 2h), node_list{}) << "its partners have them still";
  EXPECT_EQ(t.take_lifelines(first_time + 3h), node_list{3});
}

TEST(thief, asks_the_last_giver_first) {
  tested_thief t(0, 8, 9);
  clock::time_point now = first_time;
  for (const node_id giver : {3u, 6u, 1u}) {
    t.set_hungry(true);
    t.on_task(giver);
    EXPECT_FALSE(t.next_victim(now)) << "it has work";
    t.set_hungry(true);
    EXPECT_EQ(t.next_victim(now), giver);
    t.on_none(giver, now);
    EXPECT_NE(t.next_victim(now), giver);
  }
}

TEST(thief, counts_a_request_as_refused_that_is_not_answered) {
  tested_thief t(0, 3, 1);
  t.set_hungry(true);
  const auto first = t.next_victim(first_time);
  EXPECT_EQ(*t.next_look(), first_time + thief::patience);
  EXPECT_FALSE(t.next_victim(first_time + thief::patience - 1ns));
  const auto second = t.next_victim(first_time + thief::patience);
  ASSERT_TRUE(second);
  EXPECT_NE(first, second);
  EXPECT_EQ(t.take_lifelines(first_time + 2 * thief::patience - 1ns), node_list{});
  EXPECT_NE(t.take_lifelines(first_time + 2 * thief::patience), node_list{});
}

TEST(thief, asks_a_near_and_a_far_node_at_once) {
  tested_thief t(0, 4, 3);
  clock::time_point now = first_time;
  measure(t, 3, 20ms, now);
  measure(t, 3, 10ms, now);
  measure(t, 1, 999us, now);
  t.begin_entry();
  t.set_hungry(true);
  const auto near = t.next_victim(now);
  ASSERT_TRUE(near);
  EXPECT_NE(near, 3u);
  EXPECT_EQ(t.next_victim(now), 3u);
  EXPECT_FALSE(t.next_victim(now)) << "one on each side";
  t.on_none(*near, now);
  EXPECT_EQ(t.next_victim(now), 3 - *near);
  t.on_none(3 - *near, now);
  EXPECT_FALSE(t.next_victim(now)) << "the near ones have nothing";
  EXPECT_EQ(t.take_lifelines(now), node_list{}) << "the far one may have something";
  EXPECT_EQ(t.next_look(), now + thief::patient_round_trips * 10ms) << "by its shortest round trip";
  EXPECT_FALSE(t.next_victim(now + 40ms - 1ns));
  EXPECT_EQ(t.next_victim(now + 40ms), 3u);
  t.on_none(3, now + 50ms);
  EXPECT_EQ(t.take_lifelines(now + 50ms), (node_list{1, 2}));
}

TEST(thief, accepts_a_late_task_from_a_far_node) {
  tested_thief t(0, 3, 3);
  clock::time_point now = first_time;
  measure(t, 2, 20ms, now);
  t.begin_entry();
  t.set_hungry(true);
  EXPECT_EQ(t.next_victim(now), 1u);
  EXPECT_EQ(t.next_victim(now), 2u);
  t.on_task(1);
  EXPECT_FALSE(t.keeps_task(1));
  EXPECT_TRUE(t.keeps_task(2));
  t.set_hungry(true);
  EXPECT_EQ(t.next_victim(now), 1u);
  EXPECT_FALSE(t.next_victim(now)) << "that request is under way still";
  t.on_task(2);
  EXPECT_FALSE(t.keeps_task(2));
}

TEST(thief, asks_by_round_trips_and_by_what_was_given) {
  tested_thief t(0, 3, 7);
  clock::time_point now = first_time;
  const auto share_of_1 = [&] {
    unsigned first = 0;
    for (int i = 0; i < 1000; ++i) {
      t.begin_entry();
      t.set_hungry(true);
      if (t.next_victim(now) == 1u) ++first;
    }
    return first;
  };
  EXPECT_NEAR(share_of_1(), 500, 60);
  measure(t, 2, 300us, now);
  EXPECT_NEAR(share_of_1(), 800, 60) << "four times as far, with what is added to a round trip";
  for (int i = 0; i < 31; ++i) t.on_task(2);
  t.set_hungry(true);
  EXPECT_EQ(t.next_victim(now), 2u) << "it gave last";
  t.on_none(2, now + 300us);
  EXPECT_NEAR(share_of_1(), 200, 60) << "15 tasks count";
}

TEST(thief, measures_by_the_answers_to_requests) {
  thief t(0, 3, 1);
  EXPECT_EQ(t.round_trip(1), 0ns) << "not known";
  t.measure(1, 0, first_time + 1ms);
  EXPECT_EQ(t.round_trip(1), 0ns) << "a task for a lifeline measures nothing";
  t.set_hungry(true);
  const auto first = t.next_request(first_time);
  ASSERT_TRUE(first);
  const node_id node = first->victim;
  t.measure(node, first->number, first_time + 30ms);
  EXPECT_EQ(t.round_trip(node), 30ms);
  t.on_none(node, first->number, first_time + 20ms);
  EXPECT_EQ(t.round_trip(node), 20ms) << "the shortest";
  t.begin_entry();
  while (const auto next = t.next_request(first_time + 1s))
    if (next->victim == node) break;
  t.measure(node, first->number, first_time + 1s + 1ms);
  EXPECT_EQ(t.round_trip(node), 20ms) << "late: another one is under way";
}

TEST(thief, forgets_nodes_that_are_gone) {
  tested_thief t(0, 3, 1);
  t.set_hungry(true);
  t.forget(1);
  EXPECT_EQ(t.next_victim(first_time), 2u);
  t.forget(2);
  EXPECT_FALSE(t.next_victim(first_time + 1h));
  EXPECT_EQ(t.take_lifelines(first_time + 1h), node_list{});
  EXPECT_FALSE(t.next_look());
}

TEST(lifelines, join_partners_both_ways) {
  static_assert(are_partners(5, 4) && are_partners(4, 5) && are_partners(0, 64));
  static_assert(!are_partners(5, 5) && !are_partners(1, 2) && !are_partners(0, 3));
}

TEST(lifelines, are_kept_for_later_entries_and_end_with_theirs) {
  lifelines l;
  const small_tasks none(8);
  const auto next = [&](std::uint32_t entry) -> std::optional<node_id> {
    const auto turn = l.next(entry, none, first_time);
    if (!turn) return {};
    EXPECT_EQ(turn->from, first_time) << "all are near";
    return turn->node;
  };
  l.begin_entry(2);
  l.add(5, 1);
  EXPECT_FALSE(next(1)) << "that entry is over";
  l.add(7, 2);
  l.add(6, 3);
  l.add(4, 2);
  EXPECT_EQ(next(2), 7u) << "the oldest first";
  l.add(7, 2);
  l.remove(7);
  EXPECT_EQ(next(2), 4u) << "a lifeline is there once";
  l.begin_entry(3);
  EXPECT_FALSE(next(2));
  EXPECT_EQ(next(3), 6u) << "it came early";
  l.begin_entry(1);
  l.add(5, 2);
  EXPECT_FALSE(next(2)) << "no entry comes again";
}

TEST(lifelines, are_looked_at_again_after_pauses) {
  lifelines l;
  EXPECT_FALSE(l.next_look());
  clock::time_point now = first_time;
  std::chrono::nanoseconds last{0};
  for (int i = 0; i < 12; ++i) {
    l.on_unanswered(now);
    l.on_unanswered(now + 1h);  // by another worker
    const auto pause = *l.next_look() - now;
    EXPECT_GE(pause, last);
    EXPECT_FALSE(l.takes_look(*l.next_look() - 1ns));
    last = pause;
    now += pause;
    EXPECT_TRUE(l.takes_look(now));
    EXPECT_FALSE(l.takes_look(now + 1h)) << "until nothing is found again";
  }
  EXPECT_EQ(last, lifelines::longest_pause);
  l.remove(3);
  l.on_unanswered(now);
  EXPECT_EQ(*l.next_look(), now + lifelines::shortest_pause) << "a task was sent";
  l.on_work(now);
  EXPECT_TRUE(l.takes_look(now));
}

/// The nodes of the test that runs, for its entry.
nodes_in_process* all_nodes = nullptr;
std::atomic<unsigned> arrived{0};

int nothing() { return 0; }
/// A fork that stays here.
void fork_here(sukima::context c) {
  static_cast<void>(sukima::fork2(c, nothing, nothing));
  std::this_thread::yield();
}

bool takes_part(sukima::context c, unsigned all) {
  arrived.fetch_add(1);
  while (arrived.load() < all) fork_here(c);
  return true;
}
bool spread_over(sukima::context c, unsigned count, unsigned all) {
  if (count == 1) return takes_part(c, all);
  auto [a, b] = sukima::fork2(c, call<takes_part>(all), call<spread_over>(count - 1, all));
  return a && b;
}

/// Nothing can be stolen until all other nodes wait at their lifelines, and for long after that.
bool silent_at_first(sukima::context c, unsigned nodes) {
  const auto all_wait = [&] {
    for (unsigned i = 1; i < nodes; ++i)
      if (all_nodes->statistics(i).lifelines < nodes - 1) return false;
    return true;
  };
  while (!all_wait()) fork_here(c);
  for (int i = 0; i < 20000; ++i) static_cast<void>(sukima::fork2(c, nothing, nothing));
  for (unsigned i = 1; i < nodes; ++i) {
    const traffic sent = all_nodes->statistics(i);
    // Some nodes are near and some are far, as the delays are drawn.
    EXPECT_LE(sent.requests, 2 * thief::most_refusals) << "node " << i;
    EXPECT_EQ(sent.lifelines, nodes - 1) << "node " << i;
    EXPECT_EQ(sent.received, 0u) << "node " << i;
  }
  EXPECT_EQ(all_nodes->statistics(0).given, 0u);
  return spread_over(c, nodes, nodes);  // each node has a part of it, or it does not end
}

TEST(lifelines, keep_an_idle_cluster_silent_until_there_is_work) {
  for (const std::uint64_t seed : {1u, 2u, 3u})
    for (const unsigned count : {2u, 5u}) {
      arrived = 0;
      nodes_in_process nodes({.nodes = count, .seed = seed, .longest_delay = 2000us});
      all_nodes = &nodes;
      EXPECT_EQ(nodes.everywhere(call<silent_at_first>(count)), std::vector<bool>(count, true));
      EXPECT_GE(nodes.given(), count - 1);
    }
}

TEST(thief, asks_few_of_many_nodes) {
  tested_thief t(5, 64, 1, true);
  const node_list partners{0, 1, 3, 4, 6, 7, 9, 13, 21, 37, 53, 61};  // node 0, and powers of two away
  for (int entry = 0; entry < 20; ++entry) {
    t.set_hungry(true);
    for (const node_id n : refuse(t, first_time))
      EXPECT_NE(std::ranges::find(partners, n), partners.end()) << n;
    t.begin_entry();
  }
  t.set_hungry(true);
  refuse(t, first_time);
  EXPECT_EQ(t.take_lifelines(first_time), (node_list{1, 4, 7, 13, 21, 37}))
      << "whose number differs in one bit";
  EXPECT_EQ(t.next_look(), first_time + thief::patience);
  EXPECT_EQ(t.take_lifelines(first_time + thief::patience), (node_list{0, 3, 6, 9, 53, 61}))
      << "then the others";
  EXPECT_EQ(t.next_look(), first_time + thief::long_patience);
  EXPECT_EQ(t.take_lifelines(first_time + thief::long_patience), (node_list{2, 8, 10, 11, 12, 63}))
      << "near ones";
  EXPECT_EQ(t.next_look(), first_time + 2 * thief::long_patience);
  clock::time_point now = first_time;
  std::size_t more = 0;
  while (const auto look = t.next_look()) {
    EXPECT_GT(*look, std::exchange(now, *look)) << "it sleeps";
    more += t.take_lifelines(now).size();
  }
  EXPECT_EQ(more, 63 - 18u) << "all in the end";
  EXPECT_EQ(now, first_time + 9 * thief::long_patience) << "six of them each time";
}

// Only the givers of tasks may have others, however far they are.
TEST(thief, asks_a_far_giver_again) {
  tested_thief t(5, 64, 1, true);
  for (const node_id giver : {0u, 30u}) {
    t.on_task(giver);
    t.set_hungry(true);
    EXPECT_EQ(t.next_victim(first_time), giver);
    t.on_none(giver, first_time);
  }
}

TEST(thief, asks_all_nodes_that_are_connected) {
  tested_thief t(5, 64, 1);
  t.set_hungry(true);
  refuse(t, first_time);
  t.take_lifelines(first_time);
  t.take_lifelines(first_time + thief::patience);
  EXPECT_FALSE(t.next_look()) << "it waits with all";
}

TEST(thief, asks_a_node_that_has_joined) {
  tested_thief t(0, 3, 1);
  t.forget(2);
  t.set_hungry(true);
  EXPECT_EQ(refuse(t, first_time), std::set<node_id>{1});
  EXPECT_EQ(t.take_lifelines(first_time), node_list{1});
  t.gain(2);
  EXPECT_EQ(t.take_lifelines(first_time), node_list{2});
  t.begin_entry();
  EXPECT_EQ(refuse(t, first_time), (std::set<node_id>{1, 2}));
}

}  // namespace

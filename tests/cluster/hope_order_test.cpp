// SPDX-License-Identifier: Apache-2.0
// Hierarchical omission: which node an idle one asks, and when a busy one looks for tasks that others report.
#include "hope/looks.hpp"
#include "hope/work_requests.hpp"
#include "hope_keys.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <set>
#include <vector>

namespace {

using hope_keys::key;
using namespace sukima::cluster;
using namespace sukima::cluster::hope;
using namespace std::chrono_literals;

/// No clock is read: the tests say what time it is.
constexpr clock::time_point start_of_time{std::chrono::hours(1)};

TEST(work_requests, go_to_each_other_node_in_turn_and_pause_then) {
  work_requests asks(4, 20ms);
  asks.lose(0);
  asks.begin();
  std::vector<node_id> asked;
  for (const std::uint64_t draw : {2u, 2u, 2u}) {
    const auto victim = asks.next(start_of_time, draw);
    ASSERT_TRUE(victim);
    EXPECT_FALSE(asks.next(start_of_time, draw)) << "one at a time";
    asked.push_back(*victim);
    asks.has_none(*victim);
  }
  EXPECT_EQ(asked, (std::vector<node_id>{2, 3, 1}));
  clock::time_point now = start_of_time;
  for (const auto pause : {200us, 400us, 800us, 1600us, 3200us, 5000us, 5000us}) {
    EXPECT_FALSE(asks.next(now, 2));
    EXPECT_EQ(asks.next_request(), now + pause);
    EXPECT_FALSE(asks.next(now + pause - 1us, 2));
    now += pause;
    for (unsigned i = 0; i < 3; ++i) asks.has_none(*asks.next(now, 2));
  }
  asks.gave(1);
  EXPECT_TRUE(asks.next(now, 2));
}

TEST(work_requests, leave_out_nodes_that_ask_themselves_until_the_next_turn) {
  work_requests asks(3, 20ms);
  asks.lose(0);
  asks.begin();
  clock::time_point now = clock::time_point{} + 1s;
  EXPECT_EQ(asks.next(now, 2), node_id{2});
  asks.has_none(2);
  asks.asks_itself(1);
  EXPECT_TRUE(asks.is_over(now + 20ms)) << "all others have nothing";
  EXPECT_EQ(asks.next(now, 1), std::nullopt);
  now = asks.next_request();
  EXPECT_EQ(asks.next(now, 1), node_id{1});
}

TEST(work_requests, go_to_a_node_that_asked_while_this_one_had_work) {
  work_requests asks(2, 20ms);
  asks.lose(0);
  asks.begin();
  asks.asks_itself(1);
  EXPECT_EQ(asks.next(clock::time_point{} + 1s, 1), node_id{1});
}

// Eight nodes are asked in a row; among more there is a pause after four, and all are asked in the end.
TEST(work_requests, pause_after_some_requests_among_many_nodes) {
  for (const unsigned nodes : {8u, 20u}) {
    work_requests asks(nodes, 20ms);
    asks.lose(0);
    asks.begin();
    clock::time_point now = clock::time_point{} + 1s;
    std::vector<unsigned> rows{0};
    std::set<node_id> asked;
    while (asked.size() < nodes - 1) {
      if (const auto next = asks.next(now, 0)) {
        EXPECT_TRUE(asked.insert(*next).second) << "node " << *next << " is asked twice";
        asks.has_none(*next);
        ++rows.back();
      } else {
        rows.push_back(0);
        EXPECT_GT(asks.next_request(), now);
        now = asks.next_request();
      }
    }
    if (nodes == 8)
      EXPECT_EQ(rows, std::vector<unsigned>(1, 7));
    else
      EXPECT_EQ(rows, (std::vector<unsigned>{4, 4, 4, 4, 3}));
  }
}

/// Asks until the turn ends, where each node answers that it has no work. \returns the nodes that were asked
std::set<node_id> turn_of(work_requests& asks, clock::time_point& now, unsigned most) {
  std::set<node_id> asked;
  for (unsigned step = 0; step < most; ++step) {
    if (const auto next = asks.next(now, 0)) {
      asked.insert(*next);
      asks.has_none(*next);
    } else {
      now = asks.next_request();
    }
  }
  return asked;
}

// Twelve nodes: those that reported that they have no work are left out, until they report work, or all
// others had none.
TEST(work_requests, go_to_nodes_known_to_have_work_first_among_many) {
  work_requests asks(12, 20ms);
  asks.lose(0);
  asks.begin();
  clock::time_point now = start_of_time;
  asks.next(now, 1);
  asks.has_none(1);
  asks.has_work();
  for (node_id n = 2; n < 10; ++n) asks.asks_itself(n);
  asks.works(4);
  EXPECT_EQ(turn_of(asks, now, 3), (std::set<node_id>{4, 10, 11}));
  EXPECT_FALSE(asks.next(now, 0)) << "the turn ends";
  EXPECT_EQ(turn_of(asks, now, 40).size(), 11u) << "nothing is known for ever";
}

TEST(work_requests, are_rare_where_many_nodes_have_no_work) {
  constexpr unsigned nodes = 64;
  work_requests asks(nodes, 20ms);
  asks.lose(0);
  asks.begin();
  clock::time_point now = start_of_time;
  unsigned sent = 0;
  for (const clock::time_point end = now + 10s; now < end; now = asks.next_request()) {
    while (const auto next = asks.next(now, 0)) {
      ++sent;
      asks.has_none(*next);
    }
  }
  EXPECT_LE(sent, 63 + 10s / (nodes * 1250us));
  EXPECT_GE(sent, 100u) << "a node that has work since is found";
}

TEST(work_requests, count_nodes_as_idle_that_reported_it_before_among_many) {
  work_requests asks(9, 20ms);
  asks.lose(0);
  asks.begin();
  for (node_id n = 1; n < 9; ++n) asks.asks_itself(n);
  asks.has_work();
  static_cast<void>(asks.next(start_of_time, 1));
  EXPECT_TRUE(asks.is_over(start_of_time + 20ms));
  asks.works(3);
  EXPECT_FALSE(asks.is_over(start_of_time + 99ms));
}

TEST(work_requests, wait_for_an_answer_but_not_for_ever) {
  work_requests asks(3, 20ms);
  asks.lose(0);
  asks.begin();
  EXPECT_EQ(asks.next(start_of_time, 1), 1u);
  EXPECT_EQ(asks.next_request(), start_of_time + 10ms);
  EXPECT_FALSE(asks.next(start_of_time + 9ms, 1));
  asks.has_none(2);  // late, of an earlier request
  EXPECT_FALSE(asks.next(start_of_time + 9ms, 1));
  EXPECT_EQ(asks.next(start_of_time + 10ms, 1), 2u);
  asks.lose(2);
  EXPECT_FALSE(asks.next(start_of_time + 20ms, 1));
  EXPECT_EQ(asks.next(start_of_time + 30ms, 1), 1u) << "no other node is left";
}

// Where many nodes share few CPUs, each answer takes longer.
TEST(work_requests, wait_longer_for_an_answer_among_many_nodes) {
  work_requests asks(64, 20ms);
  asks.lose(0);
  asks.begin();
  const clock::time_point now = start_of_time;
  EXPECT_EQ(asks.next(now, 1), 1u);
  EXPECT_EQ(asks.next_request(), now + 63 * 1250us);
  EXPECT_EQ(asks.next(now + 63 * 1250us - 1us, 1), std::nullopt);
  EXPECT_EQ(asks.next(now + 63 * 1250us, 1), 2u);
}

TEST(work_requests, wait_for_no_answer_of_a_lost_node) {
  work_requests asks(3, 20ms);
  asks.lose(0);
  asks.begin();
  EXPECT_EQ(asks.next(start_of_time, 1), 1u);
  EXPECT_EQ(asks.next(start_of_time, 1), std::nullopt);
  asks.lose(1);
  EXPECT_EQ(asks.next(start_of_time, 1), 2u);
}

TEST(work_requests, are_content_longer_where_not_all_answer) {
  work_requests asks(3, 20ms);
  asks.lose(0);
  asks.begin();
  EXPECT_FALSE(asks.is_over(start_of_time + 1h)) << "it has something to do";
  asks.next(start_of_time, 1);
  asks.has_none(1);
  EXPECT_FALSE(asks.is_over(start_of_time + 99ms));
  EXPECT_TRUE(asks.is_over(start_of_time + 100ms));
  asks.next(start_of_time + 1ms, 1);
  asks.has_none(2);
  EXPECT_FALSE(asks.is_over(start_of_time + 19ms));
  EXPECT_TRUE(asks.is_over(start_of_time + 20ms));
  asks.has_work();
  asks.next(start_of_time + 30ms, 1);
  EXPECT_FALSE(asks.is_over(start_of_time + 129ms)) << "what was said before does not count";
  EXPECT_TRUE(asks.is_over(start_of_time + 130ms));
}

TEST(work_requests, skip_silent_nodes_until_they_send) {
  work_requests asks(3, 20ms);
  asks.lose(0);
  asks.begin();
  EXPECT_EQ(asks.next(start_of_time, 1), 1u);
  asks.has_none(1);
  asks.does_without();
  const clock::time_point later = start_of_time + 1s;
  EXPECT_FALSE(asks.next(later, 1)) << "node 2 is not asked: the turn has ended";
  EXPECT_EQ(asks.next(later + 1ms, 2), 1u);
  asks.has_none(1);
  EXPECT_TRUE(asks.is_over(later + 40ms)) << "nor waited for";
  asks.received_from(2);
  EXPECT_FALSE(asks.is_over(later + 40ms));
  EXPECT_EQ(asks.next(later + 2ms, 2), 2u);
}

TEST(work_requests, are_content_twice_as_long_after_each_time_without) {
  work_requests asks(2, 20ms);
  asks.lose(0);
  asks.begin();
  clock::time_point now = start_of_time;
  const auto patience_is = [&](std::chrono::milliseconds patience) {
    now += 1h;
    static_cast<void>(asks.next(now, 1));
    asks.has_none(1);
    EXPECT_FALSE(asks.is_over(now + patience - 1us));
    EXPECT_TRUE(asks.is_over(now + patience));
    asks.does_without();
  };
  for (const auto patience : {20ms, 40ms, 80ms, 160ms, 320ms, 320ms}) patience_is(patience);
  asks.begin();
  patience_is(20ms);
  patience_is(40ms);
  asks.lose(0);
  patience_is(20ms);
}

TEST(looks, are_for_what_something_unnamed_is_within) {
  looks l;
  l.begin(start_of_time);
  EXPECT_FALSE(l.is_within(key(1)));
  EXPECT_TRUE(l.add_announced(key(10), key(2)));
  EXPECT_FALSE(l.is_within(key(1)));
  EXPECT_TRUE(l.add_announced(key(11), key(1)));
  EXPECT_FALSE(l.add_announced(key(11), key(2))) << "announced again";
  EXPECT_TRUE(l.add_announced(key(12), key(1)));
  EXPECT_TRUE(l.is_within(key(1)));
  l.has_name_here(key(11));
  EXPECT_TRUE(l.is_within(key(1)));
  l.has_name_here(key(12));
  l.has_name_here(key(13));
  EXPECT_FALSE(l.is_within(key(1)));
  EXPECT_TRUE(l.is_within(key(2)));
  l.begin(start_of_time);
  EXPECT_FALSE(l.is_within(key(2)));
}

TEST(looks, are_for_what_began_last_as_the_rest_waits_for_it) {
  const std::vector<begun_task> begun{
      {key(1), start_of_time + 2ms}, {key(3), start_of_time}, {key(2), start_of_time + 3ms}};
  using keys = std::vector<task_key>;
  EXPECT_EQ(latest_of(begun, 1), keys{key(2)});
  EXPECT_EQ(latest_of(begun, 2), (keys{key(2), key(1)}));
  EXPECT_EQ(latest_of(begun, 4), (keys{key(2), key(1), key(3)}));
  EXPECT_EQ(latest_of({}, 1), keys{});
}

TEST(looks, stop_after_three_failures_and_pause_longer_each_time) {
  looks l;
  l.begin(start_of_time);
  EXPECT_EQ(l.next(), start_of_time);
  const auto miss_until_end = [&] {
    for (unsigned i = 0; i < 3; ++i) l.missed(start_of_time);
  };
  l.missed(start_of_time);
  l.missed(start_of_time);
  l.found();
  l.missed(start_of_time);
  l.missed(start_of_time);
  EXPECT_EQ(l.next(), start_of_time) << "not in a row";
  l.missed(start_of_time);
  EXPECT_EQ(l.next(), start_of_time + 100us);
  miss_until_end();
  EXPECT_EQ(l.next(), start_of_time + 200us);
  for (unsigned i = 0; i < 10; ++i) miss_until_end();
  EXPECT_EQ(l.next(), start_of_time + 20ms);
  l.begin_soon();
  EXPECT_EQ(l.next(), start_of_time + 100us);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// A node that has joined: which nodes it asks for results, and where it begins. The nodes meet at the start,
// but a node with `joins` behaves as if it had joined later. Messages take no time, so what one node has sent
// before another one begins an entry is there.
#include "hope_support.hpp"

#include <atomic>
#include <latch>

namespace {

using namespace hope_support;
using hope::note;
using hope::note_kind;
using sukima::call;

/// Polls until then: a task that is aborted leaves here.
template <class Until> void wait(sukima::context c, Until until) {
  while (!until()) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
}

long ends_elsewhere(sukima::context c) {
  if (cluster_support::own_node == 2) wait(c, [] { return false; });  // until the result comes
  return 7;
}

TEST(hope_newcomers, ask_one_node_for_a_result) {
  std::atomic<unsigned> questions{0};
  // The others' results get lost until the newcomer asks for one.
  const auto until_asked = [&](node_id to, const note& n) {
    return to == 2 && n.kind == note_kind::entry_result && questions.load() == 0;
  };
  const auto count = [&](node_id, const note& n) {
    if (n.kind == note_kind::missing) ++questions;
    return false;
  };
  hope_nodes nodes({.nodes = 3, .longest_delay = 0us}, without_help,
                   {{.loses = until_asked}, {.loses = until_asked}, {.loses = count, .joins = true}});
  std::latch ended(2);
  nodes.on_each([&](unsigned i) {
    if (i == 2) ended.wait();
    EXPECT_EQ(nodes.run(i, call<ends_elsewhere>()), 7);
    if (i != 2) ended.count_down();
  });
  EXPECT_EQ(questions.load(), 1u);
}

// There is no room for the first answer.
TEST(hope_newcomers, get_an_answer_when_there_is_room) {
  std::atomic<unsigned> questions{0};
  std::atomic<unsigned> refusals{0};
  const auto until_asked = [&](node_id, const note& n) {
    return n.kind == note_kind::entry_result && questions.load() == 0;
  };
  const auto first_answer = [&](node_id, const note& n) {
    return n.kind == note_kind::entry_result && refusals.fetch_add(1) == 0;
  };
  const auto count = [&](node_id, const note& n) {
    if (n.kind == note_kind::missing) ++questions;
    return false;
  };
  hope_nodes nodes({.nodes = 3, .longest_delay = 0us}, without_help,
                   {{.loses = until_asked, .refuses = first_answer},
                    {.loses = until_asked},
                    {.loses = count, .joins = true}});
  std::latch ended(2);
  nodes.on_each([&](unsigned i) {
    if (i == 2) ended.wait();
    EXPECT_EQ(nodes.run(i, call<ends_elsewhere>()), 7);
    if (i != 2) ended.count_down();
  });
  EXPECT_EQ(questions.load(), 1u);
}

/// What happens in the entry of two branches below.
struct stage {
  std::function<bool()> first_may_end;
  std::function<bool()> second_may_end;
  std::atomic<bool> first_has_ended{false};  ///< on the newcomer
  std::atomic<bool> second_has_begun{false};  ///< on the newcomer
  std::atomic<bool> helps{false};  ///< the newcomer has begun the second branch before the end of the first
};
stage* at = nullptr;

long first(sukima::context c) {
  wait(c, [] { return at->first_may_end(); });
  if (cluster_support::own_node == 0) at->first_has_ended = true;
  return 1;
}
long second(sukima::context c) {
  if (cluster_support::own_node == 0) {
    if (!at->first_has_ended) at->helps = true;
    at->second_has_begun = true;
  }
  wait(c, [] { return at->second_may_end(); });
  return 2;
}
long both(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<first>(), call<second>());
  return 10 * a + b;
}
long alone(sukima::context) { return 5; }

// Node 0 has joined. The result of the first entry does not reach it, so it computes that one, where it meets
// no other node. It gets the result of the second one. In the third one it begins with the second branch. By
// a plan of both nodes it would run the first one to its end.
TEST(hope_newcomers, help_first_in_the_entry_where_they_meet_the_others) {
  const auto loses = [](node_id, const note& n) {
    return n.kind == note_kind::claim || (n.kind == note_kind::entry_result && n.entry == 1);
  };
  hope_nodes nodes({.nodes = 2, .longest_delay = 0us}, without_help,
                   {{.patience = 0us, .joins = true}, {.loses = loses}});
  stage now;
  at = &now;
  now.first_may_end = [&] { return nodes.statistics(0).named != 0; };
  now.second_may_end = [&] { return now.second_has_begun.load() || now.first_has_ended.load(); };
  std::latch ended(1);
  nodes.on_each([&](unsigned i) {
    if (i == 0) ended.wait();
    EXPECT_EQ(nodes.run(i, call<alone>()), 5);
    EXPECT_EQ(nodes.run(i, call<alone>()), 5);
    if (i == 1) ended.count_down();
    EXPECT_EQ(nodes.run(i, call<both>()), 12);
  });
  EXPECT_TRUE(now.helps.load());
}

// No result arrives. The newcomer ends the first entry by itself, and no other node is in a later one.
TEST(hope_newcomers, ask_no_more_once_they_have_ended_an_entry_in_time) {
  std::atomic<unsigned> questions{0};
  const auto loses = [](node_id, const note& n) { return n.kind == note_kind::entry_result; };
  const auto counts_and_loses = [&](node_id, const note& n) {
    if (n.kind == note_kind::missing) ++questions;
    return n.kind == note_kind::entry_result;
  };
  hope_nodes nodes({.nodes = 2, .longest_delay = 0us}, without_help,
                   {{.loses = loses}, {.loses = counts_and_loses, .joins = true}});
  for (int entry = 0; entry < 3; ++entry)
    for (const long found : nodes.everywhere(call<alone>())) EXPECT_EQ(found, 5);
  EXPECT_EQ(questions.load(), 1u);
}

long fib(sukima::context c, int n) {
  if (n < 2) return n;
  const auto [a, b] = sukima::fork2(c, call<fib>(n - 1), call<fib>(n - 2));
  return a + b;
}

TEST(hope_newcomers, that_are_alone_name_nothing) {
  hope_nodes nodes({.nodes = 1}, without_help, {{.joins = true}});
  for (const long found : nodes.everywhere(call<fib>(27))) EXPECT_EQ(found, 196418);
  EXPECT_EQ(nodes.sum().named, 0u);
}

// The others have ended the second entry before node 0 begins the first one, and it knows that. So it does
// not leave the first branch to any node. It would wait for the others until its patience ends.
TEST(hope_newcomers, compute_in_order_what_the_others_have_ended) {
  const auto loses = [](node_id, const note& n) { return n.entry == 1; };
  hope_nodes nodes({.nodes = 2, .longest_delay = 0us}, without_help,
                   {{.joins = true}, {.patience = 0us, .loses = loses}});
  stage now;
  at = &now;
  now.first_may_end = [&] { return cluster_support::own_node == 1 || nodes.statistics(0).named != 0; };
  now.second_may_end = [] { return true; };
  std::latch ended(1);
  nodes.on_each([&](unsigned i) {
    if (i == 0) ended.wait();
    EXPECT_EQ(nodes.run(i, call<both>()), 12);
    EXPECT_EQ(nodes.run(i, call<alone>()), 5);
    if (i == 1) ended.count_down();
  });
}

}  // namespace

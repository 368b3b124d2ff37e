// SPDX-License-Identifier: Apache-2.0
// Subscriptions at mediators: which notes go down to which nodes, and that no node lacks a note that it needs
// in the end, whichever nodes are lost.
#include "hope/mediation/interest.hpp"
#include "mediation_support.hpp"

#include <gtest/gtest.h>

namespace {

using namespace mediation_support;

TEST(interests, include_their_tasks_and_what_is_within_their_places) {
  const interest one = one_with({key(5), key(3)}, {key(9), key(7)});
  EXPECT_TRUE(one.includes(key(3), key(1)));
  EXPECT_TRUE(one.includes(key(5), key(1)));
  EXPECT_TRUE(one.includes(key(1), key(7)));
  EXPECT_FALSE(one.includes(key(7), key(3)));
  EXPECT_TRUE(interest{}.includes(key(1), key(1))) << "everything";
}

TEST(interests, in_too_many_tasks_are_in_everything) {
  interest one{.entry = 1, .is_all = false};
  for (std::uint64_t i = 0; i < interest::most; ++i) one.tasks.push_back(key(i));
  one.normalise();
  EXPECT_FALSE(one.is_all);
  one.places.push_back(key(1));
  one.normalise();
  EXPECT_TRUE(one.is_all);
  EXPECT_TRUE(one.tasks.empty());
}

TEST(interests, are_read_as_they_were_written) {
  interest one = one_with({key(5), key(3)}, {key(9)});
  one.version = 7;
  const bytes content = write_interest(one);
  const bytes written = write_note({.kind = note_kind::interest, .entry = 1, .content = content});
  const auto n = read_note(written);
  ASSERT_TRUE(n);
  EXPECT_EQ(read_interest(*n), one);
  for (std::size_t size = 0; size < content.size(); ++size)
    EXPECT_FALSE(read_interest({.entry = 1, .content = byte_view(content).first(size)})) << size << " bytes";
  bytes longer = content;
  longer.push_back({});
  EXPECT_FALSE(read_interest({.entry = 1, .content = longer}));
  bytes neither = content;
  neither[8] = std::byte{2};
  EXPECT_FALSE(read_interest({.entry = 1, .content = neither})) << "neither everything nor not";
}

// Nodes 3 to 5 are a group; node 3 is its mediator.
TEST(subscriptions, keep_notes_from_nodes_that_need_others) {
  network net(9, 1);
  net.subscribe(4, {}, {100});
  net.subscribe(5, {2}, {}, true);
  net.run(100ms);
  net.post(0, 100);
  net.post(0, 101);
  net.post(8, 102);
  net.run_to_the_end();
  for (std::uint64_t task = 1; task <= 3; ++task) {
    EXPECT_EQ(net.has(4, task), task == 1) << task;
    EXPECT_EQ(net.has(5, task), task == 2) << task;
    for (const node_id n : {1u, 3u, 6u}) EXPECT_TRUE(net.has(n, task)) << "node " << n;
  }
  EXPECT_EQ(net.sum(&counts::withheld), 4u);
}

TEST(subscriptions, bring_what_was_kept_at_once) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.post(5, 101);
  net.run(200ms);
  EXPECT_FALSE(net.has(4, 1) || net.has(4, 2));
  const std::uint64_t before = net.messages;
  net.subscribe(4, {}, {101}, true);
  net.run(200ms + 201us);  // two steps
  EXPECT_TRUE(net.has(4, 1) && net.has(4, 2));
  EXPECT_EQ(net.messages, before + 2);
}

TEST(subscriptions, wait_for_no_interval_if_they_are_urgent) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.run(200ms);
  net.post(4, 100);  // is sent at once, and begins an interval
  net.run(200ms + 1us);
  net.subscribe(4, {}, {101}, true);
  net.run(200ms + 202us);
  EXPECT_TRUE(net.has(4, 1));
}

TEST(subscriptions, are_sent_if_they_change_only) {
  network net(9, 1);
  net.subscribe(4, {1}, {100});
  net.run(1s);
  EXPECT_EQ(net.messages, 1u);
  net.subscribe(4, {1}, {100});
  net.subscribe(3, {1}, {100}, true);
  net.run(2s);
  EXPECT_EQ(net.messages, 1u) << "nothing has changed, and a mediator needs no subscription";
  net.subscribe_to_all(4);
  net.run(3s);
  net.post(0, 101);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(4, 1));
}

TEST(subscriptions, concern_one_entry_and_tasks_only) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  note ends = claim_of(51, 101);
  ends.kind = note_kind::unclaim;
  net.post_any(0, ends);
  net.run(200ms);
  net.post_any(0, result_of(50, 101, 2));
  net.run_to_the_end();
  EXPECT_TRUE(net.has(4, 50)) << "a task of the next entry";
  EXPECT_TRUE(net.has(4, 51)) << "the end of a claim that the node may know";
}

/// A bundle with a subscription of node 4.
bytes subscription_of_4(std::uint64_t version, std::uint64_t place, bundle_way way = bundle_way::up) {
  interest one = one_with({}, {key(place)});
  one.version = version;
  const bytes content = write_interest(one);
  bytes bundle = begin_bundle(way);
  const bytes n = write_note({.kind = note_kind::interest, .entry = 1, .content = content});
  put_note(bundle, {.origin = 4, .content = n});
  return bundle;
}

TEST(subscriptions, that_come_late_or_from_another_node_change_nothing) {
  network net(9, 1);
  net.deliver(4, 3, subscription_of_4(2, 100));
  net.deliver(4, 3, subscription_of_4(1, 101));
  net.deliver(5, 3, subscription_of_4(3, 101));
  net.deliver(6, 3, subscription_of_4(4, 101, bundle_way::across));
  net.post(0, 100);
  net.post(0, 101);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(4, 1));
  EXPECT_FALSE(net.has(4, 2));
  EXPECT_FALSE(net.has(5, 0)) << "subscriptions are not passed on";
}

// A call that throws ends its entry on one node after the other.
TEST(subscriptions, are_ignored_where_the_entry_has_ended) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.run(200ms);
  net.end_entry(3, 1);
  net.post(0, 101);
  net.run_to_the_end();
  EXPECT_FALSE(net.has(4, 1)) << "that one is forgotten";
  EXPECT_TRUE(net.has(4, 2)) << "it would not be kept";
}

TEST(subscriptions, that_were_refused_are_sent_again) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.run(200ms);
  net.refuses = true;
  net.subscribe(4, {}, {101}, true);
  net.run(300ms);
  net.refuses = false;
  net.run_to_the_end();
  EXPECT_EQ(net.missing(), 0u);
}

// More bytes wait for room than are kept.
TEST(subscriptions, that_were_dropped_are_sent_again) {
  network net(9, 1);
  net.subscribe(4, {}, {100}, true);
  net.run(100ms);
  net.refuses = true;
  const bytes content(64000);
  for (std::uint64_t task = 1000; task < 1082; ++task) {
    note large = result_of(task);
    large.content = content;
    net.post_any(4, large);
  }
  net.subscribe(4, {}, {101}, true);
  net.run(200ms);
  net.refuses = false;
  net.run(1s);
  net.post(0, 101);
  net.run_to_the_end();
  EXPECT_EQ(net.missing(), 0u);
}

// Node 3 is lost, and node 4 becomes mediator. What node 5 has sent to node 3 is too old to be kept.
TEST(subscriptions, are_sent_to_the_successor_of_a_mediator) {
  network net(9, 3);
  net.subscribe(5, {}, {100}, true);
  net.run(kept_for_successor + 1s);
  net.kill(3);
  net.run(kept_for_successor + 2s);
  net.post(0, 101);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(4, 1));
  EXPECT_FALSE(net.has(5, 1));
}

// What node 0 has sent is too old to be kept. The mediator of the next group hands it over.
TEST(subscriptions, bring_what_a_lost_mediator_had_kept) {
  network net(9, 5);
  for (const node_id n : {4u, 5u}) net.subscribe(n, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.post(0, 102);
  net.run(kept_for_successor + 1s);
  net.kill(3);
  net.run(kept_for_successor + 2s);
  net.subscribe(5, {}, {101}, true);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(4, 1)) << "a mediator receives everything";
  EXPECT_TRUE(net.has(5, 1));
}

TEST(subscriptions, bring_what_a_mediator_had_kept_whose_place_a_joining_node_takes) {
  network net(9, 1);
  net.keep_free(3);
  for (const node_id n : {4u, 5u}) net.subscribe(n, {}, {100}, true);
  net.run(100ms);
  net.post(0, 101);
  net.run(kept_for_successor + 1s);
  EXPECT_FALSE(net.has(5, 1));
  net.join(3);
  net.run(kept_for_successor + 2s);
  EXPECT_TRUE(net.has(3, 1));
  net.post(0, 102);
  net.subscribe(5, {}, {101}, true);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(5, 1));
  EXPECT_FALSE(net.has(4, 2)) << "it is no mediator any more";
}

// Node 3 joins as mediator while a note is on its way to node 4, which was mediator until then.
TEST(subscriptions, bring_what_comes_to_a_mediator_whose_place_a_joining_node_has_taken) {
  network net(9, 1);
  net.keep_free(3);
  net.subscribe(5, {}, {100}, true);
  net.run(1s);
  net.post(0, 101);
  net.run(1s + 50us);
  net.join(3);
  net.run(2s);
  EXPECT_FALSE(net.has(5, 1));
  net.subscribe(5, {}, {101}, true);
  net.run_to_the_end();
  EXPECT_TRUE(net.has(5, 1));
}

// Nodes subscribe to one place after the other and send results within them; two of them are lost, mediators
// among them, after every number of messages.
TEST(subscriptions, lose_no_note_that_is_needed) {
  unsigned runs = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    for (unsigned at = 1;; ++at) {
      network net(9, seed * 1000 + at);
      std::mt19937_64 draws(seed);
      const auto change = [&] {
        for (node_id n = 0; n < 9; ++n) {
          if (!net.is_living(n)) continue;
          if (draws() % 3 != 0) net.post(n, 100 + draws() % 3);
          if (draws() % 3 != 0) net.subscribe(n, {1 + draws() % 20}, {100 + draws() % 3}, draws() % 2 == 0);
        }
      };
      change();
      net.run_events(static_cast<unsigned>(draws() % 40));
      change();
      if (!net.run_events(at)) break;
      ++runs;
      const auto first = static_cast<node_id>(3 * (draws() % 3));
      net.kill(first);
      change();
      net.run_events(1 + static_cast<unsigned>(draws() % 20));
      net.kill(static_cast<node_id>((first + 1 + draws() % 8) % 9));
      change();
      net.run_to_the_end();
      ASSERT_EQ(net.missing(), 0u) << "seed " << seed << ", killed after " << at << " events";
    }
  }
  EXPECT_GT(runs, 400u);
}

/// Messages of a second in which each node names tasks within places of its own, and needs no other ones.
TEST(subscriptions, save_most_of_the_messages_to_the_nodes_of_a_group) {
  std::uint64_t messages[2];
  for (const bool subscribes : {false, true}) {
    constexpr unsigned nodes = 64;
    network net(nodes, 1);
    std::uint64_t task = 0;
    for (node_id n = 0; subscribes && n < nodes; ++n) net.subscribe(n, {}, {1000 + n});
    for (std::chrono::microseconds at = 100ms; at < 1100ms; at += 2ms) {
      const node_id n = static_cast<node_id>(++task * 7 % nodes);
      net.run(at);
      net.post(n, 1000 + n);
    }
    net.run_to_the_end();
    EXPECT_EQ(net.missing(), 0u);
    messages[subscribes] = net.messages;
  }
  EXPECT_LE(messages[1] * 10, messages[0] * 8);
  std::printf("64 nodes: %llu messages without subscriptions, %llu with them\n",
              static_cast<unsigned long long>(messages[0]), static_cast<unsigned long long>(messages[1]));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Notes that go by way of mediators, on a network and a clock that the tests drive: which notes arrive, in
// how many messages, and after the loss of mediators.
#include "hope/announcements.hpp"
#include "mediation_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace mediation_support;

/// A transport that loses all messages.
struct void_transport final : transport {
  unsigned number;
  explicit void_transport(unsigned nodes) : number(nodes) {}
  node_id start(receiver&, clock::time_point) override { return 0; }
  unsigned nodes() const noexcept override { return number; }
  bool send(node_id, bytes&&) override { return true; }
  void wait(clock::time_point) override {}
  void ring() noexcept override {}
  transport_limits can() const noexcept override { return {}; }
  std::uint64_t taken_by(node_id) override { return 0; }
  void stop(std::chrono::milliseconds) noexcept override {}
};

TEST(announcements, wait_in_proportion_to_the_nodes_that_live) {
  constexpr unsigned places = 66;
  void_transport by(places);
  sukima::detail::solution_board solutions;
  counters counted;
  announcements own(by, solutions, counted, most_without_mediators, [] { return interest{}; });
  own.begin(0);
  for (node_id free = 2; free < places; ++free) own.lose(free);
  const auto longest_wait = [&own] {
    own.announce(claim_of(1));
    own.send_if_due();
    const auto sent = clock::now();
    own.announce(claim_of(2));
    return own.next_bundle() - sent;
  };
  EXPECT_LE(longest_wait(), 2 * bundle_interval);
  own.gain(2);
  EXPECT_LE(longest_wait(), 3 * bundle_interval);
  EXPECT_EQ(longest_way(places, 2), 6 * bundle_interval);
  EXPECT_EQ(longest_way(8, 8), 0us);
}

TEST(announcements, are_counted_by_kind) {
  constexpr unsigned number = 16;
  void_transport by(number);
  sukima::detail::solution_board solutions;
  counters counted;
  announcements own(by, solutions, counted, most_without_mediators, [] { return interest{}; });
  own.begin(0);
  own.announce(claim_of(1));
  own.announce(result_of(1));
  own.announce_to(7, {.kind = note_kind::request, .entry = 1});
  own.announce_to(8, {.kind = note_kind::missing, .entry = 1, .task = key(2)});
  own.announce_to(8, {.kind = note_kind::none, .entry = 1});
  own.announce_to(9, result_of(3));
  own.announce_entry_result_to(9, 1, {});
  own.send_if_due();
  const counts all = counted.all();
  EXPECT_EQ(all.reports, 2u);
  EXPECT_EQ(all.requests, 1u);
  EXPECT_EQ(all.questions, 1u);
  EXPECT_EQ(all.bundles, 7u) << "to two other mediators, and to five nodes of the own group";
  EXPECT_EQ(all.refusals, 1u);
  EXPECT_EQ(all.answers, 2u);
  EXPECT_EQ(all.notes, 12u);
  EXPECT_EQ(all.deleted, 1u) << "the claim of a task with a result";
}

TEST(node_groups, hold_each_node_once_and_are_few) {
  for (unsigned nodes = 1; nodes <= 300; ++nodes) {
    const node_groups groups(nodes);
    node_id next = 0;
    for (unsigned group = 0; group < groups.count(); ++group) {
      EXPECT_EQ(groups.first(group), next);
      EXPECT_GT(groups.end(group), next) << "an empty group of " << nodes;
      for (; next < groups.end(group); ++next) EXPECT_EQ(groups.of(next), group);
    }
    EXPECT_EQ(next, nodes);
    EXPECT_LE(groups.count(), std::max(3.0, std::ceil(std::ceil(std::sqrt(nodes)) / 2)));
    EXPECT_TRUE(nodes < 9 || groups.count() >= 3) << nodes << " nodes";
  }
}

TEST(node_groups, have_their_first_living_node_as_mediator) {
  const node_groups groups(9);
  std::vector<bool> gone(9);
  EXPECT_EQ(groups.mediator(1, gone), node_id{3});
  gone[3] = true;
  EXPECT_EQ(groups.mediator(1, gone), node_id{4});
  gone[4] = gone[5] = true;
  EXPECT_EQ(groups.mediator(1, gone), std::nullopt);
}

TEST(bundles, are_read_as_they_were_written) {
  const bytes first = write_note(claim_of(7)), second = write_note(result_of(8));
  bytes bundle = begin_bundle(bundle_way::across);
  put_note(bundle, {.origin = 3, .content = first});
  put_note(bundle, {.origin = 4, .content = second});
  ASSERT_TRUE(is_bundle(bundle));
  EXPECT_FALSE(is_bundle(first));
  EXPECT_FALSE(is_bundle({}));
  std::vector<std::pair<node_id, bytes>> found;
  EXPECT_TRUE(read_bundle(bundle, 5, [&](bundle_way way, const carried_note& one) {
    EXPECT_EQ(way, bundle_way::across);
    found.emplace_back(one.origin, bytes(one.content.begin(), one.content.end()));
  }));
  const std::vector<std::pair<node_id, bytes>> expected{{3, first}, {4, second}};
  EXPECT_EQ(found, expected);
}

TEST(bundles, are_refused_if_they_are_malformed) {
  bytes bundle = begin_bundle(bundle_way::up);
  put_note(bundle, {.origin = 4, .content = write_note(claim_of(7))});
  const auto ignore = [](bundle_way, const carried_note&) {};
  EXPECT_TRUE(read_bundle(bundle, 5, ignore));
  EXPECT_FALSE(read_bundle(bundle, 4, ignore)) << "there is no node 4";
  for (std::size_t size = 0; size < bundle.size(); ++size) {
    if (size == 2) continue;  // without notes
    EXPECT_FALSE(read_bundle(byte_view(bundle).first(size), 5, ignore)) << size << " bytes";
  }
  bundle[1] = std::byte{5};
  EXPECT_FALSE(read_bundle(bundle, 5, ignore)) << "there is no such way";
  bytes long_one = begin_bundle(bundle_way::up);
  put_note(long_one, {.origin = 0, .content = bytes(longest_bundled + 1)});
  EXPECT_FALSE(read_bundle(long_one, 5, ignore));
}

/// The tasks of the notes that a queue forwards.
struct forwarded {
  forwarding_queue queue;
  std::size_t deleted = 0;
  void add(const note& n, node_id origin = 1) {
    deleted += queue.add({.origin = origin, .from = origin, .for_all = true, .content = write_note(n)});
  }
  std::vector<std::pair<note_kind, std::uint64_t>> take() {
    std::vector<std::pair<note_kind, std::uint64_t>> all;
    for (const waiting_note& w : queue.take()) {
      const auto n = read_note(w.content);
      all.emplace_back(n->kind, n->task.low);
    }
    return all;
  }
};
using kinds = std::vector<std::pair<note_kind, std::uint64_t>>;

TEST(forwarding_queue, deletes_the_claim_of_a_task_with_a_result) {
  forwarded f;
  f.add(claim_of(1));
  f.add(claim_of(2));
  f.add(result_of(1));
  f.add(claim_of(1), 5);
  EXPECT_EQ(f.take(), (kinds{{note_kind::claim, 2}, {note_kind::result, 1}}));
  EXPECT_EQ(f.deleted, 2u);
}

TEST(forwarding_queue, deletes_results_within_a_task_with_a_result_at_any_depth) {
  forwarded f;
  f.add(claim_of(2, 1));
  f.add(result_of(3, 2));
  f.add(result_of(1));
  EXPECT_EQ(f.take(), (kinds{{note_kind::result, 1}}));
  f.add(result_of(4, 3));
  f.add(claim_of(5, 4));
  EXPECT_TRUE(f.queue.empty());
  f.add(result_of(6, 9));
  EXPECT_EQ(f.take(), (kinds{{note_kind::result, 6}}));
}

TEST(forwarding_queue, keeps_the_first_of_equal_results_and_the_claims_of_all_nodes) {
  forwarded f;
  f.add(claim_of(1), 1);
  f.add(claim_of(1), 2);
  f.add(result_of(3), 1);
  f.add(result_of(3), 2);
  EXPECT_EQ(f.take(), (kinds{{note_kind::claim, 1}, {note_kind::claim, 1}, {note_kind::result, 3}}));
}

TEST(forwarding_queue, deletes_a_claim_that_ends_before_it_was_sent_and_never_its_end) {
  forwarded f;
  note ends = claim_of(1);
  ends.kind = note_kind::unclaim;
  f.add(claim_of(1), 1);
  f.add(claim_of(1), 2);
  f.add(ends, 1);
  EXPECT_EQ(f.take(), (kinds{{note_kind::claim, 1}, {note_kind::unclaim, 1}}));
}

TEST(forwarding_queue, forwards_the_first_result_of_an_entry_and_nothing_else_of_it) {
  forwarded f;
  note ends = result_of(0);
  ends.kind = note_kind::entry_result;
  note missing = claim_of(4);
  missing.kind = note_kind::missing;
  f.add(result_of(1));
  f.add(missing);
  f.add(ends, 1);
  f.add(ends, 2);
  f.add(claim_of(2));
  f.add(result_of(1, 0, 2));
  EXPECT_EQ(f.take(), (kinds{{note_kind::missing, 4}, {note_kind::entry_result, 0}, {note_kind::result, 1}}))
      << "a node may wait for an answer; and the next entry's tasks are others";
}

TEST(forwarding_queue, replaces_a_nodes_solutions_by_newer_ones) {
  forwarded f;
  const note best{.kind = note_kind::best, .entry = 1};
  f.add(best, 1);
  f.add(best, 2);
  f.add(best, 1);
  EXPECT_EQ(f.take().size(), 2u);
  EXPECT_EQ(f.deleted, 1u);
}

TEST(forwarding_queue, deletes_claims_of_a_task_whose_result_went_to_all_on_another_way) {
  forwarded f;
  f.add(claim_of(1));
  f.add(claim_of(2));
  EXPECT_EQ(f.queue.went_to_all(result_of(1)), 1u);
  f.add(claim_of(1), 3);
  EXPECT_EQ(f.take(), (kinds{{note_kind::claim, 2}}));
}

TEST(forwarding_queue, drops_what_is_malformed) {
  forwarded f;
  EXPECT_EQ(f.queue.add({.content = bytes(3)}), 0u);
  EXPECT_TRUE(f.queue.empty());
}

TEST(mediation, brings_each_note_to_each_node) {
  for (const unsigned nodes : {2u, 3u, 9u, 10u, 16u, 37u}) {
    network net(nodes, nodes);
    for (node_id n = 0; n < nodes; ++n) net.post(n);
    net.run(1ms);
    for (node_id n = 0; n < nodes; ++n) net.post(n);
    net.run_to_the_end();
    EXPECT_EQ(net.missing(), 0u) << nodes << " nodes";
  }
}

TEST(mediation, sends_a_note_at_once_after_silence) {
  network net(16, 1);
  net.run(1s);
  net.post(5);
  net.run(1s + 301us);  // three steps
  EXPECT_EQ(net.missing(), 0u);
  EXPECT_EQ(net.messages, 15u) << "each other node gets it once";
}

TEST(mediation, sends_again_what_was_refused) {
  network net(9, 3);
  net.refuses = true;
  for (node_id n = 0; n < 9; ++n) net.post(n);
  net.run(50ms);
  EXPECT_EQ(net.missing(), 72u);
  net.refuses = false;
  net.run_to_the_end();
  EXPECT_EQ(net.missing(), 0u);
}

// Nodes end soon after an entry's result, so it waits for no interval.
TEST(mediation, sends_the_result_of_an_entry_at_once) {
  network net(16, 1);
  for (node_id n = 0; n < 16; ++n) net.post(n);
  net.run(50us);
  note ends = result_of(0);
  ends.kind = note_kind::entry_result;
  net.post_any(5, ends);
  net.run(50us + 301us);
  for (node_id n = 0; n < 16; ++n) EXPECT_TRUE(n == 5 || net.has(n, 0)) << "node " << n;
}

/// The messages of a second in which each node has two notes in the time in which it names a task.
std::uint64_t messages_of_a_second(unsigned nodes) {
  network net(nodes, nodes);
  const std::chrono::microseconds tick = 1500us * (nodes - 1);
  std::uint64_t task = 1;
  for (std::chrono::microseconds at = 0us; at < 1s; at += tick / nodes) {
    const auto node = static_cast<node_id>((at * nodes / tick) % nodes);
    net.run(at);
    net.post_any(node, claim_of(++task));
    net.post_any(node, result_of(task));
  }
  net.run_to_the_end();
  return net.messages;
}
/// The same, if each note is sent to each node.
std::uint64_t direct_messages_of_a_second(unsigned nodes) {
  const double ticks = 1e6 / (1500.0 * (nodes - 1));
  return static_cast<std::uint64_t>(2 * ticks * nodes * (nodes - 1));
}

TEST(mediation, takes_a_quarter_of_the_messages_at_16_nodes_and_a_twentieth_at_64) {
  EXPECT_LE(4 * messages_of_a_second(16), direct_messages_of_a_second(16));
  EXPECT_LE(20 * messages_of_a_second(64), direct_messages_of_a_second(64));
  for (const unsigned nodes : {9u, 16u, 32u, 64u, 256u})
    std::printf("%3u nodes: %llu messages a second, without mediators %llu\n", nodes,
                static_cast<unsigned long long>(messages_of_a_second(nodes)),
                static_cast<unsigned long long>(direct_messages_of_a_second(nodes)));
}

// Nodes die one after the other, at every number of messages; mediators among them. Each living node notices
// a loss at another time.
TEST(mediation, loses_no_note_of_a_living_node_with_its_mediators) {
  unsigned runs = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (unsigned at = 1;; ++at) {
      network net(9, seed * 1000 + at);
      std::mt19937_64 draws(seed);
      for (node_id n = 0; n < 9; ++n) net.post(n);
      if (!net.run_events(at)) break;
      ++runs;
      const auto first = static_cast<node_id>(3 * (draws() % 3));
      net.kill(first);
      for (node_id n = 0; n < 9; ++n)
        if (net.is_living(n)) net.post(n);
      net.run_events(1 + static_cast<unsigned>(draws() % 20));
      net.kill(static_cast<node_id>((first + 1 + draws() % 8) % 9));
      net.run_to_the_end();
      ASSERT_EQ(net.missing(), 0u) << "seed " << seed << ", killed after " << at << " events";
    }
  }
  EXPECT_GT(runs, 400u);
}

TEST(mediation, brings_notes_of_a_group_whose_last_node_is_its_mediator) {
  network net(9, 7);
  net.kill(3);
  net.kill(4);
  net.run(10ms);
  for (const node_id n : {0u, 5u, 8u}) net.post(n);
  net.run_to_the_end();
  EXPECT_EQ(net.missing(), 0u);
}

// Node 3 has had no room for the bundle. Then it is lost, and node 4 becomes mediator.
TEST(mediation, forwards_what_the_lost_mediator_had_no_room_for) {
  network net(9, 1);
  net.refuses = true;
  net.post(4);
  net.run(1s);
  net.kill(3);
  net.run(2s);
  net.refuses = false;
  net.run_to_the_end();
  EXPECT_EQ(net.missing(), 0u);
}

}  // namespace

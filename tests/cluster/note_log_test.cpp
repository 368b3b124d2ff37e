// SPDX-License-Identifier: Apache-2.0
// The log of a mediator: what it keeps, what it replays for a subscription, and what it hands over.
#include "hope/mediation/note_log.hpp"
#include "mediation_support.hpp"

#include <gtest/gtest.h>

namespace {

using namespace mediation_support;

/// A log, and what it replays.
struct logged {
  note_log log{1 << 20};
  clock::time_point now{};
  void add(const note& n, node_id origin = 1) { log.add(origin, n, write_note(n), now); }
  using notes = std::multiset<std::pair<note_kind, std::uint64_t>>;
  notes replay(const interest& later, const interest& before = one_with({}, {})) const {
    notes found;
    log.replay(later, before, now, taker_of(found));
    return found;
  }
  notes hand_over() const {
    notes found;
    log.hand_over(now, taker_of(found));
    return found;
  }
  static note_log::taker taker_of(notes& found) {
    return [&found](node_id, const bytes& content) {
      const auto n = read_note(content);
      found.emplace(n->kind, n->task.low);
    };
  }
};
note end_of(std::uint64_t task) {
  note n = claim_of(task);
  n.kind = note_kind::unclaim;
  return n;
}

TEST(note_log, replays_what_a_subscription_includes_and_the_last_one_did_not) {
  logged l;
  l.add(result_of(1, 10));
  l.add(claim_of(2, 10), 1);
  l.add(claim_of(2, 10), 3);
  l.add(result_of(3, 11));
  l.add(result_of(4, 12));
  using notes = logged::notes;
  EXPECT_EQ(l.replay(one_with({}, {key(10)})),
            (notes{{note_kind::result, 1}, {note_kind::claim, 2}, {note_kind::claim, 2}}));
  EXPECT_EQ(l.replay(one_with({key(1), key(4)}, {key(11)}), one_with({key(1)}, {})),
            (notes{{note_kind::result, 4}, {note_kind::result, 3}}));
  EXPECT_EQ(l.replay(one_with({key(1)}, {key(10)}), one_with({}, {key(10)})),
            (notes{{note_kind::result, 1}}));
  EXPECT_EQ(l.replay({.entry = 1}).size(), 5u);
  EXPECT_EQ(l.replay({.entry = 2}).size(), 0u);
}

TEST(note_log, keeps_the_result_of_a_task_instead_of_its_claims) {
  logged l;
  l.add(claim_of(1, 10));
  l.add(claim_of(1, 11), 2);
  l.add(result_of(1, 10));
  l.add(claim_of(1, 10), 3);
  EXPECT_EQ(l.replay(one_with({}, {key(10)})), (logged::notes{{note_kind::result, 1}}));
  EXPECT_EQ(l.replay(one_with({}, {key(11)})), (logged::notes{{note_kind::result, 1}})) << "by another way";
  l.log.went_to_all(result_of(1, 10));
  EXPECT_TRUE(l.replay({.entry = 1}).empty());
  EXPECT_EQ(l.log.size(), 0u);
}

TEST(note_log, forgets_claims_that_end_and_earlier_entries) {
  logged l;
  l.add(claim_of(1), 1);
  l.add(claim_of(1), 2);
  l.add(end_of(1), 1);
  l.add(end_of(1), 3);
  EXPECT_EQ(l.replay({.entry = 1}), (logged::notes{{note_kind::claim, 1}}));
  l.add(result_of(5, 0, 2));
  l.add(result_of(6, 0, 1));
  EXPECT_TRUE(l.replay({.entry = 1}).empty());
  EXPECT_EQ(l.replay({.entry = 2}), (logged::notes{{note_kind::result, 5}}));
}

TEST(note_log, forgets_an_entry_that_has_ended_and_ignores_its_notes) {
  logged l;
  l.add(result_of(1));
  l.add({.kind = note_kind::entry_result, .entry = 1});
  EXPECT_EQ(l.log.size(), 0u);
  l.add(result_of(2));
  EXPECT_TRUE(l.hand_over().empty());
  EXPECT_FALSE(l.log.takes(1));
  l.add(result_of(3, 0, 2));
  l.log.end_entry(1);
  EXPECT_EQ(l.hand_over(), (logged::notes{{note_kind::result, 3}}));
}

TEST(note_log, replays_claims_as_old_as_they_are_now) {
  logged l;
  note claim = claim_of(1);
  claim.time = 10ms;
  l.add(claim);
  note result = result_of(2);
  result.time = 10ms;
  l.add(result);
  l.now += 2s;
  l.log.replay({.entry = 1}, one_with({}, {}), l.now, [](node_id, const bytes& content) {
    const auto n = read_note(content);
    EXPECT_EQ(n->time, n->kind == note_kind::claim ? 2010ms : 10ms);
  });
}

TEST(note_log, has_a_bound) {
  logged l{.log = note_log(10000)};
  for (std::uint64_t task = 1; task < 1000; ++task) {
    l.add(result_of(task));
    ASSERT_LE(l.log.size(), 11000u);
  }
  EXPECT_GT(l.replay({.entry = 1}).size(), 0u);
}

TEST(note_log, frees_room_within_tasks_that_have_results_first_and_of_the_oldest_then) {
  logged l{.log = note_log(10000)};
  l.add(result_of(1000));
  l.add(result_of(1001));
  for (std::uint64_t task = 1; task < 100; ++task) {
    l.now += 1ms;
    l.add(result_of(task, 1000));
  }
  EXPECT_EQ(l.replay(one_with({key(1000), key(1001)}, {})).size(), 2u);
  EXPECT_LT(l.replay(one_with({}, {key(1000)})).size(), 30u);
  for (std::uint64_t task = 2000; task < 2100; ++task) {
    l.now += 1ms;
    l.add(result_of(task));
  }
  EXPECT_EQ(l.replay(one_with({key(1000), key(2000)}, {})).size(), 0u);
  EXPECT_EQ(l.replay(one_with({key(2099)}, {})).size(), 1u);
}

TEST(note_log, hands_over_what_is_within_no_task_with_a_result) {
  logged l;
  l.add(result_of(1));
  l.add(result_of(2, 1));
  l.add(claim_of(3, 2));
  l.add(result_of(4, 1));
  l.add(result_of(4, 9));
  l.add(claim_of(5, 9), 1);
  l.add(claim_of(5, 9), 2);
  using notes = logged::notes;
  EXPECT_EQ(
      l.hand_over(),
      (notes{{note_kind::result, 1}, {note_kind::result, 4}, {note_kind::claim, 5}, {note_kind::claim, 5}}));
  l.log.lose(1);
  EXPECT_EQ(l.hand_over(), (notes{{note_kind::result, 1}, {note_kind::result, 4}, {note_kind::claim, 5}}));
}

}  // namespace

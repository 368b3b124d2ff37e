// SPDX-License-Identifier: Apache-2.0
// Hierarchical omission: names of tasks, known results, claims, the plan of where nodes begin.
#include "hope/claims.hpp"
#include "hope/messages.hpp"
#include "hope/named_task.hpp"
#include "hope/planned_start.hpp"
#include "hope/result_store.hpp"
#include "hope_keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using hope_keys::key;
using namespace sukima::cluster;
using namespace sukima::cluster::hope;
using namespace std::chrono_literals;

byte_view view(std::string_view text) { return std::as_bytes(std::span{text}); }
bytes filled(std::size_t size, int with = 1) { return bytes(size, static_cast<std::byte>(with)); }
clock::time_point at(std::chrono::milliseconds time) { return clock::time_point{time}; }

TEST(names, are_of_the_content_alone) {
  const std::string once = "the same bytes";
  const std::string again = once;  // NOLINT(performance-unnecessary-copy-initialization): it lies elsewhere
  EXPECT_EQ(key_of(3, 5, view(once)), key_of(3, 5, view(again)));
}

TEST(names, differ_by_entry_type_and_each_byte_of_the_input) {
  std::set<task_key> seen;
  unsigned made = 0;
  const auto make = [&](std::uint64_t entry, std::uint32_t type, byte_view input) {
    seen.insert(key_of(entry, type, input));
    ++made;
  };
  for (const std::uint64_t entry : {1ull, 2ull, 1ull << 32, 1ull << 56})
    for (const std::uint32_t type : {0u, 1u, 2u, 1u << 24}) {
      for (std::size_t size = 0; size < 300; ++size) make(entry, type, filled(size, 0));
      for (std::size_t place = 0; place < 40; ++place) {
        bytes input = filled(40, 0);
        input[place] = std::byte{1};
        make(entry, type, input);
      }
    }
  EXPECT_EQ(seen.size(), made);
}

// They travel between machines and versions of the library. The numbers are those of the shared library,
// called from Python.
TEST(names, stay_as_they_are) {
  const task_key of_nothing = key_of(1, 0, {});
  const task_key of_text = key_of(0x0102030405060708, 0x090a0b0c, view("sukima"));
  EXPECT_EQ(of_nothing, (task_key{.high = 0xe578995c89f50a0a, .low = 0xe4a8257ebf16d9fe}));
  EXPECT_EQ(of_text, (task_key{.high = 0xd12751d8ccc30435, .low = 0xc2327d22f26f5c6b}));
}

TEST(results, are_found_by_their_names) {
  result_store store(10'000);
  store.put(key(1), filled(3, 7), 1ms);
  store.put(key(2), {}, 1ms);
  ASSERT_NE(store.find(key(1)), nullptr);
  EXPECT_EQ(*store.find(key(1)), filled(3, 7));
  ASSERT_NE(store.find(key(2)), nullptr);
  EXPECT_TRUE(store.find(key(2))->empty());
  EXPECT_EQ(store.find(key(3)), nullptr);
  store.clear();
  EXPECT_EQ(store.find(key(1)), nullptr);
  EXPECT_EQ(store.used(), 0u);
}

TEST(results, that_come_again_take_no_memory) {
  result_store store(10'000);
  store.put(key(1), filled(3), 1ms);
  const std::size_t used = store.used();
  store.put(key(1), filled(3), 9ms);
  EXPECT_EQ(store.used(), used);
  EXPECT_EQ(store.size(), 1u);
}

TEST(results, that_are_cheap_to_compute_again_go_first) {
  result_store store(3 * (result_store::overhead + 10));
  store.put(key(1), filled(10), 5ms);
  store.put(key(2), filled(10), 1ms);
  store.put(key(3), filled(10), 3ms);
  store.put(key(4), filled(10), 2ms);
  EXPECT_EQ(store.find(key(2)), nullptr);
  store.put(key(5), filled(10), 1ms);  // the cheapest is the new one
  EXPECT_EQ(store.find(key(5)), nullptr);
  store.put(key(6), filled(20), 9ms);  // takes the place of two, the cheapest ones
  EXPECT_EQ(store.find(key(4)), nullptr);
  EXPECT_EQ(store.find(key(3)), nullptr);
  EXPECT_NE(store.find(key(1)), nullptr);
  EXPECT_NE(store.find(key(6)), nullptr);
}

TEST(results, that_are_larger_than_the_bound_push_nothing_out) {
  result_store store(1'000);
  store.put(key(1), filled(10), 1ms);
  store.put(key(2), filled(2'000), 1h);
  EXPECT_NE(store.find(key(1)), nullptr);
  EXPECT_EQ(store.find(key(2)), nullptr);
}

TEST(results, stay_within_the_bound) {
  std::mt19937 random(11);
  constexpr std::size_t most = 20'000;
  result_store store(most);
  for (int n = 0; n < 5'000; ++n) {
    store.put(key(random() % 700), filled(random() % 900), std::chrono::microseconds(random() % 50));
    std::size_t used = 0;
    std::size_t found = 0;
    for (std::uint64_t k = 0; k < 700; ++k)
      if (const bytes* result = store.find(key(k))) {
        used += result->size() + result_store::overhead;
        ++found;
      }
    ASSERT_EQ(store.used(), used);
    ASSERT_EQ(store.size(), found);
    ASSERT_LE(used, most);
  }
  EXPECT_GT(store.used(), most / 2);
}

using state = claims::state;

constexpr claims::ages both_young{.own = 0us, .announced = 0us, .young = 4ms};

TEST(claims, hold_until_they_are_withdrawn_or_settled) {
  claims c;
  EXPECT_EQ(c.of(key(1)), state::free);
  c.claim(key(1), 2, at(5ms));
  c.claim(key(2), 2, at(6ms));
  EXPECT_EQ(c.of(key(1)), state::claimed);
  c.withdraw(key(1), 3);  // did not claim it
  EXPECT_EQ(c.of(key(1)), state::claimed);
  c.withdraw(key(1), 2);
  EXPECT_EQ(c.of(key(1)), state::free);
  c.settle(key(2));
  EXPECT_EQ(c.size(), 0u);
}

TEST(claims, are_as_old_as_the_first_that_lives) {
  claims c;
  EXPECT_FALSE(c.since(key(1)));
  c.claim(key(1), 2, at(5ms));
  c.claim(key(1), 0, at(8ms));
  c.claim(key(1), 0, at(7ms));
  c.claim(key(1), 2, at(9ms));
  EXPECT_EQ(c.since(key(1)), at(5ms));
  EXPECT_TRUE(c.lose(2).empty());
  EXPECT_EQ(c.since(key(1)), at(7ms));
}

TEST(claims, of_a_lost_node_leave_orphans) {
  claims c;
  c.claim(key(3), 1, at(1ms));
  c.claim(key(1), 1, at(1ms));
  c.claim(key(2), 1, at(1ms));
  c.claim(key(2), 0, at(1ms));
  c.claim(key(4), 0, at(1ms));
  EXPECT_EQ(c.lose(1), (std::vector{key(1), key(3)}));
  EXPECT_EQ(c.of(key(1)), state::orphan);
  EXPECT_EQ(c.of(key(2)), state::claimed);
  EXPECT_FALSE(c.since(key(1)));
  EXPECT_FALSE(c.yields(key(1), 5, both_young));
  c.claim(key(1), 1, at(2ms));  // was still on its way
  EXPECT_EQ(c.of(key(1)), state::orphan);
  c.withdraw(key(1), 1);
  EXPECT_EQ(c.of(key(1)), state::orphan);
  EXPECT_TRUE(c.lose(1).empty());
  c.claim(key(1), 0, at(3ms));
  EXPECT_EQ(c.of(key(1)), state::claimed);
  c.clear();
  c.claim(key(1), 1, at(4ms));
  EXPECT_EQ(c.of(key(1)), state::free);
}

// Of the living nodes that began a task one goes on, whatever the order in which claims arrive.
TEST(claims, make_all_claimants_yield_but_one) {
  std::mt19937 random(5);
  for (int n = 0; n < 300; ++n) {
    constexpr node_id nodes = 6;
    std::vector<node_id> claimants;
    for (node_id node = 0; node < nodes; ++node)
      if (random() % 2 == 0) claimants.push_back(node);
    if (claimants.empty()) continue;
    const auto dead = static_cast<node_id>(random() % nodes);
    std::vector<node_id> go_on;
    for (const node_id self : claimants) {
      claims c;
      std::vector<node_id> arriving = claimants;
      std::ranges::shuffle(arriving, random);
      for (const node_id other : arriving)
        if (other != self) c.claim(key(1), other, at(1ms));
      c.lose(dead);
      if (self != dead && !c.yields(key(1), self, both_young)) go_on.push_back(self);
    }
    std::erase(claimants, dead);
    if (!claimants.empty()) claimants.resize(1);  // the smallest that lives
    ASSERT_EQ(go_on, claimants);
  }
}

// Two nodes that run the same task receive the claims of each other, each at its time.
TEST(claims, make_one_of_two_yield_to_the_older_but_never_both) {
  constexpr std::chrono::microseconds young = 4ms;
  std::mt19937 random(6);
  const auto draw = [&](std::chrono::microseconds below) {
    return std::chrono::microseconds(random() % static_cast<unsigned>(below.count()));
  };
  unsigned yielded = 0;
  for (int n = 0; n < 20000; ++n) {
    const int times = n % 2 == 0 ? 10 : 1;  // many pairs must be young
    const std::chrono::microseconds began[2] = {draw(3ms * times), draw(3ms * times)};
    const std::chrono::microseconds announced[2] = {began[0] + draw(2ms * times),
                                                    began[1] + draw(2ms * times)};
    std::chrono::microseconds received[2] = {announced[1] + draw(1ms * times),
                                             announced[0] + draw(1ms * times)};
    bool stops[2]{};
    // In the order in which they receive. A node that has stopped before its turn sends nothing.
    for (const node_id self : {received[0] <= received[1] ? 0u : 1u, received[0] <= received[1] ? 1u : 0u}) {
      const node_id other = 1 - self;
      if (received[self] < began[self] || (stops[other] && received[other] < announced[other])) continue;
      claims c;
      c.claim(key(1), other, at(1ms));
      stops[self] = c.yields(key(1), self,
                             {.own = received[self] - began[self],
                              .announced = announced[other] - began[other],
                              .young = young});
    }
    ASSERT_FALSE(stops[0] && stops[1]) << n;
    yielded += stops[0] || stops[1];
    // Old enough when it announces the task, and for long before the other one began.
    const node_id older = began[0] < began[1] ? 0 : 1;
    const node_id later = 1 - older;
    if (received[later] >= began[later] && announced[older] - began[older] > received[later] - began[later] &&
        announced[older] - began[older] >= young && !stops[older]) {
      EXPECT_TRUE(stops[later]);
    }
  }
  EXPECT_GT(yielded, 5000u);
}

std::vector<note> all_kinds_of_notes(byte_view content, byte_view solutions = {}) {
  const task_key task{.high = 0x0102030405060708, .low = 0xf1f2f3f4f5f6f7f8};
  const task_key within{.high = 0x1112131415161718, .low = 0xe1e2e3e4e5e6e7e8};
  return {{.kind = note_kind::claim, .entry = 1, .task = task, .within = within, .time = 2ms},
          {.kind = note_kind::unclaim, .entry = 1ull << 40, .task = task},
          {.kind = note_kind::result,
           .entry = 3,
           .task = task,
           .within = within,
           .time = 1h,
           .solutions = solutions,
           .content = content},
          {.kind = note_kind::result, .entry = 3, .task = task},
          {.kind = note_kind::entry_result, .entry = 4, .solutions = solutions, .content = content},
          {.kind = note_kind::best, .entry = 9, .solutions = solutions},
          {.kind = note_kind::missing, .entry = 5, .task = name_of_entry},
          {.kind = note_kind::request, .entry = 6},
          {.kind = note_kind::given, .entry = 7, .within = within, .type = 1u << 31, .content = content},
          {.kind = note_kind::none, .entry = 8},
          {.kind = note_kind::differs, .entry = 10, .content = content},
          {.kind = note_kind::interest, .entry = 11, .content = content}};
}

TEST(notes, are_read_as_they_were_written) {
  const bytes content = filled(1'000, 9);
  const bytes solutions = filled(300, 4);
  for (const note& n : all_kinds_of_notes(content, solutions)) {
    const bytes written = write_note(n);
    const auto read = read_note(written);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kind, n.kind);
    EXPECT_EQ(read->entry, n.entry);
    EXPECT_EQ(read->task, n.task);
    EXPECT_EQ(read->within, n.within);
    EXPECT_EQ(read->time, n.time);
    EXPECT_EQ(read->type, n.type);
    EXPECT_TRUE(std::ranges::equal(read->solutions, n.solutions));
    EXPECT_TRUE(std::ranges::equal(read->content, n.content));
  }
}

TEST(notes, that_are_cut_or_too_long_are_refused) {
  for (const note& n : all_kinds_of_notes({})) {
    bytes written = write_note(n);
    for (std::size_t size = 0; size < written.size(); ++size)
      EXPECT_FALSE(read_note(byte_view(written).first(size))) << size;
    written.push_back(std::byte{1});
    const bool has_content = n.kind == note_kind::result || n.kind == note_kind::entry_result ||
                             n.kind == note_kind::given || n.kind == note_kind::differs ||
                             n.kind == note_kind::interest;
    EXPECT_EQ(read_note(written).has_value(), has_content);
  }
}

TEST(notes, without_entry_or_kind_or_possible_time_are_refused) {
  const bytes claim = write_note({.kind = note_kind::claim, .entry = 1, .task = key(1), .time = 1h});
  ASSERT_TRUE(read_note(claim));
  for (const auto kind : {0, static_cast<int>(note_kind::interest) + 1, 255}) {
    bytes other = claim;
    other[0] = static_cast<std::byte>(kind);
    EXPECT_FALSE(read_note(other));
  }
  bytes of_no_entry = claim;
  of_no_entry[1] = std::byte{0};
  EXPECT_FALSE(read_note(of_no_entry));
  bytes older = claim;
  older.back() = std::byte{0xff};
  EXPECT_FALSE(read_note(older));
}

TEST(notes, bound_their_times) {
  const auto time_of = [](std::chrono::microseconds time) {
    return read_note(write_note({.kind = note_kind::claim, .entry = 1, .time = time}))->time;
  };
  EXPECT_EQ(time_of(-5us), 0us);
  EXPECT_EQ(time_of(25h), 1h);
}

TEST(planned_start, gives_each_node_to_one_part) {
  for (node_id size = 1; size <= 20; ++size)
    for (std::uint32_t parts = 1; parts <= 20; ++parts) {
      const node_group group{.first = 3, .last = 3 + size};
      node_id next = group.first;
      node_id least = size;
      node_id most = 0;
      for (std::uint32_t part = 0; part < parts; ++part) {
        const node_group some = group_of_part(group, part, parts);
        ASSERT_EQ(some.first, next);
        ASSERT_LE(some.first, some.last);
        for (node_id node = some.first; node < some.last; ++node)
          ASSERT_EQ(first_part(group, node, parts), part);
        least = std::min(least, some.last - some.first);
        most = std::max(most, some.last - some.first);
        next = some.last;
      }
      ASSERT_EQ(next, group.last);
      ASSERT_LE(most - least, 1u);
    }
}

// Down a binary tree: nodes whose number is no power of two begin at different leaves, too.
TEST(planned_start, separates_all_nodes) {
  for (const node_id nodes : {1u, 2u, 3u, 7u, 64u, 1'000u}) {
    std::set<std::vector<std::uint32_t>> ways;
    for (node_id self = 0; self < nodes; ++self) {
      std::vector<std::uint32_t> way;
      for (node_group group{0, nodes}; group.last - group.first > 1;
           group = group_of_part(group, way.back(), 2))
        way.push_back(first_part(group, self, 2));
      ASSERT_LE(way.size(), 10u);
      ways.insert(way);
    }
    EXPECT_EQ(ways.size(), nodes);
  }
}

TEST(planned_start, is_exact_for_the_largest_numbers) {
  constexpr node_id most = ~node_id{0};
  EXPECT_EQ(group_of_part({0, most}, most - 1, most), (node_group{most - 1, most}));
  EXPECT_EQ(first_part({0, most}, most - 1, most), most - 1);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// One node under hierarchical omission among nodes that the tests play: which results it passes on, and when
// it takes itself for a newcomer.
#include "hope_support.hpp"
#include "protocol/entry_name.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace {

using namespace hope_support;
using hope::note;
using hope::note_kind;
using sukima::call;

/// A node that a test plays.
class played_node final : receiver {
 public:
  played_node(in_process_network& network, node_id self)
      : below_(network.join(self)), meets_([this] { below_->start(*this, clock::now() + 500s); }) {}
  ~played_node() { below_->stop({}); }
  played_node(const played_node&) = delete;
  played_node& operator=(const played_node&) = delete;

  /// Waits until all nodes have met.
  void meet() { meets_.join(); }
  void send(node_id to, const note& n) { EXPECT_TRUE(below_->send(to, hope::write_note(n))); }
  /// Waits for a note of a kind in an entry. \returns the first one
  note wait_for(note_kind kind, std::uint64_t entry) {
    while (number_of(kind, entry) == 0) below_->wait(clock::now() + 1s);
    return *hope::read_note(
        *std::ranges::find_if(got_, [&](const bytes& message) { return is(message, kind, entry); }));
  }
  std::size_t number_of(note_kind kind, std::uint64_t entry) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(got_, [&](const bytes& message) { return is(message, kind, entry); }));
  }

 private:
  static bool is(const bytes& message, note_kind kind, std::uint64_t entry) {
    const auto n = hope::read_note(message);
    return n && n->kind == kind && n->entry == entry;
  }
  void on_message(node_id /*from*/, byte_view message) override {
    got_.emplace_back(message.begin(), message.end());
  }
  void on_left(node_id /*node*/) override {}
  void on_lost(node_id /*node*/, const std::string& /*why*/) override {}

  std::vector<bytes> got_;
  std::unique_ptr<transport> below_;
  std::thread meets_;
};

/// The tested node is node 0.
struct played_run {
  explicit played_run(const hope::node_options& chosen)
      : first(network, 1), second(network, 2), tested(workers, network.join(0), chosen) {
    first.meet();
    second.meet();
  }
  template <class Call> long run(Call function) {
    sukima::detail::cluster_entry_of entry(std::move(function));
    tested.run(entry);
    return entry.take();
  }

  sukima::runtime workers{cluster_support::settings_of({})};
  in_process_network network{{.nodes = 3, .longest_delay = 0us}};
  played_node first;
  played_node second;
  hope::node tested;
};

/// The result of an entry as a node sends it.
template <class Call> bytes result_of(Call function, long result) {
  const sukima::detail::cluster_entry_of entry(std::move(function));
  bytes content;
  put_name(content, name_of(entry));
  sukima::detail::put_value(result, content);
  return content;
}

std::atomic<bool> may_end{false};

long waits(sukima::context c) {
  while (!may_end) {
    static_cast<void>(sukima::fork2(c, [] { return 0; }, [] { return 0; }));
    std::this_thread::yield();
  }
  return 7;
}
long returns(sukima::context) { return 7; }

// Node 2 asks the tested node, which asks node 1. The tested node has no memory to keep the answer.
TEST(hope_questions, are_answered_with_results_that_are_not_kept) {
  played_run p({.before_helping = 10h, .memory = 0});
  may_end = false;
  std::thread others([&] {
    const hope::task_key key{.high = 3, .low = 4};
    p.second.send(0, {.kind = note_kind::missing, .entry = 1, .task = key});
    EXPECT_EQ(p.first.wait_for(note_kind::missing, 1).task, key);
    const bytes content(3, std::byte{9});
    p.first.send(0, {.kind = note_kind::result, .entry = 1, .task = key, .time = 5ms, .content = content});
    const note answer = p.second.wait_for(note_kind::result, 1);
    EXPECT_EQ(answer.task, key);
    EXPECT_EQ(answer.time, 5ms);
    EXPECT_TRUE(std::ranges::equal(answer.content, content));
    may_end = true;
  });
  EXPECT_EQ(p.run(call<waits>()), 7);
  others.join();
}

TEST(hope_questions, are_answered_once_by_a_result_for_all) {
  played_run p({.before_helping = 10h});
  may_end = false;
  std::thread others([&] {
    p.second.send(0, {.kind = note_kind::missing, .entry = 1});
    p.first.wait_for(note_kind::missing, 1);
    may_end = true;
  });
  EXPECT_EQ(p.run(call<waits>()), 7);
  others.join();
  EXPECT_EQ(p.run(call<returns>()), 7);
  p.second.wait_for(note_kind::entry_result, 2);
  EXPECT_EQ(p.second.number_of(note_kind::entry_result, 1), 1u);
}

// The tested node has joined. Node 1 asks it for work in the first entry, and is in a later one afterwards.
TEST(hope_newcomers, ask_no_more_once_another_node_has_asked_for_work) {
  played_run p({.before_helping = 10h, .joins = true});
  may_end = false;
  std::thread others([&] {
    p.first.wait_for(note_kind::missing, 1);
    p.first.send(0, {.kind = note_kind::request, .entry = 1});
    p.first.send(0, {.kind = note_kind::claim, .entry = 9, .task = {.high = 1, .low = 1}});
    p.first.send(0, {.kind = note_kind::missing, .entry = 7});
    p.first.wait_for(note_kind::missing, 7);
    may_end = true;
  });
  EXPECT_EQ(p.run(call<waits>()), 7);
  others.join();
  EXPECT_EQ(p.run(call<returns>()), 7);
  p.first.wait_for(note_kind::entry_result, 2);
  EXPECT_EQ(p.first.number_of(note_kind::missing, 2), 0u);
}

// Node 1 ends the first entry, and is in no later one.
TEST(hope_newcomers, ask_no_more_once_a_result_has_come_in_time) {
  played_run p({.before_helping = 10h, .joins = true});
  may_end = false;
  std::thread others([&] {
    p.first.wait_for(note_kind::missing, 1);
    const bytes content = result_of(call<waits>(), 8);
    p.first.send(0, {.kind = note_kind::entry_result, .entry = 1, .content = content});
  });
  EXPECT_EQ(p.run(call<waits>()), 8);
  others.join();
  EXPECT_EQ(p.run(call<returns>()), 7);
  p.first.wait_for(note_kind::entry_result, 2);
  EXPECT_EQ(p.first.number_of(note_kind::missing, 2), 0u);
}

}  // namespace

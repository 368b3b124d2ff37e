// SPDX-License-Identifier: Apache-2.0
// Tasks that are too small for the way to a far node: the decisions without a network, and a node that is
// asked by one that says how far it is.
#include "steal/small_tasks.hpp"
#include "protocol/messages.hpp"
#include "steal/lifelines.hpp"
#include "support.hpp"

#include <atomic>
#include <deque>

namespace {

using namespace cluster_support;
using namespace sukima::cluster;
using sukima::call;

constexpr clock::time_point start{1s};
constexpr clock::time_point always{};
constexpr node_id near = 0, far = 1, farther = 2;

small_tasks tasks_for_three() {
  small_tasks t(3);
  t.set_round_trip(near, 999us);
  t.set_round_trip(far, 20ms);
  t.set_round_trip(farther, 200ms);
  return t;
}

TEST(small_tasks, leave_as_long_as_nothing_is_known) {
  small_tasks t = tasks_for_three();
  t.on_sent(farther, start);
  for (const node_id n : {near, far, farther}) EXPECT_EQ(t.gives_from(n), always);
}

TEST(small_tasks, stay_if_they_take_less_than_four_round_trips) {
  small_tasks t = tasks_for_three();
  t.on_sent(far, start);
  t.on_ended(80ms);
  EXPECT_EQ(t.gives_from(far), always);
  EXPECT_EQ(t.gives_from(farther), start + small_tasks::pause);
  for (int i = 0; i < 2; ++i) t.on_ended(80ms - 1ns);
  EXPECT_EQ(t.gives_from(far), start + small_tasks::pause);
  EXPECT_EQ(t.gives_from(near), always);
  t.set_round_trip(far, 19ms);
  EXPECT_EQ(t.gives_from(far), always) << "it is nearer than it seemed";
}

TEST(small_tasks, are_measured_without_the_way) {
  small_tasks t = tasks_for_three();
  t.on_sent(far, start);
  t.on_result(far, 100ms - 1ns);
  EXPECT_EQ(t.gives_from(far), start + small_tasks::pause);
  t.on_result(far, 100ms);
  EXPECT_EQ(t.gives_from(far), always) << "the longer one of two";
  for (int i = 0; i < 8; ++i) t.on_result(farther, 1ms);
  EXPECT_EQ(t.gives_from(far), start + small_tasks::pause);
}

TEST(small_tasks, leave_now_and_then_and_all_once_they_are_long) {
  small_tasks t = tasks_for_three();
  for (unsigned i = 0; i < small_tasks::remembered; ++i) t.on_ended(1ms);
  EXPECT_EQ(t.gives_from(far), always) << "none was sent far";
  t.on_sent(near, start);
  EXPECT_EQ(t.gives_from(far), always);
  clock::time_point now = start;
  for (const unsigned i : {0u, 1u, 2u}) {
    t.on_sent(far, now);
    EXPECT_EQ(t.gives_from(far), now + 100ms) << i;
    EXPECT_EQ(t.gives_from(farther), now + 100ms) << "one for all";
    now += 100ms;
    t.on_result(far, 10s);
  }
  t.on_sent(farther, now);
  EXPECT_EQ(t.gives_from(far), now + 4 * 200ms);
  t.on_result(farther, 10s);
  EXPECT_EQ(t.gives_from(far), always) << "half of the last eight are long";
  EXPECT_EQ(t.gives_from(farther), always);
}

TEST(small_tasks, keep_a_lifeline_waiting_until_one_may_leave) {
  small_tasks t = tasks_for_three();
  lifelines l;
  l.add(farther, 1);
  l.add(far, 1);
  EXPECT_EQ(l.next(1, t, start)->node, farther);
  t.on_ended(200ms);
  t.on_sent(farther, start);
  EXPECT_EQ(l.next(1, t, start)->node, far) << "200 ms are enough for it";
  t.on_ended(1ms);
  t.on_ended(1ms);
  EXPECT_EQ(l.next(1, t, start)->node, farther);
  EXPECT_EQ(l.next(1, t, start)->from, start + 800ms);
  l.add(near, 1);
  EXPECT_EQ(l.next(1, t, start)->node, near);
  EXPECT_EQ(l.next(1, t, start)->from, start);
  EXPECT_EQ(l.next(1, t, start + 800ms)->node, farther) << "the oldest first";
}

std::atomic<bool> is_over{false};

int nothing() { return 0; }
/// Has a small task for each node that asks, until it ends.
bool small_tasks_until_the_end(sukima::context c) {
  while (!is_over.load()) {
    static_cast<void>(sukima::fork2(c, nothing, call<nothing>()));
    std::this_thread::yield();
  }
  return true;
}

/// Node 1, which says what the test wants.
class scripted_node final : public receiver {
 public:
  explicit scripted_node(std::unique_ptr<transport> by) : transport_(std::move(by)) {}
  void meet() { transport_->start(*this, clock::now() + 500s); }
  void leave() { transport_->stop({}); }
  void on_message(node_id /*from*/, byte_view bytes_of_message) override {
    const auto m = read_message(bytes_of_message);
    ASSERT_TRUE(m);
    // The other node asks, too, while it has no entry; it gets no answer.
    if (m->kind == message_kind::request || m->kind == message_kind::lifeline) return;
    came_.push_back({m->kind, m->id, m->request});
  }
  void on_left(node_id /*node*/) override {}
  void on_lost(node_id /*node*/, const std::string& why) override { ADD_FAILURE() << why; }

  void send(const message& m) { ASSERT_TRUE(transport_->send(0, write_message(m))); }
  void request(std::uint64_t number, std::chrono::microseconds trip) {
    send({.kind = message_kind::request,
          .entry = 1,
          .request = number,
          .round_trip = static_cast<std::uint32_t>(trip.count())});
  }
  void lifeline(std::chrono::microseconds trip) {
    send(
        {.kind = message_kind::lifeline, .entry = 1, .round_trip = static_cast<std::uint32_t>(trip.count())});
  }
  struct answer {
    message_kind kind;
    std::uint64_t id;
    std::uint64_t request;
  };
  /// The next message; a task in it has ended at once.
  answer next() {
    while (came_.empty()) transport_->wait(clock::now() + 1h);
    const answer first = came_.front();
    came_.pop_front();
    const bytes result(sizeof(int));
    if (first.kind == message_kind::task)
      send({.kind = message_kind::result, .id = first.id, .content = result});
    return first;
  }
  /// The answer to that request comes before a task for a lifeline. \returns true: it is a task
  bool gets_task(std::uint64_t number, std::chrono::microseconds trip) {
    request(number, trip);
    const answer a = next();
    EXPECT_EQ(a.request, number);
    return a.kind == message_kind::task;
  }

 private:
  const std::unique_ptr<transport> transport_;
  std::deque<answer> came_;
};

TEST(small_tasks, stay_in_a_node_that_far_ones_ask) {
  is_over = false;
  sukima::runtime workers(settings_of({}));
  in_process_network network({.nodes = 2});
  scripted_node asks(network.join(1));
  node_options options;
  options.on_failure = [](const run_failure& why) {
    ADD_FAILURE() << why.sentence;
    std::abort();
  };
  std::thread main([&] {
    node asked(workers, network.join(0), std::move(options));
    sukima::detail::cluster_entry_of entry(call<small_tasks_until_the_end>());
    asked.run(entry);
  });
  asks.meet();
  std::uint64_t number = 0;
  while (!asks.gets_task(++number, 25ms)) std::this_thread::yield();  // until the entry has begun there
  for (int i = 0; i < 2; ++i) {
    asks.lifeline(25ms);
    EXPECT_EQ(asks.next().request, 0u) << "one is sent after a while, although nothing else happens";
  }
  while (!asks.gets_task(++number, 1h)) std::this_thread::yield();  // after a while, too
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(asks.gets_task(++number, 1h)) << "for four hours";
  asks.lifeline(1h);
  for (int i = 0; i < 50; ++i) EXPECT_FALSE(asks.gets_task(++number, 1h)) << "as before";
  asks.lifeline(999us);
  const auto given = asks.next();
  EXPECT_EQ(given.kind, message_kind::task) << "near nodes get all";
  EXPECT_EQ(given.request, 0u);
  while (!asks.gets_task(++number, 999us)) std::this_thread::yield();
  is_over = true;
  EXPECT_EQ(asks.next().kind, message_kind::entry);
  asks.leave();
  main.join();
}

}  // namespace

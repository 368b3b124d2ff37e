// SPDX-License-Identifier: Apache-2.0
// A node that joins nodes that steal, over TCP: what it and node 0 send each other, and what follows if it
// vanishes.
#include "entry/forms.hpp"
#include "joining_support.hpp"
#include "protocol/entry_name.hpp"
#include "steal/past_results.hpp"
#include "support.hpp"
#include "transport/tcp_address.hpp"

#include <sukima/cluster/best_solution.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace joining_support;
using cluster_support::forwarding_transport;
using sukima::call;
using sukima::context;

long task_of_node_0() { return 7; }
/// Returns its argument. Its fork makes `task_of_node_0` known as a task that travels.
long identity(context c, long number) {
  sukima::fork2(c, call<task_of_node_0>(), call<task_of_node_0>());
  return number;
}

sukima::settings one_worker() { return cluster_support::settings_of(cluster_support::shape{.workers = 1}); }

node_options options_of(bool joins) {
  node_options options;
  options.joins = joins;
  options.on_failure = [](const run_failure& why) {
    std::fprintf(stderr, "%s\n", why.sentence.c_str());
    std::abort();
  };
  return options;
}

/// What node 0 sends as the result of `identity`.
bytes result_of(long number) {
  sukima::runtime own(one_worker());
  sukima::detail::cluster_entry_of called(call<identity>(std::move(number)));
  own.run([&](context c) { called.run(called, c); });
  bytes to;
  put_name(to, name_of(called));
  called.put(called, to);
  return to;
}

long run_on(node& of, long number) {
  sukima::detail::cluster_entry_of called(call<identity>(std::move(number)));
  of.run(called);
  return called.take();
}

/// A transport that records that its node has begun an entry.
class begin_watch final : public forwarding_transport {
 public:
  begin_watch(std::unique_ptr<transport> by, std::atomic<bool>& begun)
      : forwarding_transport(std::move(by)), begun_(begun) {}
  void ring() noexcept override {  // first of all by the thread that begins the entry
    begun_ = true;
    forwarding_transport::ring();
  }

 private:
  std::atomic<bool>& begun_;
};

/// Node 0, where two entries had ended. It sends the first result, and waits for the question about the
/// second one. A request of its own shows that the newcomer asks nothing else until then.
class scripted_node_0 final : public receiver {
 public:
  explicit scripted_node_0(const listening& at)
      : transport_(make_tcp_transport(running(0, 2, 1, at, mode::steals))) {}
  std::atomic<bool> newcomer_has_begun{false};

  void serve() {
    transport_->start(*this, clock::now() + patience);
    while (step_ != step::left) {
      transport_->wait(clock::now() + 1ms);
      if (step_ == step::joined && newcomer_has_begun) {
        advance(step::joined, step::asked);
        send({.kind = message_kind::request, .entry = 1, .request = 1});
      }
    }
    transport_->stop(1s);
  }
  void on_joined(node_id node) override {
    EXPECT_EQ(node, 1u);
    advance(step::begins, step::joined);
  }
  void on_message(node_id /*from*/, byte_view bytes_of_message) override {
    const message m = read_message(bytes_of_message).value();
    switch (m.kind) {
      case message_kind::none:
        answered();
        return;
      case message_kind::missing:
        EXPECT_EQ(m.entry, 2u);
        EXPECT_EQ(m.id, 2u);
        advance(step::welcome, step::asked_again);
        send({.kind = message_kind::request, .entry = 1, .request = 2});
        return;
      case message_kind::request:
      case message_kind::lifeline:
        EXPECT_EQ(m.entry, 3u);
        if (step_ != step::caught_up) return;
        advance(step::caught_up, step::given);
        send({.kind = message_kind::task,
              .entry = 3,
              .function = form_table()
                              .number_of(sukima::detail::travels<decltype(call<task_of_node_0>())>::form)
                              .value(),
              .id = 1,
              .request = m.request});
        return;
      case message_kind::declined:  // its worker was busy for a moment
        advance(step::given, step::caught_up);
        return;
      case message_kind::result:
        advance(step::given, step::done);
        send_result(3, 0);
        return;
      default:
        ADD_FAILURE() << static_cast<int>(m.kind);
    }
  }
  void on_left(node_id /*node*/) override {
    if (step_ != step::begins) advance(step::done, step::left);
  }
  void on_lost(node_id /*node*/, const std::string& why) override {
    ADD_FAILURE() << why;
    step_ = step::left;
  }

 private:
  enum class step : std::uint8_t {
    begins,
    joined,
    asked,
    welcome,
    asked_again,
    caught_up,
    given,
    done,
    left
  };
  void advance(step from, step to) {
    EXPECT_EQ(static_cast<int>(step_), static_cast<int>(from));
    step_ = to;
  }
  void answered() {
    if (step_ == step::asked) {
      advance(step::asked, step::welcome);
      send({.kind = message_kind::welcome, .entry = 2, .id = 1});
      send_result(1, 1);
      return;
    }
    advance(step::asked_again, step::caught_up);
    send_result(2, 2);
  }
  void send_result(std::uint32_t entry, std::uint64_t until) {
    send({.kind = message_kind::entry, .entry = entry, .id = until, .content = result_of(10 * long{entry})});
  }
  void send(const message& m) { EXPECT_TRUE(transport_->send(1, write_message(m))); }

  const std::unique_ptr<transport> transport_;
  step step_ = step::begins;  ///< for its thread
};

TEST(stealing_join, takes_results_until_it_has_reached_the_others) {
  const listening at;
  scripted_node_0 other(at);
  std::thread others([&other] { other.serve(); });
  {
    sukima::runtime workers(one_worker());
    const place given = ask_at(at.port, mode::steals);
    auto by = make_tcp_transport(with_place(asking(at.port, mode::steals), given));
    node tested(workers, std::make_unique<begin_watch>(std::move(by), other.newcomer_has_begun),
                options_of(true));
    for (const long expected : {10L, 20L, 30L}) EXPECT_EQ(run_on(tested, -1), expected);
  }
  others.join();
}

/// A process that joins, and keeps what it gets.
struct collector {
  explicit collector(std::uint16_t port, const place& given)
      : self(make_tcp_transport(with_place(asking(port, mode::steals), given))) {
    to.thread = std::this_thread::get_id();
    self->start(to, clock::now() + patience);
  }
  ~collector() { self->stop(1s); }
  collector(const collector&) = delete;
  collector& operator=(const collector&) = delete;
  /// Waits for so many messages in all.
  void wait_for(std::size_t messages) {
    while (to.count("message") < messages) self->wait(clock::now() + 1ms);
  }
  /// Waits for such a message.
  void wait_for(const std::function<bool(const message&)>& is_wanted) {
    const auto is_such = [&](const letter& l) {
      return l.kind == "message" && is_wanted(read_message(l.content).value());
    };
    while (std::ranges::none_of(to.got, is_such)) self->wait(clock::now() + 1ms);
  }
  void ask(std::uint32_t first, std::uint32_t last) const {
    self->send(0, write_message({.kind = message_kind::missing, .entry = first, .id = last}));
  }
  /// A message of node 0.
  message at(std::size_t number) const {
    std::size_t seen = 0;
    for (const letter& l : to.got)
      if (l.kind == "message" && seen++ == number) return read_message(l.content).value();
    ADD_FAILURE() << number;
    return {};
  }
  const std::unique_ptr<transport> self;
  listener to;
};

TEST(stealing_join, receives_what_has_ended) {
  const listening at;
  sukima::runtime workers(one_worker());
  node tested(workers, make_tcp_transport(running(0, 3, 2, at, mode::steals)), options_of(false));
  {
    // The program does not wait until its node has seen the end of an entry. This newcomer does.
    collector witness(at.port, ask_at(at.port, mode::steals));
    witness.wait_for([](const message& m) { return m.kind == message_kind::welcome; });
    for (const long number : {10L, 20L, 30L}) EXPECT_EQ(run_on(tested, number), number);
    witness.wait_for([](const message& m) { return m.kind == message_kind::entry && m.entry == 3; });
  }
  collector newcomer(at.port, ask_at(at.port, mode::steals));
  newcomer.ask(2, 3);
  newcomer.wait_for(6);
  EXPECT_EQ(newcomer.at(0).kind, message_kind::welcome);
  EXPECT_EQ(newcomer.at(0).entry, 3u);
  EXPECT_EQ(newcomer.at(0).id, 3u);
  for (const auto& [number, entry] : {std::pair(1u, 1u), {2u, 2u}, {3u, 3u}, {4u, 2u}, {5u, 3u}}) {
    const message m = newcomer.at(number);
    EXPECT_EQ(m.kind, message_kind::entry);
    EXPECT_EQ(m.entry, entry);
    EXPECT_EQ(m.id, 3u);
    EXPECT_TRUE(std::ranges::equal(m.content, result_of(10 * long{entry})));
  }
  EXPECT_EQ(run_on(tested, 40), 40);
  newcomer.wait_for(7);
  EXPECT_EQ(newcomer.at(6).entry, 4u);
  EXPECT_EQ(newcomer.at(6).id, 0u);
}

TEST(stealing_join, is_refused_when_results_are_not_kept) {
  const listening at;
  sukima::runtime workers(one_worker());
  node_options options = options_of(false);
  options.most_kept = 0;
  node tested(workers, make_tcp_transport(running(0, 4, 3, at, mode::steals)), std::move(options));
  collector witness(at.port, ask_at(at.port, mode::steals));
  witness.wait_for([](const message& m) { return m.kind == message_kind::welcome; });
  const place early = ask_at(at.port, mode::steals);
  run_on(tested, 1);
  witness.wait_for([](const message& m) { return m.kind == message_kind::entry; });
  const std::string sentence =
      "the results of the first 1 entries take more than 0 MiB and are not kept, so no more nodes can "
      "join this run";
  try {
    ask_at(at.port, mode::steals);
    ADD_FAILURE() << "it may join";
  } catch (const start_failure& failure) {
    EXPECT_EQ(std::string(failure.what()), sentence);
  }
  collector newcomer(at.port, early);
  newcomer.wait_for(1);
  EXPECT_EQ(newcomer.at(0).kind, message_kind::differs);
  EXPECT_TRUE(std::ranges::equal(newcomer.at(0).content, std::as_bytes(std::span(sentence))));
}

/// Lets an entry of node 0 end.
std::latch may_end{1};
sukima::cluster::best_solution<unsigned, int, std::greater<>> best("best", 0);

long waits() {
  best.offer(5, 8);
  may_end.wait();
  return 7;
}

TEST(stealing_join, is_asked_for_tasks_and_receives_the_best_solution) {
  const listening at;
  sukima::settings two_workers = one_worker();
  two_workers.workers = 2;  // one of them is idle
  sukima::runtime workers(two_workers);
  node tested(workers, make_tcp_transport(running(0, 2, 1, at, mode::steals)), options_of(false));
  std::thread others([&tested] {
    sukima::detail::cluster_entry_of called(call<waits>());
    tested.run(called);
  });
  {
    collector newcomer(at.port, ask_at(at.port, mode::steals));
    newcomer.wait_for([](const message& m) { return m.kind == message_kind::lifeline && m.entry == 1; });
    newcomer.wait_for([](const message& m) { return m.kind == message_kind::best && m.entry == 1; });
  }
  may_end.count_down();
  others.join();
}

entry_result result_with(std::size_t size) { return {outcome::ok, bytes(size), {}}; }

TEST(stealing_join, keeps_all_results_or_none) {
  past_results kept(2 * past_results::overhead + 100);
  EXPECT_EQ(kept.end_of_answer(1, 0), 0u);
  kept.add(result_with(50));
  kept.add(result_with(50));
  EXPECT_TRUE(kept.are_kept());
  EXPECT_EQ(kept.count(), 2u);
  EXPECT_EQ(kept.of(2).content.size(), 50u);
  kept.add(result_with(0));
  EXPECT_FALSE(kept.are_kept());
  EXPECT_EQ(kept.count(), 3u);
}

TEST(stealing_join, sends_large_results_one_by_one) {
  past_results kept(std::size_t{100} << 20);
  for (const std::size_t size : {std::size_t{1}, past_results::most_at_once, std::size_t{2}, std::size_t{3}})
    kept.add(result_with(size));
  EXPECT_EQ(kept.end_of_answer(1, 4), 2u);
  EXPECT_EQ(kept.end_of_answer(2, 4), 2u);
  EXPECT_EQ(kept.end_of_answer(3, 4), 4u);
  EXPECT_EQ(kept.end_of_answer(3, 3), 3u);
}

TEST(stealing_join, is_refused_once_node_0_has_ended) {
  const listening at;
  const std::set<std::uint16_t> before = listening_ports();
  auto first = std::make_unique<running_node>(running(0, 3, 1, at, mode::steals));
  const running_node second(running(1, 3, 1, at, mode::steals));
  first->wait_until_met();
  second.wait_until_met();
  std::set<std::uint16_t> there = listening_ports();
  for (const std::uint16_t port : before) there.erase(port);
  ASSERT_EQ(there.size(), 1u);
  first.reset();
  second.wait_until_left(0);
  try {
    ask_at(*there.begin(), mode::steals);
    ADD_FAILURE() << "it may join";
  } catch (const start_failure& failure) {
    EXPECT_EQ(std::string(failure.what()),
              "node 0 has ended its program, so no more nodes can join this run");
  }
}

TEST(stealing_join, does_not_end_the_meeting_of_the_others_if_it_vanishes) {
  const listening at;
  const running_node first(running(0, 3, 1, at, mode::steals));
  {
    const silent_node newcomer(connect_to(at.port), handshake::role::connector, 2, 3, 9);
  }
  const running_node second(running(1, 3, 1, at, mode::steals));
  first.wait_until_met();
  second.wait_until_met();
}

TEST(stealing_join, does_not_report_others_as_lost) {
  const listening at;
  const running_node second(running(1, 3, 1, at, mode::steals));
  const auto self = make_tcp_transport(running(0, 3, 1, at, mode::steals));
  listener to;
  to.thread = std::this_thread::get_id();
  self->start(to, clock::now() + patience);
  std::atomic<bool> ends{false};
  std::thread others([&] {
    silent_node newcomer(connect_to(at.port), handshake::role::connector, 2, 3, 9);
    newcomer.say({frame_kind::lost, number(1)});
    newcomer.say({frame_kind::data, number(2)});
    while (!ends) std::this_thread::yield();
  });
  while (to.count("message") == 0) self->wait(clock::now() + 1ms);
  EXPECT_EQ(to.count("lost"), 0u);
  ends = true;
  others.join();
  self->stop(1s);
}

TEST(stealing_join, goes_on_without_a_listed_node_that_has_ended) {
  const listening at;
  const listening ended;
  close(ended.socket);
  std::atomic<bool> has_met{false};
  std::thread sponsor([&] {
    silent_node node_0(accept(at.socket, nullptr, nullptr), handshake::role::acceptor, 0, 4, at.port);
    node_0.say({frame_kind::members, write_members({{"127.0.0.1", ended.port}, {}, {}})});
    while (!has_met) std::this_thread::yield();
  });
  listener to;
  to.thread = std::this_thread::get_id();
  const place given{.nodes = 4, .room = 2, .node = 2, .sponsor = 0};
  const auto self = make_tcp_transport(with_place(asking(at.port, mode::steals), given));
  EXPECT_EQ(self->start(to, clock::now() + patience), 2u);
  EXPECT_TRUE(std::ranges::any_of(to.got, [](const letter& l) { return l.kind == "left" && l.from == 1; }));
  EXPECT_EQ(to.count("lost"), 0u);
  has_met = true;
  sponsor.join();
  close(at.socket);
}

TEST(stealing_join, receives_the_end_of_a_node_that_leaves) {
  const listening at;
  std::atomic<bool> has_met{false};
  std::thread others([&] {
    silent_node node_0(accept(at.socket, nullptr, nullptr), handshake::role::acceptor, 0, 3, at.port);
    node_0.say({frame_kind::members, write_members({{"127.0.0.1", node_0.port_of_other()}, {}})});
    while (!has_met) std::this_thread::yield();
    silent_node newcomer(connect_to(node_0.port_of_other()), handshake::role::connector, 2, 3, 9);
    const auto end = newcomer.next();
    EXPECT_TRUE(end && end->kind == frame_kind::leave);
    EXPECT_FALSE(newcomer.next());
  });
  listener to;
  to.thread = std::this_thread::get_id();
  const auto self = make_tcp_transport(running(1, 3, 1, at, mode::steals));
  EXPECT_EQ(self->start(to, clock::now() + patience), 1u);
  has_met = true;
  self->stop(patience);  // node 0 stays until the newcomer has come
  others.join();
  close(at.socket);
}

/// Meets node 0, which lists another newcomer that hangs, as node 3 of four.
struct meeting_beside_a_hung_newcomer {
  const listening at;
  const listening hung;  // the kernel takes connections, and no process answers
  ~meeting_beside_a_hung_newcomer() {
    close(at.socket);
    close(hung.socket);
  }
  /// \param report  whether node 0 reports the loss of the other newcomer
  void meet(clock::time_point deadline, bool report) const {
    std::atomic<bool> has_met{false};
    std::thread sponsor([&] {
      silent_node node_0(accept(at.socket, nullptr, nullptr), handshake::role::acceptor, 0, 4, at.port);
      node_0.say({frame_kind::members, write_members({{}, {"127.0.0.1", hung.port}, {}})});
      if (report) node_0.say({frame_kind::lost, number(2)});
      while (!has_met) std::this_thread::yield();
    });
    listener to;
    to.thread = std::this_thread::get_id();
    const place given{.nodes = 4, .room = 2, .node = 3, .sponsor = 0};
    tcp_settings s = with_place(asking(at.port, mode::steals), given);
    s.heartbeat.silent_beats = 0;
    const auto self = make_tcp_transport(std::move(s));
    std::string failure;
    try {
      EXPECT_EQ(self->start(to, deadline), 3u);
      EXPECT_TRUE(
          std::ranges::any_of(to.got, [](const letter& l) { return l.kind == "left" && l.from == 2; }));
      EXPECT_EQ(to.count("lost"), 0u);
    } catch (const start_failure& why) {
      failure = why.what();
    }
    has_met = true;
    sponsor.join();
    if (!failure.empty()) throw start_failure(failure);
  }
};

TEST(stealing_join, goes_on_without_another_newcomer_that_is_lost) {
  meeting_beside_a_hung_newcomer().meet(clock::now() + patience, true);
}

TEST(stealing_join, goes_on_without_another_newcomer_that_does_not_come_in_time) {
  const meeting_beside_a_hung_newcomer beside;
  for (auto time = 500ms;; time *= 2) {
    try {
      beside.meet(clock::now() + time, false);
      return;
    } catch (const start_failure& failure) {  // too early for the list of node 0
      const std::string why = failure.what();
      ASSERT_TRUE(why.find("gave this node its number") != std::string::npos) << why;
    }
  }
}

}  // namespace

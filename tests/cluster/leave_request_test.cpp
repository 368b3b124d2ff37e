// SPDX-License-Identifier: Apache-2.0
// A node that is asked to leave: it declines the task that is under way to it, asks for no other, and ends
// once the result of the task that it has is sent.
#include "support.hpp"

#include "entry/forms.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace cluster_support;
using namespace sukima::cluster;
using sukima::call;

constexpr int status_wrong = 3;

/// Asks its node to leave when the test wants that, and refuses the node's result a few times. A node that
/// has begun to wait for its end asks what others have taken.
class asking_transport final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  /// Any thread.
  void ask() {
    is_asked_ = true;
    ring();
  }
  void wait(sukima::cluster::clock::time_point until) override {
    forwarding_transport::wait(until);
    if (is_asked_.exchange(false)) on_leave_request();
  }
  bool send(node_id to, bytes&& message) override {
    if (read_message(message).value().kind == message_kind::result && refusals_ != 0) {
      --refusals_;
      return false;
    }
    return forwarding_transport::send(to, std::move(message));
  }
  std::uint64_t taken_by(node_id to) override {
    if (refusals_ != 0) std::_Exit(status_wrong);
    return forwarding_transport::taken_by(to);
  }

 private:
  std::atomic<bool> is_asked_{false};
  int refusals_ = 5;  ///< for the node's thread
};

asking_transport* own = nullptr;
std::latch may_end{1};

long asks_its_node_to_leave() {
  own->ask();
  may_end.wait();
  return 7;
}

[[noreturn]] long must_not_run() { std::_Exit(status_wrong); }

template <class Call> std::uint32_t number_of(Call /*function*/) {
  return form_table().number_of(sukima::detail::travels<Call>::form).value();
}

/// Node 0, which gives one task, and another one when node 1 announces that it leaves.
class owner final : public receiver {
 public:
  explicit owner(in_process_network& network) : transport_(network.join(0)) {}
  void meet() { transport_->start(*this, clock::now() + 500s); }
  [[noreturn]] void serve() {
    for (;;) transport_->wait(clock::now() + 500s);
  }
  /// Returns once node 1 has left as it should. Any thread.
  void wait_for_end() { left_.wait(); }
  void on_message(node_id from, byte_view bytes_of_message) override {
    const message m = read_message(bytes_of_message).value();
    switch (m.kind) {
      case message_kind::request:
      case message_kind::lifeline:
        check(step_ <= step::given);
        if (step_ == step::given) return;
        step_ = step::given;
        send(from, m, first, number_of(call<asks_its_node_to_leave>()));
        return;
      case message_kind::leaves:
        advance(step::given, step::leaves);
        send(from, m, second, number_of(call<must_not_run>()));
        return;
      case message_kind::declined:
        check(m.id == second);
        advance(step::leaves, step::declined);
        may_end.count_down();
        return;
      case message_kind::result:
        check(m.id == first && m.how == outcome::ok);
        advance(step::declined, step::done);
        return;
      default:
        check(false);
    }
  }
  void on_left(node_id /*node*/) override {
    check(step_ == step::done);
    left_.count_down();
  }
  void on_lost(node_id /*node*/, const std::string& /*why*/) override { check(false); }

 private:
  enum class step : std::uint8_t { begins, given, leaves, declined, done };
  static constexpr std::uint64_t first = 5;
  static constexpr std::uint64_t second = 6;

  static void check(bool is_right) {
    if (!is_right) std::_Exit(status_wrong);
  }
  void advance(step from, step to) {
    check(step_ == from);
    step_ = to;
  }
  void send(node_id to, const message& asked, std::uint64_t id, std::uint32_t function) {
    transport_->send(to, write_message({.kind = message_kind::task,
                                        .entry = 1,
                                        .function = function,
                                        .id = id,
                                        .request = asked.request}));
  }

  std::unique_ptr<transport> transport_;
  step step_ = step::begins;  ///< for its thread
  std::latch left_{1};
};

long entry(sukima::context c) {
  const auto [a, b] = sukima::fork2(c, call<asks_its_node_to_leave>(), call<asks_its_node_to_leave>());
  const auto [d, e] = sukima::fork2(c, call<must_not_run>(), call<must_not_run>());
  return a + b + d + e;
}

void leaves() {
  in_process_network network({.nodes = 2});
  owner other(network);
  std::thread meets([&] {
    other.meet();
    other.serve();
  });
  sukima::runtime workers(settings_of({.workers = 3}));
  node_options options;
  options.on_own_leaving = [&](const traffic&) {
    other.wait_for_end();
    std::_Exit(0);
  };
  auto by = std::make_unique<asking_transport>(network.join(1));
  own = by.get();
  node tested(workers, std::move(by), std::move(options));
  sukima::detail::cluster_entry_of called(call<entry>());
  tested.run(called);
}

/// Asks its node, which is node 1, to leave, and then lets node 2 join.
class late_joining_transport final : public forwarding_transport {
 public:
  using forwarding_transport::forwarding_transport;
  void wait(sukima::cluster::clock::time_point /*until*/) override {
    if (has_joined_) std::_Exit(status_wrong);
    on_left(2);  // its number is free
    on_leave_request();
    has_joined_ = true;
    on_joined(2);
  }
  bool send(node_id to, bytes&& message) override {
    if (to == 2 && has_joined_ && read_message(message).value().kind == message_kind::leaves) std::_Exit(0);
    return forwarding_transport::send(to, std::move(message));
  }

 private:
  bool has_joined_ = false;
};

/// A node that only meets the others.
struct idle final : receiver {
  void on_message(node_id /*from*/, byte_view /*message*/) override {}
  void on_left(node_id /*node*/) override {}
  void on_lost(node_id /*node*/, const std::string& /*why*/) override {}
};

void leaves_when_another_one_joins() {
  in_process_network network({.nodes = 3});
  const auto meets = [&network](node_id self) {
    idle to;
    network.join(self)->start(to, clock::now() + 500s);
  };
  std::thread first(meets, 0);
  std::thread second(meets, 2);
  sukima::runtime workers(settings_of({}));
  node tested(workers, std::make_unique<late_joining_transport>(network.join(1)), node_options());
  for (;;) std::this_thread::yield();
}

TEST(leave_request_death_test, is_announced_to_a_node_that_joins_later) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(leaves_when_another_one_joins(), testing::ExitedWithCode(0), "");
}

TEST(leave_request_death_test, is_granted_when_the_tasks_are_done) {
  GTEST_FLAG_SET(death_test_style, SUKIMA_DEATH_TEST_STYLE);
  EXPECT_EXIT(leaves(), testing::ExitedWithCode(0),
              "sukima: node 1 will leave when it has finished its tasks");
}

}  // namespace

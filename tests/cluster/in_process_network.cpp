// SPDX-License-Identifier: Apache-2.0
#include "in_process_network.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <random>

namespace sukima::cluster {

namespace {

enum class event : std::uint8_t { message, left, lost };

struct letter {
  clock::time_point due;
  std::uint64_t number;  ///< in the order of sending: letters that are due at once keep it
  node_id from;
  event type;
  bytes content;
};
struct later {
  bool operator()(const letter& a, const letter& b) const noexcept {
    return a.due != b.due ? a.due > b.due : a.number > b.number;
  }
};

}  // namespace

/// All of it is guarded by `lock`, one for the network: tests have few nodes.
struct in_process_network::shared_state {
  struct node {
    std::priority_queue<letter, std::vector<letter>, later> inbox;
    std::vector<clock::time_point> last_due;  ///< of what each other node has sent to this one
    std::vector<std::size_t> queued;          ///< bytes that each other node has on the way to this one
    std::vector<std::uint64_t> taken;         ///< bytes that it has got of each other node
    std::condition_variable changed;
    bool rung = false;
    bool started = false;
    bool gone = false;
  };

  explicit shared_state(const options& chosen_options)
      : chosen(chosen_options), draws(chosen_options.seed), nodes(chosen_options.nodes) {
    for (node& n : nodes) {
      n.last_due.resize(chosen.nodes);
      n.queued.resize(chosen.nodes);
      n.taken.resize(chosen.nodes);
    }
  }

  std::chrono::nanoseconds delay() {
    const auto longest = std::chrono::nanoseconds(chosen.longest_delay).count();
    if (longest == 0) return {};
    // Many short ones and a few long ones: so letters of other pairs overtake.
    const std::uint64_t draw = draws();
    const auto most = draw % 16 == 0 ? longest : longest / 8 + 1;
    return std::chrono::nanoseconds(
        static_cast<std::int64_t>((draw >> 8) % static_cast<std::uint64_t>(most)));
  }
  void post(node_id from, node_id to, event type, bytes content) {
    node& n = nodes[to];
    const clock::time_point due = std::max(clock::now() + delay(), n.last_due[from]);
    n.last_due[from] = due;
    n.queued[from] += content.size();
    n.inbox.push({due, ++letters, from, type, std::move(content)});
    n.changed.notify_all();
  }
  void leave(node_id gone, event type) {
    if (nodes[gone].gone) return;
    nodes[gone].gone = true;
    nodes[gone].changed.notify_all();
    for (node_id other = 0; other < chosen.nodes; ++other)
      if (other != gone && !nodes[other].gone) post(gone, other, type, {});
  }

  const options chosen;
  std::mutex lock;
  std::mt19937_64 draws;
  std::uint64_t letters = 0;
  std::vector<node> nodes;
};

namespace {

class in_process_transport final : public transport {
 public:
  in_process_transport(std::shared_ptr<in_process_network::shared_state> state, node_id node)
      : state_(std::move(state)), self_(node) {}

  node_id start(receiver& to, clock::time_point deadline) override {
    receiver_ = &to;
    std::unique_lock hold(state_->lock);
    state_->nodes[self_].started = true;
    for (auto& n : state_->nodes) n.changed.notify_all();
    const auto all_here = [&] {
      return std::all_of(state_->nodes.begin(), state_->nodes.end(), [](const auto& n) { return n.started; });
    };
    if (!state_->nodes[self_].changed.wait_until(hold, deadline, all_here))
      throw start_failure("a node did not start in time");
    return self_;
  }
  unsigned nodes() const noexcept override { return state_->chosen.nodes; }

  bool send(node_id to, bytes&& message) override {
    if (message.size() > largest_message) throw std::length_error("sukima: a message is too long");
    const std::lock_guard hold(state_->lock);
    if (state_->nodes[self_].gone || state_->nodes[to].gone) return false;
    if (state_->nodes[to].queued[self_] > most_queued) return false;
    state_->post(self_, to, event::message, std::move(message));
    return true;
  }

  void wait(clock::time_point until) override {
    std::vector<letter> due;
    {
      std::unique_lock hold(state_->lock);
      auto& me = state_->nodes[self_];
      for (;;) {
        const clock::time_point now = clock::now();
        while (!me.gone && !me.inbox.empty() && me.inbox.top().due <= now) {
          due.push_back(std::move(const_cast<letter&>(me.inbox.top())));  // it is removed at once
          me.inbox.pop();
          me.queued[due.back().from] -= due.back().content.size();
          me.taken[due.back().from] += due.back().content.size();
        }
        if (me.rung || !due.empty() || now >= until) break;
        // A copy: wait_until reads it again after the wait, when the letter may be elsewhere.
        clock::time_point next = until;
        if (!me.gone && !me.inbox.empty()) next = std::min(next, me.inbox.top().due);
        me.changed.wait_until(hold, next);
      }
      me.rung = false;
    }
    for (const letter& l : due) deliver(l);
  }

  void ring() noexcept override {
    const std::lock_guard hold(state_->lock);
    state_->nodes[self_].rung = true;
    state_->nodes[self_].changed.notify_all();
  }
  transport_limits can() const noexcept override {
    return {.sees_losses = true, .takes_joins = false, .is_sparse = state_->chosen.is_sparse};
  }
  std::uint64_t taken_by(node_id to) override {
    const std::lock_guard hold(state_->lock);
    return state_->nodes[to].taken[self_];
  }
  void stop(std::chrono::milliseconds /*patience*/) noexcept override {
    const std::lock_guard hold(state_->lock);
    state_->leave(self_, event::left);
  }

 private:
  void deliver(const letter& l) {
    switch (l.type) {
      case event::message:
        receiver_->on_message(l.from, l.content);
        break;
      case event::left:
        receiver_->on_left(l.from);
        break;
      case event::lost:
        receiver_->on_lost(l.from, "killed");
        break;
    }
  }

  const std::shared_ptr<in_process_network::shared_state> state_;
  const node_id self_;
  receiver* receiver_ = nullptr;
};

}  // namespace

in_process_network::in_process_network(const options& chosen)
    : state_(std::make_shared<shared_state>(chosen)) {}
in_process_network::~in_process_network() = default;

std::unique_ptr<transport> in_process_network::join(node_id node) {
  return std::make_unique<in_process_transport>(state_, node);
}

void in_process_network::kill(node_id node) {
  const std::lock_guard hold(state_->lock);
  state_->leave(node, event::lost);
}

}  // namespace sukima::cluster

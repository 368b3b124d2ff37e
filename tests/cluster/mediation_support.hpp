// SPDX-License-Identifier: Apache-2.0
// Mediations of some nodes, with a network and a clock that the tests control.
#pragma once

#include "hope/mediation/mediation.hpp"

#include <algorithm>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace mediation_support {

using namespace sukima::cluster;
using namespace sukima::cluster::hope;
using namespace std::chrono_literals;

inline task_key key(std::uint64_t number) { return {.high = 1, .low = number}; }
inline note result_of(std::uint64_t task, std::uint64_t within = 0, std::uint64_t entry = 1) {
  return {.kind = note_kind::result,
          .entry = entry,
          .task = key(task),
          .within = within == 0 ? name_of_entry : key(within)};
}
inline note claim_of(std::uint64_t task, std::uint64_t within = 0) {
  note n = result_of(task, within);
  n.kind = note_kind::claim;
  return n;
}

inline interest one_with(std::vector<task_key> tasks, std::vector<task_key> places) {
  interest one{.entry = 1, .is_all = false, .tasks = std::move(tasks), .places = std::move(places)};
  one.normalise();
  return one;
}

/// Mediations of some nodes on the test's network. A message takes 100 µs, and each node notices a loss at a
/// different time.
class network {
 public:
  network(unsigned nodes, std::uint64_t seed) : draws_(seed), living_(nodes, true), nodes_(nodes) {
    for (node_id n = 0; n < nodes; ++n) {
      nodes_[n].gone.resize(nodes);
      nodes_[n].mediator = std::make_unique<mediation>(
          nodes_[n].gone, bundle_interval * nodes,
          [this, n](node_id to, bytes&& message) {
            if (refuses) return false;
            ++messages;
            events_.push({now_ + 100us, ++number_, event::type::message, n, to, std::move(message)});
            return true;
          },
          [this, n] { return nodes_[n].needs; }, nodes_[n].counted);
      nodes_[n].mediator->begin(n);
    }
  }

  /// Posts a result of that node. `missing` counts the nodes that need it and have not received it.
  void post(node_id from, std::uint64_t within = 0) {
    const note n = result_of(++posted_, within);
    nodes_[from].mediator->post(write_note(n), now_);
    if (living_[from]) notes_.push_back({from, n.task, n.within});
    nodes_[from].received.insert(posted_);
  }
  void post_any(node_id from, const note& n) { nodes_[from].mediator->post(write_note(n), now_); }
  /// Makes a node need these tasks, and the tasks inside these places.
  void subscribe(node_id one, std::vector<std::uint64_t> tasks, std::vector<std::uint64_t> places,
                 bool at_once = false) {
    interest& needs = nodes_[one].needs;
    needs = {.entry = 1, .is_all = false};
    for (const std::uint64_t task : tasks) needs.tasks.push_back(key(task));
    for (const std::uint64_t place : places) needs.places.push_back(key(place));
    needs.normalise();
    nodes_[one].mediator->needs_other_notes(at_once);
  }
  /// Makes a node need all notes again.
  void subscribe_to_all(node_id one) {
    nodes_[one].needs = {};
    nodes_[one].mediator->needs_other_notes(false);
  }
  /// Delivers a bundle made by the test.
  void deliver(node_id from, node_id to, const bytes& bundle) {
    nodes_[to].mediator->receive(from, bundle, now_, [](node_id, byte_view) {});
  }
  /// Keeps a place free until join().
  void keep_free(node_id free) {
    living_[free] = false;
    for (node& n : nodes_) n.gone[free] = true;
  }
  /// Makes a node join. All others notice it at once.
  void join(node_id joined) {
    living_[joined] = true;
    for (node_id n = 0; n < nodes_.size(); ++n) {
      nodes_[n].gone[joined] = false;
      if (n != joined) nodes_[n].mediator->gain(joined, now_);
    }
  }
  /// Ends a node. Each other node notices it within 5 ms.
  void kill(node_id dying) {
    living_[dying] = false;
    for (node_id n = 0; n < nodes_.size(); ++n)
      events_.push(
          {now_ + std::chrono::microseconds(draws_() % 5000), ++number_, event::type::loss, dying, n, {}});
  }
  /// Advances the clock to that time, or until no event is left.
  void run(clock::duration until) {
    const clock::time_point end = clock::time_point{} + until;
    while (step(end)) {
    }
    now_ = std::max(now_, end);
  }
  void run_to_the_end() {
    while (step(clock::time_point::max())) {
    }
  }
  /// Delivers that number of messages and losses. \returns false: there are no more
  bool run_events(unsigned number) {
    for (unsigned i = 0; i < number; ++i)
      if (!step(clock::time_point::max())) return false;
    return true;
  }
  void end_entry(node_id one, std::uint64_t entry) { nodes_[one].mediator->end_entry(entry); }
  bool has(node_id one, std::uint64_t task) const { return nodes_[one].received.contains(task); }
  bool is_living(node_id one) const { return living_[one]; }

  /// Returns the number of pairs of a living node and a note that it needs and lacks, if the note's origin is
  /// alive.
  unsigned missing() const {
    unsigned count = 0;
    for (node_id n = 0; n < nodes_.size(); ++n)
      for (const posted_note& p : notes_)
        count += living_[n] && living_[p.origin] && nodes_[n].needs.includes(p.task, p.within) &&
                         !nodes_[n].received.contains(p.task.low)
                     ? 1
                     : 0;
    return count;
  }
  /// Returns the sum of a counter over all nodes.
  std::uint64_t sum(std::uint64_t counts::* counter) const {
    std::uint64_t sum = 0;
    for (const node& n : nodes_) sum += n.counted.all().*counter;
    return sum;
  }
  std::uint64_t messages = 0;
  bool refuses = false;  ///< whether there is no room for any message

 private:
  struct node {
    std::vector<bool> gone;
    counters counted;
    std::unique_ptr<mediation> mediator;
    interest needs{};
    std::set<std::uint64_t> received;
  };
  struct posted_note {
    node_id origin;
    task_key task;
    task_key within;
  };
  struct event {
    enum class type { message, loss };
    clock::time_point at;
    std::uint64_t number;
    type kind;
    node_id of;  ///< the sender, or the lost node
    node_id to;
    bytes content;
    bool operator<(const event& other) const {
      return std::pair(at, number) > std::pair(other.at, other.number);
    }
  };

  bool step(clock::time_point end) {
    // First the bundles that are due, by number of node.
    clock::time_point next = clock::time_point::max();
    node_id sender = 0;
    for (node_id n = 0; n < nodes_.size(); ++n)
      if (living_[n] && nodes_[n].mediator->next() < next) {
        next = nodes_[n].mediator->next();
        sender = n;
      }
    const clock::time_point due = events_.empty() ? clock::time_point::max() : events_.top().at;
    if (std::min(std::max(next, now_), due) >= end || (next == clock::time_point::max() && events_.empty()))
      return false;
    if (next <= due) {
      now_ = std::max(now_, next);
      nodes_[sender].mediator->send_if_due(now_);
      return true;
    }
    event e = events_.top();
    events_.pop();
    now_ = std::max(now_, e.at);
    node& to = nodes_[e.to];
    if (!living_[e.to]) return true;
    if (e.kind == event::type::loss) {
      to.gone[e.of] = true;
      to.mediator->lose(e.of, now_);
    } else if (!to.gone[e.of]) {
      to.mediator->receive(e.of, e.content, now_, [&](node_id, byte_view content) {
        to.received.insert(read_note(content)->task.low);
      });
    }
    return true;
  }

  std::mt19937_64 draws_;
  clock::time_point now_{};
  std::uint64_t number_ = 0;
  std::uint64_t posted_ = 0;
  std::vector<bool> living_;
  std::vector<node> nodes_;
  std::priority_queue<event> events_;
  std::vector<posted_note> notes_;
};

}  // namespace mediation_support

// SPDX-License-Identifier: Apache-2.0
// How a node joins while the others run entries.
//
// The transport gives the newcomer a number and connects it to the others. Node 0 sends it the number of
// entries that have ended, and their results. The newcomer takes the result of each of these entries instead
// of helping. If not all results fit into one answer, it requests the others from node 0. Node 0 sends the
// results of later entries to the newcomer as to each node. In those entries the newcomer requests tasks.
//
// The run does not depend on a newcomer that has no task of another node.
#include "steal/node.hpp"

#include <algorithm>
#include <string>

namespace sukima::cluster {

void node::on_joined(node_id joined) {
  gone_[joined] = false;
  outbox_.open(joined);
  has_joined_[joined] = true;
  if (!has_met_) return;
  if (leaving_[self_]) {  // this node requests no more tasks
    send(joined, {.kind = message_kind::leaves});
    return;
  }
  thief_.gain(joined);
  if (self_ == 0) welcome(joined);
}

void node::welcome(node_id joined) {
  if (const std::string obstacle = obstacle_to_joining(); !obstacle.empty()) {
    send(joined, {.kind = message_kind::differs, .content = std::as_bytes(std::span(obstacle))});
    return;
  }
  const std::uint32_t ended = past_.count();
  send(joined, {.kind = message_kind::welcome, .entry = ended, .id = past_.end_of_answer(1, ended)});
  send_past(joined, 1, ended);
  send_solutions(joined, solutions_.snapshot());
}

void node::send_past(node_id to, std::uint32_t first, std::uint32_t last) {
  const std::uint32_t until = past_.end_of_answer(first, last);
  for (std::uint32_t entry = first; entry <= until; ++entry) {
    const entry_result& result = past_.of(entry);
    send(to, {.kind = message_kind::entry,
              .how = result.how,
              .entry = entry,
              .id = until,
              .solutions = result.solutions,
              .content = result.content});
  }
}

std::string node::obstacle_to_joining() {
  if (past_.are_kept()) return {};
  return "the results of the first " + std::to_string(past_.count()) + " entries take more than " +
         std::to_string(chosen_.most_kept >> 20) +
         " MiB and are not kept, so no more nodes can join this run";
}

void node::take_welcome(node_id from, const message& m) {
  if (from != 0 || is_welcome_) {
    end_all(
        {"node " + std::to_string(from) + " took node " + std::to_string(self_) + " for a node that joins"});
    return;
  }
  is_welcome_ = true;
  ended_before_ = m.entry;
  promised_until_ = static_cast<std::uint32_t>(m.id);
}

void node::answer_missing(node_id from, const message& m) {
  const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(m.id, past_.count()));
  if (self_ != 0 || m.entry == 0 || m.entry > last) {
    end_all({"node " + std::to_string(from) + " asked for the result of an entry that has not ended"});
    return;
  }
  if (past_.are_kept())
    send_past(from, m.entry, last);
  else
    welcome(from);  // sends the newcomer a refusal
}

void node::ask_for_result(std::uint32_t entry) {
  if (!is_welcome_ || entry <= promised_until_ || gone_[0]) return;
  promised_until_ = entry;
  send(0, {.kind = message_kind::missing, .entry = entry, .id = ended_before_});
}

bool node::goes_on_without(node_id gone) const {
  const auto is_there = [gone](const auto& given) { return given.second.where == gone; };
  return gone != self_ && has_joined_[gone] && std::none_of(given_.begin(), given_.end(), is_there);
}

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
// How a node leaves while the others continue, and what this node does if another node ends.
//
// The node announces that it leaves. From then on it neither requests nor gives tasks, and all others stop
// exchanging tasks with it. If nodes connect only when needed, it announces this to the nodes with which it
// has exchanged messages. Any other node gets the announcement as the answer to its first message. The node
// finishes the tasks that it has received. Then it leaves inside an entry, while its program waits for the
// result. Outside an entry, its program may be writing a file.
//
// When the owner of a task receives the announcement, the task may be under way to the leaving node. That
// node declines it. If the task arrives too late for that, its owner takes it back when the node is gone.
// That is safe, because the results of all tasks that the node has begun arrive before its end.
#include "steal/node.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace sukima::cluster {

void node::on_leave_request() {
  if (leaving_[self_]) return;
  if (self_ == 0) {
    std::fputs("sukima: node 0 cannot leave: it makes the calls for which the other nodes work\n", stderr);
    return;
  }
  leaving_[self_] = true;
  for (node_id n = 0; n < nodes_; ++n) {
    if (n == self_) continue;
    if (!gone_[n] && (!is_sparse_ || has_talked_to_[n])) send(n, {.kind = message_kind::leaves});
    leave_out(n);
  }
  std::fprintf(stderr, "sukima: node %u will leave when it has finished its tasks\n", self_);
}

void node::leave_out(node_id other) {
  thief_.forget(other);
  requests_.erase(other);
  lifelines_.remove(other);
}

void node::leave_when_done() {
  if (!leaving_[self_] || !received_.empty() || !given_.empty() || !all_is_sent() || awaited_entry() == 0)
    return;
  has_left_ = true;
  wait_for_leaving();
  chosen_.on_own_leaving(statistics());
}

bool node::all_is_sent() const {
  // A result that was removed from `received_` may still wait in the outbox. If a node joined, the run does
  // not depend on the other messages to it, and that node may hang.
  for (node_id n = 0; n < nodes_; ++n)
    if (outbox_.owes(n) || (!has_joined_[n] && outbox_.count(n) != 0)) return false;
  return true;
}

bool node::take_back_from(node_id gone) {
  std::vector<std::uint64_t> unbegun;
  for (const auto& [id, there] : given_)
    if (there.where == gone) unbegun.push_back(id);
  if (!unbegun.empty() && !leaving_[gone]) return false;
  for (const std::uint64_t id : unbegun) take_back(id);
  return true;
}

void node::on_left(node_id gone) {
  gone_[gone] = true;
  outbox_.close(gone);
  leave_out(gone);
  if (!take_back_from(gone)) end_without(gone, active_entry_.load(std::memory_order_seq_cst));
}

void node::look_for_node_0() {
  if (self_ == 0 || !gone_[0]) return;
  if (const std::uint32_t entry = awaited_entry(); entry != 0) end_without(0, entry);
}

std::uint32_t node::awaited_entry() {
  const std::lock_guard hold(lock_);
  // Read inside the lock: the thread that removes the result has ended the entry before.
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  return results_.contains(entry) ? 0 : entry;
}

void node::end_without(node_id gone, std::uint32_t entry) {
  end_all({"node " + std::to_string(gone) + " ended its program before " +
               (is_behind(entry)
                    ? "this node, which joined late, had the result of entry " + std::to_string(entry)
                    : "entry " + std::to_string(entry) + " ended"),
           status_lost, static_cast<int>(gone)});
}

}  // namespace sukima::cluster

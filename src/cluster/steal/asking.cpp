// SPDX-License-Identifier: Apache-2.0
// How the cluster thread requests work from other nodes, and from the workers of its own node to give it
// away.
#include "steal/node.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace sukima::cluster {

namespace {

/// \returns false: the task cannot travel, because its codec failed or it is too large
bool write_task(const detail::task& t, bytes& to) {
  try {
    t.kind->travel->put(t, to);
    return to.size() <= largest_message / 2;
  } catch (...) {
    return false;
  }
}

/// Converts a duration for a message: at most 71 minutes.
std::uint32_t in_microseconds(clock::duration trip) {
  const auto count = std::chrono::duration_cast<std::chrono::microseconds>(trip).count();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(count, 0xffffffff));
}

}  // namespace

void node::ask_others() {
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  if (entry != std::exchange(entry_seen_, entry) && entry != 0) {
    thief_.begin_entry();
    lifelines_.begin_entry(entry);
    last_begun_ = entry;
    take_early_solutions(entry);
  }
  look_for_idle_workers();
  if (entry == 0) return;
  if (is_behind(entry)) {
    ask_for_result(entry);
    return;
  }
  const auto now = clock::now();
  while (const auto next = thief_.next_request(now))
    send(next->victim, {.kind = message_kind::request,
                        .entry = entry,
                        .request = next->number,
                        .round_trip = in_microseconds(thief_.round_trip(next->victim))});
  for (const node_id n : thief_.take_lifelines(now))
    send(n, {.kind = message_kind::lifeline,
             .entry = entry,
             .round_trip = in_microseconds(thief_.round_trip(n))});
}

void node::look_for_idle_workers() {
  // Cleared before the check of the workers, so that a worker that becomes idle later rings again.
  // pairs with: idle in node.cpp
  if (idle_reported_.exchange(false, std::memory_order_seq_cst)) thief_.set_hungry(true);
  if (thief_.is_hungry() && !detail::has_idle_workers(workers_)) thief_.set_hungry(false);
}

void node::ask_here() {
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  const auto now = clock::now();
  for (auto at = requests_.begin(); at != requests_.end();) {
    const auto [asker, asked] = *at++;
    if (asked.entry == entry && small_tasks_.gives_from(asker) <= now) continue;
    requests_.erase(asker);
    refuse(asker, asked);
  }
  // pairs with: unanswered in node.cpp
  if (unanswered_reported_.exchange(false, std::memory_order_seq_cst)) lifelines_.on_unanswered(now);
  const auto line = lifelines_.next(entry, small_tasks_, now);
  const bool stands = requests_.empty() && line && line->from == now;
  if (asking_here_ == asking::once) return;
  if (asking_here_ == asking::standing) {
    if (stands) {
      if (lifelines_.takes_look(now)) detail::remind_of_request(workers_);
      return;
    }
    if (!detail::withdraw_request(workers_)) return;  // its answer is under way
    asking_here_ = asking::nothing;
    lifelines_.on_work(now);
  }
  if (!requests_.empty()) {
    asking_here_ = asking::once;
    detail::request_task(workers_);
  } else if (stands && (!lifelines_.next_look() || lifelines_.takes_look(now))) {
    asking_here_ = asking::standing;
    detail::request_task(workers_, detail::giver::goes_on, detail::request_kind::standing);
  }
}

void node::refuse(node_id asker, const task_request& asked) {
  send(asker, {.kind = message_kind::none, .request = asked.number});
}

void node::refuse_all() {
  for (const auto& [asker, asked] : std::exchange(requests_, {})) refuse(asker, asked);
}

void node::give(detail::task& given) {
  if (detail::came_from_node(workers_, given)) {
    // Two nodes answered, so there is one task too many. Its owner can give it to another node.
    auto& surplus = static_cast<detail::received_task&>(given);
    send(surplus.from, {.kind = message_kind::declined, .id = surplus.id});
    received_.erase({surplus.from, surplus.id});
    surplus.destroy(&surplus);
    refuse_all();
    const std::lock_guard hold(lock_);
    --statistics_.received;
    return;
  }
  const std::uint32_t entry = active_entry_.load(std::memory_order_seq_cst);
  const auto number = forms_.number_of(*given.kind->travel->form);
  const auto now = clock::now();
  const auto to = std::find_if(requests_.begin(), requests_.end(), [&](const auto& w) {
    return w.second.entry == entry && small_tasks_.gives_from(w.first) <= now;
  });
  std::uint64_t request = 0;
  std::optional<node_id> asker;
  if (to != requests_.end()) {
    asker = to->first;
    request = to->second.number;
  } else if (const auto line = lifelines_.next(entry, small_tasks_, now); line && line->from == now) {
    asker = line->node;
  }
  bytes arguments;
  if (!asker || !number || !write_task(given, arguments)) {
    // If a task that cannot travel stayed available, each request would get it until a worker here takes it.
    if (asker)
      detail::keep_here(workers_, given);
    else
      detail::give_back(workers_, given);
    if (asker) refuse_all();
    lifelines_.on_unanswered(now);
    return;
  }
  if (to != requests_.end()) requests_.erase(to);
  lifelines_.remove(*asker);  // a lifeline asks for one task only
  const std::uint64_t id = detail::give_away(workers_, given);
  given_.emplace(id, away{*asker, now});
  small_tasks_.on_sent(*asker, now);
  send(*asker, {.kind = message_kind::task,
                .entry = entry,
                .function = *number,
                .id = id,
                .request = request,
                .content = arguments});
  const std::lock_guard hold(lock_);
  ++statistics_.given;
}

}  // namespace sukima::cluster

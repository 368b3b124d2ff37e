// SPDX-License-Identifier: Apache-2.0
// Giving tasks to idle nodes. An idle node requests a task from the others, runs it, and sends the result
// back. The giver then omits the task. Until the result arrives, the idle node does not run tasks for which
// it already waits itself. If it began a construct with the second branch, it does not run the first branch
// either.
#include "hope/node.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

/// How long this node looks for a task to give: running tasks may have nothing to split at one moment and
/// much at the next. The requesting node waits longer than that for an answer (work_requests.cpp).
constexpr std::chrono::microseconds looks_for_some{5000};
constexpr std::chrono::microseconds between_questions{200};

}  // namespace

void node::takes_request(node_id from) {
  requests_.asks_itself(from);
  if (std::ranges::find(asking_, from) != asking_.end()) return;
  if (asking_.empty()) {
    give_again_ = clock::now();
    give_until_ = give_again_ + looks_for_some;
  }
  asking_.push_back(from);
}

void node::give_to_others() {
  while (!asking_.empty()) {
    unit* oldest = nullptr;
    for (const auto& [key, u] : units_)
      if (is_free(*u) && (oldest == nullptr || u->number < oldest->number)) oldest = u.get();
    if (oldest == nullptr) return;
    const node_id to = asking_.front();
    asking_.pop_front();
    if (!others_.is_gone(to)) give(*oldest, to);
  }
}

void node::give(const unit& u, node_id to) {
  const auto type = forms_.number_of(*u.form);
  if (!type) return;  // the forms of all units are known
  // Even if the message is lost, because a claim is only a hint.
  claims_.claim(u.key, to, clock::now());
  counters_.add(&counts::given);
  others_.announce_to(
      to,
      {.kind = note_kind::given, .entry = entry_, .within = u.within, .type = *type, .content = u.arguments});
}

void node::nothing_to_give(clock::time_point now) {
  if (is_idle() || now >= give_until_)
    have_none();
  else
    give_again_ = now + between_questions;
}

void node::have_none() {
  for (const node_id to : std::exchange(asking_, {}))
    others_.announce_to(to, {.kind = note_kind::none, .entry = entry_});
}

void node::take_given(node_id from, const note& n) {
  requests_.gave(from);
  const detail::travel_form* const form = forms_[n.type];
  if (form == nullptr) return;
  const task_key key = key_of(entry_, n.type, n.content);
  if (send_known(from, {.entry = entry_, .task = key})) return;
  unit* const known = find(key);
  const bool runs_here = known != nullptr && known->running != nullptr && !known->is_stopped;
  if (!runs_here && ((known != nullptr && known->is_stopped) || !is_idle())) {
    others_.announce_to(from, {.kind = note_kind::unclaim, .entry = entry_, .task = key});
    return;
  }
  unit& u =
      known != nullptr ? *known : new_unit(key, n.within, *form, bytes(n.content.begin(), n.content.end()));
  u.given_by = from;
  looks_.has_name_here(key);
  if (runs_here) return;
  requests_.has_work();
  start(u, claim_as::mine);
}

void node::let_held_go(std::size_t number) {
  const held_giver h = held_[number];
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(number));
  if (is_running(h.within) && !plan_.is_first_of(h.began, others_.gone())) help(h.within);
  goes_on(h.within);
  h.giver.resume();
}

bool node::let_inherited_go() {
  const auto found = std::ranges::find_if(
      held_, [this](const held_giver& h) { return plan_.is_first_of(h.began, others_.gone()); });
  if (found == held_.end()) return false;
  let_held_go(static_cast<std::size_t>(found - held_.begin()));
  return true;
}

void node::let_all_held_go(const task_key& within) {
  for (std::size_t i = held_.size(); i-- != 0;)
    if (held_[i].within == within) let_held_go(i);
}

}  // namespace sukima::cluster::hope

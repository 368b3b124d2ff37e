// SPDX-License-Identifier: Apache-2.0
// Handles the messages of other nodes. Malformed messages are dropped, because a node that receives no
// message at all computes everything itself.
#include "hope/node.hpp"

#include "protocol/entry_name.hpp"
#include "protocol/reader.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

namespace {

/// Most bytes of notes that are stored for later entries. If a note is dropped, its task runs here.
constexpr std::size_t most_early = std::size_t{16} << 20;

}  // namespace

void node::on_message(node_id from, byte_view message) {
  if (from >= nodes_) return;
  if (!others_.takes(message)) {
    receive_note(from, message);
    return;
  }
  requests_.received_from(from);
  others_.receive(from, message, [this](node_id origin, byte_view note) { receive_note(origin, note); });
}

void node::receive_note(node_id from, byte_view message) {
  const auto n = read_note(message);
  if (!n || from == self_ || n->kind == note_kind::interest) return;
  // A mediator may still forward a note of a lost node. Then only results are used.
  if (others_.is_gone(from) && n->kind != note_kind::result && n->kind != note_kind::entry_result) return;
  requests_.received_from(from);
  if (n->kind == note_kind::claim || n->kind == note_kind::result) requests_.works(from);
  if (n->kind == note_kind::result && message.size() > longest_bundled) others_.went_to_all(*n);
  const bool is_active = n->entry == entry_ && active_ != nullptr && !is_over_;
  // If others are in later entries, the note may be an answer about a past entry, or come from another
  // newcomer.
  if (is_newcomer_ && is_active && !is_behind()) is_newcomer_ = false;
  if (n->kind == note_kind::missing || n->kind == note_kind::request) {
    answer(from, *n);
  } else if (n->kind == note_kind::entry_result) {
    take_entry_result(from, *n);
  } else if (n->kind == note_kind::differs) {
    if (chosen_.on_failure)
      chosen_.on_failure({.sentence = text_of(n->content), .status = status_usage, .differs = true});
  } else if (n->entry > entry_) {
    if (early_size_ + message.size() > most_early) return;
    early_size_ += message.size();
    early_.emplace_back(from, bytes(message.begin(), message.end()));
  } else if (is_active) {
    take_note(from, *n);
  }
}

void node::take_note(node_id from, const note& n) {
  switch (n.kind) {
    case note_kind::claim:
      take_claim(from, n);
      return;
    case note_kind::unclaim:
      claims_.withdraw(n.task, from);
      return;
    case note_kind::given:
      take_given(from, n);
      return;
    case note_kind::none:
      requests_.has_none(from);
      return;
    case note_kind::best:
      solutions_.merge(entry_, n.solutions);
      return;
    default:
      take_result(from, n);
      return;
  }
}

void node::take_claim(node_id from, const note& n) {
  if (send_known(from, {.entry = entry_, .task = n.task})) return;
  claims_.claim(n.task, from, clock::now() - n.time);
  unit* const u = find(n.task);
  if (u == nullptr) {
    add_announced(n);
    return;
  }
  if (u->running == nullptr || u->is_stopped || !u->is_mine) return;
  if (!u->is_claimed) announce_claim(*u);  // one of the two nodes must yield
  const auto age = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - u->since);
  if (!claims_.yields(n.task, self_, {.own = age, .announced = n.time, .young = chosen_.yields_within}))
    return;
  counters_.add(&counts::yielded);
  stop(*u);
  unclaim(*u);
}

void node::take_result(node_id from, const note& n) {
  // Solutions first, because the task may have pruned by them.
  if (!solutions_.merge(entry_, n.solutions)) return;
  if (store_.find(n.task) != nullptr) return;
  store_.put(n.task, bytes(n.content.begin(), n.content.end()), n.time);
  claims_.settle(n.task);
  // Uses the note, because the store may have dropped the result.
  for (const node_id to : questions_.known({.entry = entry_, .task = n.task}, from)) send_result(to, n);
  unit* const u = find(n.task);
  if (u == nullptr) {
    add_announced(n);
    return;
  }
  if (u->waiting.empty() && u->is_stopped) return;
  counters_.add(u->running != nullptr ? &counts::cut : &counts::omitted);
  settle(*u, n.content);
  u->is_mine = false;
  const bool was_claimed = std::exchange(u->is_claimed, false);
  const std::optional<node_id> giver = std::exchange(u->given_by, {});
  // The answer to a claim reaches only the claimant. The node that gave the unit waits for the claimant.
  if (was_claimed && giver && *giver != from) send_result(*giver, n);
  if (u->running != nullptr)
    stop(*u);
  else
    erase(*u);
}

void node::take_entry_result(node_id from, const note& n) {
  const bool is_active = active_ != nullptr && n.entry == entry_ && !is_over_;
  // Mediators forward only one result of an entry. So this node also compares the results of two other nodes.
  if (const entry_value* const known = entry_results_.find(n.entry))
    compare_entries(n.entry, {known->content, known->from}, {n.content, from});
  if (is_active) compare_entries(n.entry, {entry_name_, self_}, {n.content, from});
  const entry_value value{
      from, {n.content.begin(), n.content.end()}, {n.solutions.begin(), n.solutions.end()}};
  if (is_active && !take_value(value)) return;
  // This node may have requested the result only on behalf of other nodes.
  for (const node_id to : questions_.entry_known(n.entry, from)) send_entry_result(to, n.entry, value);
  if (n.entry <= entry_ && !is_active) return;
  entry_results_.put(n.entry, value);
  if (is_active) end_entry();
}

bool node::take_value(const entry_value& value) {
  if (!solutions_.merge(entry_, value.solutions)) return false;
  active_->received = value;
  return true;
}

void node::compare_entries(std::uint64_t entry, named_result one, named_result other) {
  const auto here = take_name(one.content);
  const auto there = take_name(other.content);
  if (here == there || !chosen_.on_failure) return;
  const std::string sentence =
      sentence_of_difference(entry, {here.value_or(""), one.of}, {there.value_or(""), other.of});
  others_.announce(
      {.kind = note_kind::differs, .entry = entry, .content = std::as_bytes(std::span(sentence))});
  transport_->stop(leaving_time);
  chosen_.on_failure({.sentence = sentence, .status = status_usage, .differs = true});
}

void node::answer(node_id from, const note& n) {
  const result_name name{.entry = n.entry, .task = n.task};
  if (n.kind == note_kind::missing) {
    answer_question(from, name);
    return;
  }
  if (send_known(from, name)) return;
  if (n.entry == entry_ && active_ != nullptr && !is_over_) takes_request(from);
}

void node::answer_question(node_id from, const result_name& name) {
  if (!send_known(from, name)) questions_.asked_by(from, name);
}

void node::send_result(node_id to, const note& n) {
  if (!others_.announce_to(to, n)) questions_.refused({to, {.entry = n.entry, .task = n.task}});
}

void node::send_entry_result(node_id to, std::uint64_t entry, const entry_value& value) {
  if (!others_.announce_entry_result_to(to, entry, value)) questions_.refused({to, {.entry = entry}});
}

bool node::send_known(node_id to, const result_name& name) {
  // The result of the entry answers any request within the entry.
  if (const entry_value* const known = entry_results_.find(name.entry)) {
    send_entry_result(to, name.entry, *known);
    return true;
  }
  if (name.entry != entry_ || active_ == nullptr || is_over_) return false;
  const bytes* const known = store_.find(name.task);
  if (known == nullptr) return false;
  send_result(to, {.kind = note_kind::result, .entry = entry_, .task = name.task, .content = *known});
  return true;
}

void node::on_left(node_id gone) { on_lost(gone, "it left"); }

void node::on_lost(node_id gone, const std::string& /*why*/) {
  others_.lose(gone);
  requests_.lose(gone);
  follow_number();
  questions_.lose(gone);
  const std::vector<task_key> orphans = claims_.lose(gone);
  if (active_ == nullptr || is_over_) return;
  // The lost node may have sent some results to only a part of the nodes.
  questions_.ask({.entry = entry_});
  for (const task_key& key : orphans)
    if (find(key) != nullptr) questions_.ask({.entry = entry_, .task = key});
  inherit();
}

}  // namespace sukima::cluster::hope

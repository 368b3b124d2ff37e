// SPDX-License-Identifier: Apache-2.0
#include "hope/announcements.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

constexpr std::chrono::microseconds between_solutions{500};

note entry_result_of(std::uint64_t entry, const entry_value& value) {
  return {.kind = note_kind::entry_result,
          .entry = entry,
          .solutions = value.solutions,
          .content = value.content};
}

/// Returns the counter of messages of a kind that are sent to a single node; null: that kind has no counter.
std::uint64_t counts::* counter_of(note_kind kind) noexcept {
  switch (kind) {
    case note_kind::request:
      return &counts::requests;
    case note_kind::none:
      return &counts::refusals;
    case note_kind::missing:
      return &counts::questions;
    case note_kind::result:
    case note_kind::entry_result:
      return &counts::answers;
    default:
      return nullptr;
  }
}

}  // namespace

announcements::announcements(transport& by, sukima::detail::solution_board& solutions, counters& counted,
                             unsigned most_direct, mediation::subscriber subscribe)
    : transport_(by), solutions_(solutions), counters_(counted), gone_(by.nodes()) {
  if (by.nodes() <= most_direct) return;
  mediation_.emplace(
      gone_, bundle_interval * by.nodes(),
      [this](node_id to, bytes&& message) { return send(to, std::move(message)); }, std::move(subscribe),
      counters_);
}

void announcements::begin(node_id self) {
  self_ = self;
  if (mediation_) mediation_->begin(self);
  follow_number();
}

void announcements::follow_number() {
  if (mediation_) mediation_->set_interval(bundle_interval * (living_others() + 1));
}

void announcements::gain(node_id node) {
  gone_[node] = false;
  follow_number();
  if (mediation_) mediation_->gain(node, clock::now());
}

void announcements::lose(node_id node) {
  gone_[node] = true;
  follow_number();
  if (mediation_) mediation_->lose(node, clock::now());
}

void announcements::receive(node_id from, byte_view message,
                            const std::function<void(node_id, byte_view)>& take) {
  mediation_->receive(from, message, clock::now(), take);
}

void announcements::send_if_due() {
  if (mediation_) mediation_->send_if_due(clock::now());
}

void announcements::stop() {
  if (mediation_) mediation_->send_now(clock::now());
  is_stopped_ = true;
}

void announcements::end_entry(std::uint64_t entry) {
  if (mediation_) mediation_->end_entry(entry);
}

void announcements::went_to_all(const note& n) {
  if (mediation_) mediation_->went_to_all(n);
}

void announcements::needs_other_notes(bool at_once) {
  if (mediation_) mediation_->needs_other_notes(at_once);
}

clock::time_point announcements::next_bundle() const noexcept {
  return mediation_ ? mediation_->next() : clock::time_point::max();
}

node_id announcements::first_living() const noexcept {
  return static_cast<node_id>(std::ranges::find(gone_, false) - gone_.begin());
}

unsigned announcements::living_others() const noexcept {
  return static_cast<unsigned>(std::ranges::count(gone_, false)) - 1;
}

bytes announcements::solutions_for(const note& n) const {
  const bool brings = n.kind == note_kind::result || n.kind == note_kind::best;
  return brings ? solutions_.all() : bytes();
}

bool announcements::send(node_id to, bytes&& message) {
  const std::size_t size = message.size();
  const bool is_bundle_of_notes = is_bundle(message);
  if (to == self_ || gone_[to] || is_stopped_ || size > largest_message) return true;
  if (!transport_.send(to, std::move(message))) return false;
  counters_.add(&counts::notes);
  counters_.add(&counts::sent_bytes, size);
  if (is_bundle_of_notes) counters_.add(&counts::bundles);
  return true;
}

std::vector<bool> announcements::send_to_all(const note& n) {
  std::vector<bool> reached(gone_.size());
  if (!is_alone()) counters_.add(&counts::reports);
  bytes message = write_note(n);
  // A node that runs a different entry ends all nodes with this note, and they forward nothing more.
  if (mediation_ && n.kind != note_kind::differs && message.size() <= longest_bundled) {
    mediation_->post(std::move(message), clock::now());
    return reached;
  }
  if (n.kind == note_kind::result) went_to_all(n);
  for (node_id to = 0; to < gone_.size(); ++to) reached[to] = send(to, bytes(message));
  return reached;
}

bool announcements::announce_to(node_id to, const note& n) {
  note whole = n;
  const bytes solutions = solutions_for(n);
  whole.solutions = solutions;
  if (!send(to, write_note(whole))) return false;
  if (const auto counter = counter_of(n.kind)) counters_.add(counter);
  return true;
}

std::vector<bool> announcements::announce(const note& n) {
  note whole = n;
  const bytes solutions = solutions_for(n);
  whole.solutions = solutions;
  return send_to_all(whole);
}

bool announcements::announce_entry_result_to(node_id to, std::uint64_t entry, const entry_value& value) {
  const note n = entry_result_of(entry, value);
  if (!send(to, write_note(n))) return false;
  counters_.add(counter_of(n.kind));
  return true;
}

std::vector<bool> announcements::announce_entry_result(std::uint64_t entry, const entry_value& value) {
  return send_to_all(entry_result_of(entry, value));
}

void announcements::announce_solutions_if_new(std::uint64_t entry, clock::time_point now) {
  if (now < next_solutions_ || !solutions_.take_news()) return;
  next_solutions_ = now + between_solutions;
  announce({.kind = note_kind::best, .entry = entry});
}

}  // namespace sukima::cluster::hope

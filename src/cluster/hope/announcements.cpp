// SPDX-License-Identifier: Apache-2.0
#include "hope/announcements.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

constexpr std::chrono::microseconds between_solutions{500};

}  // namespace

unsigned announcements::living_others() const noexcept {
  return static_cast<unsigned>(std::ranges::count(gone_, false)) - 1;
}

bytes announcements::solutions_for(const note& n) const {
  const bool brings = n.kind == note_kind::result || n.kind == note_kind::best;
  return brings ? solutions_.all() : bytes();
}

void announcements::send(node_id to, const note& n) {
  if (to == self_ || gone_[to]) return;
  bytes out = write_note(n);
  if (out.size() <= largest_message) static_cast<void>(transport_.send(to, std::move(out)));
  counters_.add(&counts::notes);
}

void announcements::announce_to(node_id to, const note& n) {
  note whole = n;
  const bytes solutions = solutions_for(n);
  whole.solutions = solutions;
  send(to, whole);
}

void announcements::announce(const note& n) {
  note whole = n;
  const bytes solutions = solutions_for(n);
  whole.solutions = solutions;
  for (node_id to = 0; to < gone_.size(); ++to) send(to, whole);
}

void announcements::announce_entry_result_to(node_id to, std::uint64_t entry, const entry_value& value) {
  send(to, {.kind = note_kind::entry_result,
            .entry = entry,
            .solutions = value.solutions,
            .content = value.content});
}

void announcements::announce_entry_result(std::uint64_t entry, const entry_value& value) {
  for (node_id to = 0; to < gone_.size(); ++to) announce_entry_result_to(to, entry, value);
}

void announcements::announce_solutions_if_new(std::uint64_t entry, clock::time_point now) {
  if (now < next_solutions_ || !solutions_.take_news()) return;
  next_solutions_ = now + between_solutions;
  announce({.kind = note_kind::best, .entry = entry});
}

}  // namespace sukima::cluster::hope

// SPDX-License-Identifier: Apache-2.0
// How a node joins while the others run. It receives results and hints, as each node does. If some results
// were not sent, because too many bytes were queued, it requests them in each entry.
#include "hope/node.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

void node::on_joined(node_id joined) {
  const bool answers = others_.first_living() == self_;  // the answer of one node is enough
  others_.gain(joined);
  requests_.gain(joined);
  claims_.gain(joined);
  follow_number();
  if (answers) {
    const auto& all = entry_results_.all();
    static_cast<void>(std::all_of(all.rbegin(), all.rend(), [&](const auto& known) {
      return others_.announce_entry_result_to(joined, known.first, known.second);
    }));
  }
  if (active_ == nullptr || is_over_) return;
  for (const auto& [key, u] : units_)
    if (u->is_claimed) others_.announce_to(joined, claim_of(*u));
  bool has_room = answers;
  store_.for_each([&](const task_key& key, std::chrono::nanoseconds cost, byte_view result) {
    has_room = has_room && others_.announce_to(
                               joined, {.kind = note_kind::result,
                                        .entry = entry_,
                                        .task = key,
                                        .time = std::chrono::duration_cast<std::chrono::microseconds>(cost),
                                        .content = result});
  });
}

void node::follow_number() {
  requests_.set_patience(chosen_.before_helping + longest_way(nodes_, others_.living_others() + 1));
}

bool node::is_behind() const {
  const auto is_later = [this](const auto& one) { return one.first > entry_; };
  const auto& results = entry_results_.all();
  return (!results.empty() && is_later(*results.rbegin())) ||
         std::ranges::any_of(early_,
                             [this](const auto& one) { return read_note(one.second)->entry > entry_; });
}

void node::begin_as_newcomer() {
  // The others may have ended this entry without sending its result.
  questions_.ask({.entry = entry_});
  // The others have made their plan without this node.
  plan_.end();
  if (!others_.is_alone() && !is_behind()) help(name_of_entry);
}

}  // namespace sukima::cluster::hope

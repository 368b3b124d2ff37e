// SPDX-License-Identifier: Apache-2.0
// A node that joins while the others run. It receives results and hints, as each node does. It asks for
// results that it misses, or computes them.
#include "hope/node.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

void node::on_joined(node_id joined) {
  others_.gain(joined);
  requests_.gain(joined);
  claims_.gain(joined);
  const auto first = std::ranges::find(others_.gone(), false) - others_.gone().begin();
  if (static_cast<node_id>(first) == self_)  // one node's answer is enough
    for (const auto& [entry, value] : entry_results_.all())
      others_.announce_entry_result_to(joined, entry, value);
  if (active_ == nullptr || is_over_) return;
  for (const auto& [key, u] : units_)
    if (u->is_claimed) others_.announce_to(joined, claim_of(*u));
  if (static_cast<node_id>(first) != self_) return;
  store_.for_each([&](const task_key& key, std::chrono::nanoseconds cost, byte_view result) {
    others_.announce_to(joined, {.kind = note_kind::result,
                                 .entry = entry_,
                                 .task = key,
                                 .time = std::chrono::duration_cast<std::chrono::microseconds>(cost),
                                 .content = result});
  });
}

void node::begin_as_newcomer() {
  is_newcomer_ = false;
  // The others may have ended this entry, and the result that was sent may be lost.
  others_.announce({.kind = note_kind::missing, .entry = entry_, .task = name_of_entry});
  // They have made their plan without this node.
  plan_.end();
  help(name_of_entry);
}

}  // namespace sukima::cluster::hope

// SPDX-License-Identifier: Apache-2.0
// Checks the units and the given tasks of a node, after each turn of its thread.
#include "hope/node.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

const char* node::violated_invariant() const {
  std::size_t waiting = 0;
  std::size_t unbegun = root_ != nullptr && !root_->began ? 1 : 0;
  for (const auto& [key, u] : units_) {
    if (u->key != key || u->owner != this) return "a unit is found by its own name, on the node that made it";
    if (u->running == nullptr && u->waiting.empty()) return "a unit runs, or a task waits for it";
    if (u->is_stopped && u->running == nullptr) return "only a unit that runs is stopped";
    if (u->is_claimed && !u->is_mine) return "a unit that this node has announced is its own";
    if (u->running != nullptr && !u->began) ++unbegun;
    waiting += u->waiting.size();
    for (const std::uint64_t id : u->waiting) {
      const auto given = given_.find(id);
      if (given == given_.end() || given->second.of != u.get())
        return "a task that waits for a unit was given away for it";
    }
  }
  if (waiting != given_.size()) return "each task that was given away waits for one unit";
  if (unbegun != unbegun_) return "the count of delivered units that have not begun is right";
  if (std::ranges::any_of(held_, [](const held_giver& h) { return !h.giver; }))
    return "a held giver can be resumed";
  return nullptr;
}

}  // namespace sukima::cluster::hope

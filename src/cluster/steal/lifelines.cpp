// SPDX-License-Identifier: Apache-2.0
#include "steal/lifelines.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>

namespace sukima::cluster {

void lifelines::add(node_id node, std::uint32_t entry) {
  if (entry < first_entry_) return;
  const auto same = std::find_if(registered_.begin(), registered_.end(),
                                 [&](const auto& line) { return line.first == node; });
  if (same == registered_.end())
    registered_.emplace_back(node, entry);
  else
    same->second = std::max(same->second, entry);
}

const char* lifelines::violated_invariant() const {
  std::vector<node_id> nodes;
  for (const auto& [node, entry] : registered_) {
    if (entry < first_entry_) return "lifelines of entries that have ended are gone";
    nodes.push_back(node);
  }
  std::ranges::sort(nodes);
  if (std::ranges::adjacent_find(nodes) != nodes.end()) return "a node has one lifeline here at most";
  if (pause_ < shortest_pause || pause_ > longest_pause) return "pauses between requests are within limits";
  return nullptr;
}

void lifelines::remove(node_id node) {
  std::erase_if(registered_, [&](const auto& line) { return line.first == node; });
  pause_ = shortest_pause;
}

void lifelines::begin_entry(std::uint32_t entry) {
  first_entry_ = std::max(first_entry_, entry);
  std::erase_if(registered_, [&](const auto& line) { return line.second < first_entry_; });
  pause_ = shortest_pause;
  look_at_.reset();
  SUKIMA_ASSERT_VALID(*this);
}

std::optional<lifelines::turn> lifelines::next(std::uint32_t entry, const small_tasks& tasks,
                                               clock::time_point now) const {
  std::optional<turn> first;
  for (const auto& [node, of_entry] : registered_) {
    if (of_entry != entry) continue;
    const clock::time_point from = std::max(now, tasks.gives_from(node));
    if (!first || from < first->from) first = {node, from};
  }
  return first;
}

void lifelines::on_unanswered(clock::time_point now) {
  if (look_at_) return;
  look_at_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
}

bool lifelines::takes_look(clock::time_point now) {
  if (!look_at_ || now < *look_at_) return false;
  look_at_.reset();
  return true;
}

}  // namespace sukima::cluster

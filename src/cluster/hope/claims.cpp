// SPDX-License-Identifier: Apache-2.0
#include "hope/claims.hpp"

#include <algorithm>

namespace sukima::cluster::hope {

void claims::claim(const task_key& task, node_id by, clock::time_point since) {
  if (is_lost(by)) return;
  auto& claimants = tasks_[task].claimants;
  const auto [at, is_new] = claimants.try_emplace(by, since);
  if (!is_new) at->second = std::min(at->second, since);
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, tasks_.size());
}

void claims::withdraw(const task_key& task, node_id by) {
  const auto at = tasks_.find(task);
  // If another node withdraws its claim, an orphan stays an orphan.
  if (at == tasks_.end() || at->second.claimants.erase(by) == 0) return;
  if (at->second.claimants.empty()) tasks_.erase(at);
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, tasks_.size());
}

std::vector<task_key> claims::lose(node_id node) {
  if (node >= lost_.size()) lost_.resize(node + std::size_t{1});
  lost_[node] = true;
  std::vector<task_key> orphans;
  for (auto& [key, task] : tasks_)
    if (task.claimants.erase(node) != 0 && task.claimants.empty()) orphans.push_back(key);
  std::ranges::sort(orphans);
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, tasks_.size());
  return orphans;
}

const char* claims::violated_invariant() const {
  const bool all_live = std::ranges::find(lost_, true) == lost_.end();
  for (const auto& [key, task] : tasks_) {
    if (std::ranges::any_of(task.claimants, [this](const auto& c) { return is_lost(c.first); }))
      return "a lost node claims nothing";
    if (all_live && task.claimants.empty()) return "a task without a claimant is an orphan of a lost node";
  }
  return nullptr;
}

claims::state claims::of(const task_key& task) const {
  const auto at = tasks_.find(task);
  if (at == tasks_.end()) return state::free;
  return at->second.claimants.empty() ? state::orphan : state::claimed;
}

std::optional<clock::time_point> claims::since(const task_key& task) const {
  const auto at = tasks_.find(task);
  if (at == tasks_.end() || at->second.claimants.empty()) return std::nullopt;
  return std::ranges::min_element(at->second.claimants, {}, [](const auto& c) { return c.second; })->second;
}

bool claims::yields(const task_key& task, node_id self, const ages& a) const {
  if (a.announced > a.own && a.announced >= a.young) return true;
  if (a.own >= a.young) return false;
  const auto at = tasks_.find(task);
  return at != tasks_.end() && !at->second.claimants.empty() && at->second.claimants.begin()->first < self;
}

}  // namespace sukima::cluster::hope

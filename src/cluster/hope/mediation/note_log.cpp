// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/note_log.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sukima::cluster::hope {

namespace {

/// Estimated memory for one note besides its content, and for one place of a task, in bytes.
constexpr std::size_t overhead_of_note = 256;
constexpr std::size_t overhead_of_place = 128;

std::size_t size_of(const bytes& content) noexcept { return overhead_of_note + content.size(); }

/// Returns a claim as its claimant would write it after that additional time.
bytes aged(const bytes& content, clock::duration more) {
  note n = *read_note(content);  // well-formed, or it would not be kept
  n.time += std::chrono::duration_cast<std::chrono::microseconds>(more);
  return write_note(n);
}

}  // namespace

void note_log::clear() {
  tasks_.clear();
  within_.clear();
  size_ = 0;
}

void note_log::remove(all_tasks::iterator one) {
  const auto& [task, logged] = *one;
  for (const auto& [origin, n] : logged.notes) size_ -= size_of(n.content);
  for (const task_key& place : logged.places) {
    size_ -= overhead_of_place;
    const auto there = within_.find(place);
    there->second.erase(task);
    if (there->second.empty()) within_.erase(there);
  }
  tasks_.erase(one);
}

void note_log::end_claim(const task_key& task, node_id origin) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end() || found->second.has_result) return;
  const auto claimed = found->second.notes.find(origin);
  if (claimed == found->second.notes.end()) return;
  size_ -= size_of(claimed->second.content);
  found->second.notes.erase(claimed);
  if (found->second.notes.empty()) remove(found);
}

void note_log::add(node_id origin, const note& n, byte_view content, clock::time_point now) {
  if (n.kind == note_kind::entry_result) end_entry(n.entry);
  if ((!is_about_a_task(n.kind) && n.kind != note_kind::unclaim) || !takes(n.entry)) return;
  if (n.entry > entry_) {
    clear();
    entry_ = n.entry;
  }
  if (n.kind == note_kind::unclaim) {
    end_claim(n.task, origin);
    return;
  }
  if (size_ > most_) shrink();
  const bool is_result = n.kind == note_kind::result;
  logged_task& task = tasks_[n.task];
  if (task.places.insert(n.within).second) {
    within_[n.within].insert(n.task);
    size_ += overhead_of_place;
  }
  if (task.has_result) return;
  if (is_result)  // the result replaces the claims
    for (const auto& [claimant, claim] : std::exchange(task.notes, {})) size_ -= size_of(claim.content);
  task.has_result = is_result;
  const auto [at, is_new] =
      task.notes.try_emplace(origin, logged_note{bytes(content.begin(), content.end()), now});
  if (is_new) size_ += size_of(at->second.content);
}

void note_log::end_entry(std::uint64_t entry) {
  if (!takes(entry)) return;
  clear();
  entry_ = entry + 1;
}

void note_log::went_to_all(const note& n) {
  if (const auto found = tasks_.find(n.task); n.entry == entry_ && found != tasks_.end()) remove(found);
}

void note_log::lose(node_id node) {
  std::vector<task_key> claimed;
  for (const auto& [task, logged] : tasks_)
    if (!logged.has_result && logged.notes.contains(node)) claimed.push_back(task);
  for (const task_key& task : claimed) end_claim(task, node);
}

bool note_log::is_covered(const logged_task& task) const {
  const logged_task* at = &task;
  for (unsigned level = 0; level < most_levels && at->places.size() == 1; ++level) {
    const auto around = tasks_.find(*at->places.begin());
    if (around == tasks_.end()) return false;
    at = &around->second;
    if (at->has_result) return true;
  }
  return false;
}

void note_log::shrink() {
  std::vector<std::pair<clock::time_point, task_key>> oldest;
  std::vector<task_key> covered;
  for (const auto& [task, logged] : tasks_) {
    if (is_covered(logged))
      covered.push_back(task);
    else
      oldest.emplace_back(logged.notes.begin()->second.came, task);
  }
  for (const task_key& task : covered) remove(tasks_.find(task));
  std::ranges::sort(oldest);
  for (auto one = oldest.begin(); one != oldest.end() && size_ > most_ / 2; ++one)
    remove(tasks_.find(one->second));
}

void note_log::pass(const logged_task& task, clock::time_point now, const taker& take) const {
  for (const auto& [origin, one] : task.notes)
    take(origin, task.has_result ? bytes(one.content) : aged(one.content, now - one.came));
}

void note_log::hand_over(clock::time_point now, const taker& take) const {
  for (const auto& [task, logged] : tasks_)
    if (!is_covered(logged)) pass(logged, now, take);
}

void note_log::replay(const interest& later, const interest& before, clock::time_point now,
                      const taker& take) const {
  const auto pass_one = [&](const task_key& task) {
    if (const auto found = tasks_.find(task); found != tasks_.end()) pass(found->second, now, take);
  };
  if (later.entry != entry_) return;
  if (later.is_all) {
    for (const auto& [task, logged] : tasks_) pass(logged, now, take);
    return;
  }
  for (const task_key& task : later.tasks)
    if (!std::ranges::binary_search(before.tasks, task)) pass_one(task);
  for (const task_key& place : later.places) {
    const auto found = within_.find(place);
    if (found == within_.end() || std::ranges::binary_search(before.places, place)) continue;
    for (const task_key& task : found->second)
      if (!std::ranges::binary_search(later.tasks, task)) pass_one(task);
  }
}

}  // namespace sukima::cluster::hope

// SPDX-License-Identifier: Apache-2.0
#include "hope/looks.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

namespace sukima::cluster::hope {

namespace {

constexpr unsigned most_misses = 3;
/// Pause between looks that find nothing: doubled each time, up to the longest pause.
constexpr std::chrono::microseconds shortest_pause_of_looks{100};
constexpr std::chrono::microseconds longest_pause_of_looks{20000};

}  // namespace

std::vector<task_key> latest_of(std::vector<begun_task> begun, std::size_t workers) {
  std::ranges::sort(begun, std::ranges::greater{}, &begun_task::since);
  if (begun.size() > workers) begun.resize(workers);
  std::vector<task_key> keys;
  std::ranges::transform(begun, std::back_inserter(keys), &begun_task::key);
  return keys;
}

void looks::begin(clock::time_point now) {
  unnamed_.clear();
  within_.clear();
  misses_ = 0;
  ended_ = now;
  next_ = now;
  pause_ = shortest_pause_of_looks;
}

bool looks::add_announced(const task_key& task, const task_key& within) {
  if (!unnamed_.emplace(task, within).second) return false;
  ++within_[within];
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, unnamed_.size());
  return true;
}

void looks::has_name_here(const task_key& task) {
  const auto found = unnamed_.find(task);
  if (found == unnamed_.end()) return;
  const auto place = within_.find(found->second);
  if (--place->second == 0) within_.erase(place);
  unnamed_.erase(found);
  SUKIMA_ASSERT_VALID_PACED(*this, walks_, unnamed_.size());
}

const char* looks::violated_invariant() const {
  std::unordered_map<task_key, std::size_t, task_key_hash> within;
  for (const auto& [task, place] : unnamed_) ++within[place];
  if (within != within_) return "the counts within each task are those of the tasks without a name here";
  if (misses_ >= most_misses) return "a look ends after a few tasks that were of no interest";
  return nullptr;
}

void looks::begin_soon() {
  pause_ = shortest_pause_of_looks;
  next_ = std::min(next_, ended_ + shortest_pause_of_looks);
}

void looks::found() noexcept {
  misses_ = 0;
  pause_ = shortest_pause_of_looks;
}

void looks::missed(clock::time_point now) noexcept {
  if (++misses_ == most_misses) end(now);
}

void looks::end(clock::time_point now) noexcept {
  misses_ = 0;
  ended_ = now;
  next_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause_of_looks);
}

}  // namespace sukima::cluster::hope

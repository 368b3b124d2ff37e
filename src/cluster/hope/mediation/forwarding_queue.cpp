// SPDX-License-Identifier: Apache-2.0
#include "hope/mediation/forwarding_queue.hpp"

#include "hope/mediation/interest.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

/// Most tasks that are stored. If a task is dropped, that costs a needless message.
constexpr std::size_t most_tasks = std::size_t{1} << 16;
constexpr std::size_t most_ended = 16;

bool is_about_claim(note_kind kind) noexcept {
  return kind == note_kind::claim || kind == note_kind::unclaim;
}

}  // namespace

bool forwarding_queue::has_ended(std::uint64_t entry) const {
  return std::ranges::find(ended_, entry) != ended_.end();
}

bool forwarding_queue::is_covered(task_key task) const {
  for (unsigned level = 0; level < most_levels && task != name_of_entry; ++level) {
    const auto found = tasks_.find(task);
    if (found == tasks_.end()) return false;
    if (found->second.has_result) return true;
    task = found->second.within;
  }
  return false;
}

bool forwarding_queue::is_needless(const note& n) const {
  if (n.kind == note_kind::missing || n.kind == note_kind::differs)
    return false;  // a node waits for the answer
  if (has_ended(n.entry)) return true;
  if (n.entry != entry_) return false;
  if (n.kind == note_kind::result || is_about_claim(n.kind))
    return is_covered(n.task) || (n.kind != note_kind::unclaim && is_covered(n.within));
  return false;
}

void forwarding_queue::record(const note& n) {
  if (n.entry > entry_) {
    entry_ = n.entry;
    tasks_.clear();
  }
  if (n.kind == note_kind::entry_result) {
    if (has_ended(n.entry)) return;
    ended_.push_back(n.entry);
    if (ended_.size() > most_ended) ended_.pop_front();
  } else if (n.entry == entry_ && (n.kind == note_kind::result || n.kind == note_kind::claim)) {
    if (tasks_.size() >= most_tasks) tasks_.clear();
    known_task& known = tasks_[n.task];
    known.within = n.within;
    known.has_result |= n.kind == note_kind::result;  // even of a deleted note: a task around it has a result
  }
}

std::size_t forwarding_queue::delete_waiting(const note& n, node_id origin) {
  return std::erase_if(waiting_, [&](const waiting_note& w) {
    const auto old = read_note(w.content);  // well-formed, or it would not wait
    if (n.kind == note_kind::unclaim)
      return old->kind == note_kind::claim && old->task == n.task && w.origin == origin;
    if (n.kind == note_kind::best)
      return old->kind == note_kind::best && old->entry == n.entry && w.origin == origin;
    if (old->kind == note_kind::entry_result) return false;
    // A waiting result is itself recorded, so only a result of a task around it counts.
    if (old->kind == note_kind::result && old->entry == entry_ && !has_ended(entry_))
      return is_covered(old->within);
    return is_needless(*old);
  });
}

std::size_t forwarding_queue::add(waiting_note&& added) {
  const auto n = read_note(added.content);
  if (!n) return 0;
  const bool is_deleted = is_needless(*n);
  record(*n);
  if (is_deleted) return 1;
  const bool makes_needless = n->kind != note_kind::claim && n->kind != note_kind::missing;
  const std::size_t deleted = makes_needless ? delete_waiting(*n, added.origin) : 0;
  waiting_.push_back(std::move(added));
  return deleted;
}

std::size_t forwarding_queue::went_to_all(const note& n) {
  record(n);
  return delete_waiting(n, 0);
}

std::vector<waiting_note> forwarding_queue::take() { return std::exchange(waiting_, {}); }

}  // namespace sukima::cluster::hope

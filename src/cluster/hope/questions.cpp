// SPDX-License-Identifier: Apache-2.0
#include "hope/questions.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

/// How long a message waits for room before it is sent again.
constexpr std::chrono::milliseconds between_tries{20};

}  // namespace

questions::questions(const std::vector<bool>& gone, sender send) : gone_(gone), send_(std::move(send)) {}

std::optional<node_id> questions::next_node() const {
  const auto count = static_cast<node_id>(gone_.size());
  for (node_id step = 1; step < count; ++step) {
    const node_id next = (self_ + step) % count;
    if (!gone_[next]) return next;
  }
  return {};
}

questions::all_questions::iterator questions::first_after(std::uint64_t entry) {
  return all_.upper_bound({entry, {.high = UINT64_MAX, .low = UINT64_MAX}});
}

void questions::ask_next(const result_name& name, question& q) {
  q.asked = next_node();
  q.waits = q.asked && !send_(*q.asked, name);
  question_waits_ = question_waits_ || q.waits;
}

bool questions::make_room(std::uint64_t entry) {
  if (all_.size() < most) return true;
  const std::uint64_t oldest = all_.begin()->first.entry;
  if (oldest == active_ || oldest >= entry) return false;
  all_.erase(all_.begin(), first_after(oldest));
  return true;
}

questions::question* questions::find_or_ask(const result_name& name) {
  auto found = all_.find(name);
  if (found == all_.end()) {
    if (!make_room(name.entry)) return nullptr;
    found = all_.try_emplace(name).first;
  }
  question& q = found->second;
  if (!q.asked) ask_next(name, q);
  return &q;
}

void questions::ask(const result_name& name) {
  if (question* const q = find_or_ask(name)) q->is_own = true;
}

void questions::asked_by(node_id from, const result_name& name) {
  if (question* const q = find_or_ask(name)) q->from.insert(from);
}

std::vector<node_id> questions::known(const result_name& name, node_id from) {
  const auto found = all_.find(name);
  if (found == all_.end()) return {};
  std::vector<node_id> now(found->second.from.begin(), found->second.from.end());
  all_.erase(found);
  std::erase(now, from);
  return now;
}

std::vector<node_id> questions::entry_known(std::uint64_t entry, node_id from) {
  std::set<node_id> now;
  const auto first = first_of(entry);
  const auto last = first_after(entry);
  for (auto one = first; one != last; ++one) now.insert(one->second.from.begin(), one->second.from.end());
  all_.erase(first, last);
  now.erase(from);
  return {now.begin(), now.end()};
}

void questions::end_entry() { all_.erase(first_of(active_), first_after(active_)); }

void questions::refused(const answer& a) {
  if (refused_.size() < most) refused_.insert(a);
}

void questions::lose(node_id node) {
  std::erase_if(refused_, [&](const answer& a) { return a.to == node; });
  for (auto one = all_.begin(); one != all_.end();) {
    auto& [name, q] = *one;
    q.from.erase(node);
    if (!q.is_own && q.from.empty()) {
      one = all_.erase(one);
      continue;
    }
    if (q.asked == node) ask_next(name, q);
    ++one;
  }
}

std::vector<questions::answer> questions::try_again(clock::time_point now) {
  if (now < next_try()) return {};
  if (std::exchange(question_waits_, false)) {
    for (auto& [name, q] : all_)
      if (q.waits) ask_next(name, q);
  }
  next_try_ = now + between_tries;
  const std::set<answer> again = std::exchange(refused_, {});
  return {again.begin(), again.end()};
}

clock::time_point questions::next_try() const noexcept {
  return question_waits_ || !refused_.empty() ? next_try_ : clock::time_point::max();
}

}  // namespace sukima::cluster::hope

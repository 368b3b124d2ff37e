// SPDX-License-Identifier: Apache-2.0
#include "hope/questions.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

/// Questions that are remembered. Forgetting one costs time.
constexpr std::size_t most_questions = std::size_t{1} << 12;

}  // namespace

questions::questions(const std::vector<bool>& gone, sender send)
    : gone_(gone), send_(std::move(send)), has_joined_(gone.size()) {}

std::optional<node_id> questions::next_after(node_id node) const {
  const auto count = static_cast<node_id>(gone_.size());
  for (node_id step = 1; step < count; ++step) {
    const node_id next = (node + step) % count;
    if (next == self_) break;
    if (!gone_[next]) return next;
  }
  return {};
}

void questions::ask_next(const result_name& name, question& q) {
  q.asked = next_after(self_);
  while (q.asked && !send_(*q.asked, name)) q.asked = next_after(*q.asked);
}

void questions::ask(const result_name& name) {
  if (all_.size() >= most_questions) all_.clear();
  question& q = all_[name];
  q.origin.reset();
  if (!q.asked) ask_next(name, q);
}

void questions::asked_by(node_id from, const result_name& name) {
  ask(name);
  all_[name].from.insert(from);
}

std::vector<node_id> questions::received(const result_name& name, node_id from) {
  const auto found = all_.find(name);
  if (found == all_.end()) return {};
  question& q = found->second;
  q.from.erase(from);
  std::vector<node_id> now(q.from.begin(), q.from.end());
  if (q.asked == from || gone_[from] || q.from.empty()) {
    all_.erase(found);
    return now;
  }
  std::erase_if(now, [this](node_id node) { return !has_joined_[node]; });
  q.asked.reset();
  q.origin = from;
  return now;
}

std::vector<node_id> questions::computed(const result_name& name, bool sent_to_all) {
  const auto found = all_.find(name);
  if (found == all_.end()) return {};
  std::vector<node_id> now(found->second.from.begin(), found->second.from.end());
  if (sent_to_all) std::erase_if(now, [this](node_id node) { return !has_joined_[node]; });
  all_.erase(found);
  return now;
}

std::vector<questions::answer> questions::lose(node_id node) {
  std::vector<answer> now;
  for (auto one = all_.begin(); one != all_.end();) {
    auto& [name, q] = *one;
    q.from.erase(node);
    if (q.origin == node) {
      for (const node_id to : q.from) now.push_back({to, name});
      one = all_.erase(one);
      continue;
    }
    if (q.asked == node) ask_next(name, q);
    ++one;
  }
  return now;
}

}  // namespace sukima::cluster::hope

// SPDX-License-Identifier: Apache-2.0
#include "steal/thief.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster {

thief::thief(node_id self, unsigned nodes, std::uint64_t seed) : draws_(seed) {
  for (node_id n = 0; n < nodes; ++n)
    if (n != self) others_.push_back(n);
  begin_round();
}

void thief::begin_round() {
  round_ = others_;
  for (std::size_t i = round_.size(); i > 1; --i) std::swap(round_[i - 1], round_[draws_() % i]);
  const auto giver = last_giver_ ? std::find(round_.begin(), round_.end(), *last_giver_) : round_.end();
  if (giver != round_.end()) std::rotate(giver, giver + 1, round_.end());
}

std::optional<node_id> thief::next_victim(clock::time_point now) {
  if (asked_ && now - asked_at_ >= patience) asked_.reset();
  if (!hungry_ || asked_ || now < pause_ends_) return {};
  if (round_.empty()) begin_round();
  if (round_.empty()) return {};
  asked_ = round_.back();
  round_.pop_back();
  asked_at_ = now;
  return asked_;
}

void thief::on_none(node_id from, clock::time_point now) {
  if (asked_ == from) asked_.reset();
  if (last_giver_ == from) last_giver_.reset();
  if (asked_ || !round_.empty()) return;
  pause_ends_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
}

void thief::on_task(node_id from) {
  if (asked_ == from) asked_.reset();
  last_giver_ = from;
  hungry_ = false;
  begin_entry();
}

void thief::begin_entry() {
  pause_ = shortest_pause;
  pause_ends_ = {};
  begin_round();
}

void thief::forget(node_id node) {
  std::erase(others_, node);
  std::erase(round_, node);
  if (asked_ == node) asked_.reset();
  if (last_giver_ == node) last_giver_.reset();
}

std::optional<clock::time_point> thief::next_look() const noexcept {
  if (!hungry_ || others_.empty()) return {};
  return asked_ ? asked_at_ + patience : pause_ends_;
}

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
#include "steal/thief.hpp"

#include "steal/lifelines.hpp"

#include <algorithm>

namespace sukima::cluster {

thief::thief(node_id self, unsigned nodes, std::uint64_t seed)
    : draws_(seed), self_(self), registered_(nodes) {
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

void thief::refused() noexcept {
  asked_.reset();
  if (refusals_ < most_refusals) ++refusals_;
}

void thief::give_up_late_one(clock::time_point now) {
  if (asked_ && now - asked_at_ >= patience) refused();
}

std::optional<node_id> thief::next_victim(clock::time_point now) {
  give_up_late_one(now);
  if (!hungry_ || asked_ || refusals_ == most_refusals) return {};
  if (round_.empty()) begin_round();
  if (round_.empty()) return {};
  asked_ = round_.back();
  round_.pop_back();
  asked_at_ = now;
  return asked_;
}

std::vector<node_id> thief::take_lifelines(clock::time_point now) {
  give_up_late_one(now);
  if (!hungry_ || refusals_ < most_refusals) return {};
  if (!waits_since_) waits_since_ = now;
  const bool with_all = now - *waits_since_ >= patience;
  std::vector<node_id> taken;
  for (const node_id n : others_)
    if (!registered_[n] && (with_all || are_partners(self_, n))) {
      registered_[n] = true;
      taken.push_back(n);
    }
  return taken;
}

void thief::on_none(node_id from) {
  if (last_giver_ == from) last_giver_.reset();
  if (asked_ == from) refused();
}

void thief::on_task(node_id from) {
  on_surplus(from);
  hungry_ = false;
  asked_.reset();
  refusals_ = 0;
  waits_since_.reset();
  begin_round();
}

void thief::on_surplus(node_id from) {
  last_giver_ = from;
  registered_[from] = false;
  if (asked_ == from) asked_.reset();
}

void thief::begin_entry() {
  asked_.reset();
  refusals_ = 0;
  waits_since_.reset();
  registered_.assign(registered_.size(), false);
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
  if (asked_) return asked_at_ + patience;
  if (!waits_since_) return clock::time_point{};
  const bool with_all =
      std::all_of(others_.begin(), others_.end(), [&](node_id n) { return registered_[n]; });
  if (with_all) return {};
  return *waits_since_ + patience;
}

}  // namespace sukima::cluster

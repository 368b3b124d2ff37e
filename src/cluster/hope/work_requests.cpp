// SPDX-License-Identifier: Apache-2.0
#include "hope/work_requests.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

constexpr std::chrono::microseconds answer_time{10000};
constexpr std::chrono::microseconds shortest_pause{200};
constexpr std::chrono::microseconds longest_pause{5000};
constexpr int patience_with_silent_ones = 5;
constexpr int most_doublings = 4;

}  // namespace

void work_requests::begin() noexcept {
  has_work();
  asked_.reset();
  for (other_node& o : others_) o.is_silent = o.was_asked = false;
  pause_ = shortest_pause;
  times_without_ = 0;
  not_before_ = {};
}

void work_requests::has_work() noexcept {
  idle_since_.reset();
  for (other_node& o : others_) o.has_none = false;
}

void work_requests::does_without() noexcept {
  for (other_node& o : others_) o.is_silent = o.is_silent || !o.has_none;
  times_without_ = std::min(times_without_ + 1, most_doublings);
  has_work();
}

std::optional<node_id> work_requests::next(clock::time_point now, std::uint64_t draw) {
  if (!idle_since_) idle_since_ = now;
  if (asked_ && now >= until_) asked_.reset();
  if (asked_ || now < not_before_) return {};
  const std::size_t nodes = others_.size();
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::size_t chosen = (draw + i) % nodes;
    other_node& o = others_[chosen];
    if (o.is_gone || o.is_silent || std::exchange(o.was_asked, true)) continue;
    asked_ = static_cast<node_id>(chosen);
    until_ = now + answer_time;
    return asked_;
  }
  for (other_node& o : others_) o.was_asked = false;
  not_before_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
  return {};
}

void work_requests::gave(node_id from) noexcept {
  if (asked_ == from) asked_.reset();
  for (other_node& o : others_) o.was_asked = false;
  pause_ = shortest_pause;
}

void work_requests::has_none(node_id from) noexcept {
  if (asked_ == from) asked_.reset();
  others_[from].has_none = true;
}

clock::time_point work_requests::end_of_patience() const noexcept {
  const bool all_have_none = std::ranges::all_of(
      others_, [](const other_node& o) { return o.is_gone || o.is_silent || o.has_none; });
  return idle_since() + patience_ * (all_have_none ? 1 : patience_with_silent_ones) * (1 << times_without_);
}

}  // namespace sukima::cluster::hope

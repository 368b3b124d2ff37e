// SPDX-License-Identifier: Apache-2.0
#include "hope/work_requests.hpp"

#include <algorithm>
#include <utility>

namespace sukima::cluster::hope {

namespace {

constexpr std::chrono::microseconds answer_time{10000};
/// Among more than eight nodes a node waits at least this time for each living node. If many nodes share few
/// CPUs, a node with work answers late. If another node got a request in the meantime, both might give a
/// task, and the second task would be sent back.
constexpr std::chrono::microseconds answer_time_of_each{1250};
constexpr std::chrono::microseconds shortest_pause{200};
constexpr std::chrono::microseconds longest_pause{5000};
/// Largest number of nodes that get requests without a pause between them.
constexpr std::size_t few_nodes = 8;
/// Among more nodes there is a pause after this number of requests: in the first turn, and later.
constexpr unsigned requests_in_a_row = 4;
constexpr unsigned later_requests_in_a_row = 1;
/// Time per living node in the longest pause, among more nodes.
constexpr std::chrono::microseconds longest_pause_of_each{1250};
constexpr int patience_with_silent_ones = 5;
constexpr int most_doublings = 4;

}  // namespace

void work_requests::begin() noexcept {
  has_work();
  asked_.reset();
  for (other_node& o : others_) o.is_silent = o.was_asked = o.lacks_work = false;
  pause_ = shortest_pause;
  in_a_row_ = 0;
  times_without_ = 0;
  not_before_ = {};
}

void work_requests::has_work() noexcept {
  idle_since_.reset();
  is_first_turn_ = true;
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
  if (is_among_many() && in_a_row_ >= (is_first_turn_ ? requests_in_a_row : later_requests_in_a_row)) {
    pause(now);
    return {};
  }
  const std::size_t nodes = others_.size();
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::size_t chosen = (draw + i) % nodes;
    other_node& o = others_[chosen];
    if (o.is_gone || o.is_silent || o.was_asked) continue;
    if (o.lacks_work && is_first_turn_ && is_among_many()) continue;
    o.was_asked = true;
    asked_ = static_cast<node_id>(chosen);
    until_ = now + at_least(answer_time, answer_time_of_each);
    ++in_a_row_;
    return asked_;
  }
  for (other_node& o : others_) o.was_asked = false;
  is_first_turn_ = false;
  pause(now);
  return {};
}

bool work_requests::is_among_many() const noexcept { return others_.size() > few_nodes; }

std::chrono::microseconds work_requests::at_least(std::chrono::microseconds least,
                                                  std::chrono::microseconds of_each) const noexcept {
  if (!is_among_many()) return least;
  return std::max(least, std::ranges::count(others_, false, &other_node::is_gone) * of_each);
}

void work_requests::pause(clock::time_point now) {
  in_a_row_ = 0;
  not_before_ = now + pause_;
  pause_ = std::min(pause_ * 2, at_least(longest_pause, longest_pause_of_each));
}

void work_requests::gave(node_id from) noexcept {
  if (asked_ == from) asked_.reset();
  works(from);
  for (other_node& o : others_) o.was_asked = false;
  pause_ = shortest_pause;
  in_a_row_ = 0;
}

void work_requests::has_none(node_id from) noexcept {
  if (asked_ == from) asked_.reset();
  others_[from].has_none = others_[from].lacks_work = true;
}

void work_requests::asks_itself(node_id from) noexcept {
  others_[from].has_none = others_[from].lacks_work = true;
  others_[from].was_asked = others_[from].was_asked || idle_since_.has_value();
}

clock::time_point work_requests::end_of_patience() const noexcept {
  const bool is_many = is_among_many();
  const bool all_have_none = std::ranges::all_of(others_, [is_many](const other_node& o) {
    return o.is_gone || o.is_silent || o.has_none || (is_many && o.lacks_work);
  });
  return idle_since() + patience_ * (all_have_none ? 1 : patience_with_silent_ones) * (1 << times_without_);
}

}  // namespace sukima::cluster::hope

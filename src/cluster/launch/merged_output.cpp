// SPDX-License-Identifier: Apache-2.0
#include "launch/merged_output.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>

namespace sukima::cluster {

namespace {

// FNV-1a. A cryptographic hash is not necessary, because outputs differ only by mistake.
constexpr std::uint64_t sum_of_nothing = 0xCBF29CE484222325u;

std::uint64_t sum_with(std::uint64_t sum, std::string_view text) noexcept {
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return sum;
}

}  // namespace

merged_output::merged_output(unsigned nodes) : nodes_(nodes), sum_(sum_of_nothing) {}

std::size_t merged_output::room(unsigned node) const {
  const std::uint64_t behind = end_of_window() - nodes_[node].size;
  const std::size_t waiting = unprinted().size();
  return static_cast<std::size_t>(behind) + window - std::min(window, waiting);
}

std::string_view merged_output::in_window(std::uint64_t from) const {
  return std::string_view(text_).substr(unused_ + static_cast<std::size_t>(from - begin_));
}

std::string_view merged_output::unprinted() const { return in_window(printed_); }

void merged_output::printed(std::size_t size) {
  SUKIMA_ASSERT(size <= unprinted().size(), "only text that a node has written is printed");
  printed_ += size;
  move_window();
}

void merged_output::set_goal(writer& w) const {
  w.since = w.size;
  w.goal = begin_;
  w.sum_there = sum_;
}

std::optional<merged_output::difference> merged_output::take(unsigned node, std::string_view text) {
  writer& w = nodes_[node];
  while (!text.empty() && w.size < begin_) {
    const std::string_view part = text.substr(0, static_cast<std::size_t>(w.goal - w.size));
    w.sum = sum_with(w.sum, part);
    w.size += part.size();
    text.remove_prefix(part.size());
    if (w.size != w.goal) return {};
    if (w.sum != w.sum_there) return difference{.node = node, .from = w.since, .to = w.goal - 1};
    set_goal(w);
  }
  if (text.empty()) return {};
  const std::string_view known = in_window(w.size).substr(0, text.size());
  const auto [other, own] = std::mismatch(known.begin(), known.end(), text.begin());
  if (other != known.end()) {
    const std::uint64_t at = w.size + static_cast<std::uint64_t>(own - text.begin());
    return difference{.node = node, .from = at, .to = at};
  }
  w.size += text.size();
  text_.append(text.substr(known.size()));
  move_window();
  return {};
}

void merged_output::end(unsigned node) {
  nodes_[node].is_live = false;
  move_window();
}

std::optional<merged_output::difference> merged_output::shorter(unsigned node) const {
  const std::uint64_t size = nodes_[node].size;
  if (size == end_of_window()) return {};
  return difference{.node = node, .from = size, .to = size, .is_shorter = true};
}

void merged_output::move_window() {
  std::uint64_t least = printed_;
  for (const writer& w : nodes_)
    if (w.is_live) least = std::min(least, w.size);
  const std::uint64_t end = end_of_window();
  const std::uint64_t oldest = end - std::min<std::uint64_t>(window, end);
  move_window_to(std::max(begin_, std::min(printed_, std::max(least, oldest))));
}

void merged_output::move_window_to(std::uint64_t offset) {
  while (begin_ < offset) {
    std::uint64_t next = offset;
    for (const writer& w : nodes_)
      if (w.is_live && w.size > begin_) next = std::min(next, w.size);
    // Nodes that have written exactly up to here fall behind the window.
    for (writer& w : nodes_)
      if (w.is_live && w.size == begin_) w.sum = sum_;
    const auto size = static_cast<std::size_t>(next - begin_);
    sum_ = sum_with(sum_, in_window(begin_).substr(0, size));
    begin_ = next;
    unused_ += size;
  }
  for (writer& w : nodes_)
    if (w.is_live && w.size < begin_ && w.goal <= w.size) set_goal(w);
  if (unused_ > text_.size() / 2) {
    text_.erase(0, unused_);
    unused_ = 0;
  }
  SUKIMA_ASSERT_VALID(*this);
}

const char* merged_output::violated_invariant() const {
  if (unused_ > text_.size()) return "no more of the text is unused than there is";
  if (printed_ < begin_ || printed_ > end_of_window()) return "text that was not printed is in the window";
  for (const writer& w : nodes_) {
    if (!w.is_live) continue;
    if (w.size > end_of_window()) return "the window has the newest text of all nodes";
    if (w.size < begin_ && (w.since > w.size || w.goal <= w.size || w.goal > begin_))
      return "a node behind the window has a goal before it, up to the window";
  }
  return nullptr;
}

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
// Limits and checks the messages from a guest.
#include "shared/inbox.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace sukima::host {
namespace {

/// Seconds between two sentences about one guest, so that a guest cannot fill the log.
constexpr double between_complaints = 60;

}  // namespace

bool token_bucket::take(double now, double events) {
  if (filled_) left_ = std::min(burst_, left_ + std::max(0.0, now - *filled_) * rate_);
  filled_ = std::max(now, filled_.value_or(now));
  if (left_ < events) return false;
  left_ -= events;
  return true;
}

void guest_inbox::feed(std::string_view bytes, double now) {
  frames_.feed(bytes, [&](std::string_view text) {
    if (!budget_.take(now)) {
      ++too_many_;
      return;
    }
    auto message = parse_guest_message(text);
    if (!message) {
      ++malformed_;
      return;
    }
    ++taken_;
    // If the host does not take messages for a long time, drop the oldest one.
    if (waiting_.size() >= static_cast<std::size_t>(guest_messages_a_second))
      waiting_.erase(waiting_.begin());
    waiting_.push_back(*std::move(message));
  });
}

std::vector<guest_message> guest_inbox::take() { return std::exchange(waiting_, {}); }

guest_inbox::counts guest_inbox::seen() const { return {taken_, malformed_ + frames_.dropped(), too_many_}; }

std::optional<std::string> guest_inbox::complaint(double now) {
  const counts all = seen();
  const std::uint64_t malformed = all.malformed - reported_.malformed,
                      too_many = all.too_many - reported_.too_many;
  if (malformed + too_many == 0) return std::nullopt;
  if (reported_at_ && now - *reported_at_ < between_complaints) return std::nullopt;
  reported_ = all;
  reported_at_ = now;
  return fmt::format("dropped {} malformed messages and {} above {:g} a second", malformed, too_many,
                     guest_messages_a_second);
}

}  // namespace sukima::host

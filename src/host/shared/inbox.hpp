// SPDX-License-Identifier: Apache-2.0
// What a host takes from a guest: the guest is hostile until its messages have passed here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"

namespace sukima::host {

/// A budget of events: `rate` a second, and after a pause `burst` at once.
class token_bucket {
 public:
  /// With a burst of one second.
  explicit token_bucket(double rate) : token_bucket(rate, rate) {}
  token_bucket(double rate, double burst) : rate_(rate), burst_(burst), left_(burst) {}
  /// \param now seconds of a clock that does not go back \returns whether so many more events are allowed
  bool take(double now, double events = 1);

 private:
  double rate_, burst_, left_;
  std::optional<double> filled_;
};

/// Messages of a guest that are taken a second.
inline constexpr double guest_messages_a_second = 10;

/// Turns what came from one guest into messages. It keeps at most one unfinished message of 4 KiB and what
/// was not taken yet, at most as many messages as a second allows. Times are seconds of a clock that does
/// not go back.
class guest_inbox {
 public:
  struct counts {
    std::uint64_t taken = 0;
    std::uint64_t malformed = 0;  ///< messages that the grammar refuses, and runs of bytes outside any
    std::uint64_t too_many = 0;  ///< messages above the rate; they are not looked at
  };

  /// Takes bytes as they came. Linear time.
  void feed(std::string_view bytes, double now);
  /// The connection has ended: what follows begins a new message.
  void cut() { frames_.clear(); }
  /// The messages since the last call, oldest first.
  std::vector<guest_message> take();

  counts seen() const;
  /// A sentence about what was dropped since the last one, without the name of the guest; at most one a
  /// minute.
  std::optional<std::string> complaint(double now);

 private:
  message_frames frames_{"sukima-guest 1"};
  token_bucket budget_{guest_messages_a_second};
  std::vector<guest_message> waiting_;
  std::uint64_t taken_ = 0, malformed_ = 0, too_many_ = 0;
  counts reported_;
  std::optional<double> reported_at_;
};

}  // namespace sukima::host

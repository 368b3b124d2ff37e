// SPDX-License-Identifier: Apache-2.0
// The host's side of the messages from a guest. A guest counts as hostile: this code limits and checks all
// that it sends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "message.hpp"

namespace sukima::host {

/// Limits a rate of events: `rate` per second, and up to `burst` at once after a pause.
class token_bucket {
 public:
  /// A bucket whose burst is the events of one second.
  explicit token_bucket(double rate) : token_bucket(rate, rate) {}
  token_bucket(double rate, double burst) : rate_(rate), burst_(burst), left_(burst) {}
  /// \param now in seconds of a clock that never goes back \returns whether this many more events are allowed
  bool take(double now, double events = 1);

 private:
  double rate_, burst_, left_;
  std::optional<double> filled_;
};

/// The number of messages per second that are accepted from a guest.
inline constexpr double guest_messages_a_second = 10;

/// Turns bytes from one guest into messages. It stores at most one unfinished message of 4 KiB, and the
/// messages that the caller has not taken yet, at most as many as may arrive in a second. Times are in
/// seconds of a clock that never goes back.
class guest_inbox {
 public:
  struct counts {
    std::uint64_t taken = 0;
    std::uint64_t malformed = 0;  ///< messages that the grammar rejects, and runs of bytes outside messages
    std::uint64_t too_many = 0;  ///< messages above the rate; they are not parsed

    counts& operator+=(const counts& more) {
      taken += more.taken;
      malformed += more.malformed;
      too_many += more.too_many;
      return *this;
    }
  };

  /// Takes bytes in the order of their arrival. Linear time.
  void feed(std::string_view bytes, double now);
  /// Reacts to the end of the connection: the next bytes begin a new message.
  void cut() { frames_.clear(); }
  /// The accepted messages since the last call, the oldest first.
  std::vector<guest_message> take();

  counts seen() const;
  /// A sentence about the messages dropped since the last sentence, without the guest's name; at most one per
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

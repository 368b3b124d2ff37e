// SPDX-License-Identifier: Apache-2.0
// What a host and its guests say to each other: two kinds of message, each a few lines of text.
//
//     sukima-host 1          sukima-guest 1
//     usable 1.5             progress 12345.6
//     valid 10               online 0-3
//     trial 3                want 2
//     vcpus 2                turn
//     end                    end
//
// docs/host-reference.md says what the words mean. Neither side trusts the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// The longest message, in bytes with its first and last line.
inline constexpr std::size_t longest_message = 4096;
/// The largest numbers that a message may have: CPUs, and progress in units of the program.
inline constexpr double most_message_cpus = 65536, most_progress = 1e15;

/// What a host says to a guest.
struct host_message {
  /// CPUs that the whole guest gets; above 0.
  double usable = 1;
  /// Seconds, above 0, at most a day: the message counts for so long after it has come.
  double valid = 10;
  /// `usable` is only tried, and is this count.
  std::optional<unsigned> trial = {};
  /// How many virtual CPUs should be online; for the guest service only.
  std::optional<unsigned> vcpus = {};
};

/// What a guest says to its host, and a program in it to the guest service.
struct guest_message {
  /// What was done so far, in units of the programs; only its growth means something.
  std::optional<double> progress = {};
  /// The CPUs that are online.
  std::optional<std::vector<std::uint32_t>> online = {};
  /// More CPUs than this are of no use now.
  std::optional<unsigned> want = {};
  /// The CPU that is being used should go to another virtual CPU of the same guest. No host acts on it yet.
  bool turn = false;
};

/// The message as lines. \pre the numbers are within the bounds above. Linear time.
std::string text_of(const host_message& message);
std::string text_of(const guest_message& message);

/// Understands a whole message of a host. Words that are not known are skipped, as capacity's reader does.
/// \returns nothing if a number is malformed or out of bounds, or a line is missing. Linear time.
std::optional<host_message> parse_host_message(std::string_view text);

/// Understands a whole message of a guest: the six words above, each at most once, and nothing else.
/// \returns nothing if it is anything else. Linear time.
std::optional<guest_message> parse_guest_message(std::string_view text);

/// Cuts a stream of bytes into messages. It keeps at most one message of the longest length.
class message_frames {
 public:
  /// \param first the first line of a message, without its end; the last one is `end`
  explicit message_frames(std::string first) : first_(std::move(first)) {}

  /// Calls `take` with each message that these bytes complete; it is valid during the call. Linear time.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& take);
  /// Forgets the message that has begun.
  void clear();
  /// How many runs of bytes belonged to no message, or to one that was too long or cut off by the next.
  std::uint64_t dropped() const { return dropped_; }

 private:
  void end_line(const std::function<void(std::string_view)>& take);
  void drop();

  std::string first_;
  std::string kept_;  ///< the message that has begun; outside one nothing
  std::string line_;
  bool line_too_long_ = false;
  bool in_garbage_ = false;  ///< what belongs to no message is counted once
  std::uint64_t dropped_ = 0;
};

}  // namespace sukima::host

// SPDX-License-Identifier: Apache-2.0
// The two kinds of messages between a host and its guests, each of a few lines of text.
//
//     sukima-host 1          sukima-guest 1
//     usable 1.5             progress 12345.6
//     valid 10               online 0-3
//     trial 3                want 2
//     vcpus 2                turn
//     end                    end
//
// docs/host-reference.md explains the words. Neither side trusts the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::host {

/// The longest message, in bytes, including its first and last line.
inline constexpr std::size_t longest_message = 4096;
/// The largest numbers in a message: CPUs, and progress in units of the program.
inline constexpr double most_message_cpus = 65536, most_progress = 1e15;

/// A message from a host to a guest.
struct host_message {
  /// The CPUs for the whole guest; above 0.
  double usable = 1;
  /// How long the message is valid after its arrival, in seconds; above 0, at most a day.
  double valid = 10;
  /// Present if `usable` is only a trial; this is the count that is being tried.
  std::optional<unsigned> trial = {};
  /// The number of virtual CPUs that should be online; for the guest service only.
  std::optional<unsigned> vcpus = {};
};

/// A message from a guest to its host, or from a program in the guest to the guest service.
struct guest_message {
  /// The work done so far, in units of the programs. Only its growth has a meaning.
  std::optional<double> progress = {};
  /// The CPUs that are online.
  std::optional<std::vector<std::uint32_t>> online = {};
  /// The most CPUs that are of use to the guest now.
  std::optional<unsigned> want = {};
  /// Asks the host to give the CPU that is now in use to another virtual CPU of the same guest. No host
  /// implements this yet.
  bool turn = false;
};

/// Returns the message as text. \pre the numbers are within the bounds above. Linear time.
std::string text_of(const host_message& message);
std::string text_of(const guest_message& message);

/// Parses a complete message of a host. Skips unknown words, as capacity's reader does.
/// \returns nothing if a number is malformed or out of bounds, or a line is missing. Linear time.
std::optional<host_message> parse_host_message(std::string_view text);

/// Parses a complete message of a guest. Only the six words above may occur, each at most once.
/// \returns nothing if the message contains anything else. Linear time.
std::optional<guest_message> parse_guest_message(std::string_view text);

/// Cuts a stream of bytes into messages. It stores at most one message of the maximum length.
class message_frames {
 public:
  /// \param first the first line of a message, without its newline; the last line is `end`
  explicit message_frames(std::string first) : first_(std::move(first)) {}

  /// Calls `take` with each message that these bytes complete. The text is valid during the call. Linear
  /// time.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& take);
  /// Discards the unfinished message.
  void clear();
  /// The number of runs of bytes that belonged to no message, or to a message that was too long or
  /// interrupted by the next one.
  std::uint64_t dropped() const { return dropped_; }

 private:
  void end_line(const std::function<void(std::string_view)>& take);
  void drop();

  std::string first_;
  std::string kept_;  ///< the unfinished message; empty outside a message
  std::string line_;
  bool line_too_long_ = false;
  bool in_garbage_ = false;  ///< true while bytes outside a message arrive; each such run is counted once
  std::uint64_t dropped_ = 0;
};

}  // namespace sukima::host

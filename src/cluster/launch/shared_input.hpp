// SPDX-License-Identifier: Apache-2.0
// The standard input of the launcher, which all nodes receive.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sukima::cluster {

/// The bytes that were read from stdin, kept until all nodes have received them. While the launcher is in the
/// background of its terminal it does not read, because reading would stop it (SIGTTIN), and the nodes would
/// wait for it. If no shell is left that could bring it to the foreground, the input has ended.
class shared_input {
 public:
  /// Most bytes that one node may be behind others. If node 0 reads less than this, other nodes need not read
  /// at all.
  static constexpr std::size_t most_ahead = std::size_t{64} << 20;

  /// Returns the descriptor to wait for, or -1 if the input has ended, must not be read now, or a node is far
  /// behind.
  /// \param least_sent number of bytes that the slowest node has received
  int awaited(std::size_t least_sent);
  /// Whether awaited() must be called again after a while, because no event shows that the launcher has come
  /// to the foreground.
  bool is_in_background() const noexcept { return is_in_background_; }
  /// Reads input. Called after the descriptor of awaited() became ready.
  void read_some(std::size_t least_sent);

  bool has_ended() const noexcept { return has_ended_; }
  /// Whether a node is so far behind that no input is read until that node has read some.
  bool is_full(std::size_t least_sent) const noexcept {
    return !has_ended_ && size_ - least_sent >= most_ahead;
  }
  std::size_t size() const noexcept { return size_; }  ///< number of bytes read so far
  /// Returns the bytes after the first `sent` ones. \pre `sent` is not below the last least_sent
  std::string_view after(std::size_t sent) const;

 private:
  std::string kept_;  ///< the last bytes that were read
  std::size_t size_ = 0;
  bool has_ended_ = false;
  bool is_in_background_ = false;
};

/// Detects that one node holds up the input of all others. Does not read a clock.
class input_stall {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// \param is_full     whether no input is read until the slowest node has read some
  /// \param least_sent  number of bytes that this node has received
  void look(bool is_full, std::size_t least_sent, time_point now);
  /// The time from which take() may return true; nothing: not in the present state.
  std::optional<time_point> next() const;
  /// Whether the launcher must report it now. Returns true once.
  bool take(time_point now);
  /// Returns the sentence for the user.
  static std::string sentence(std::size_t node);

 private:
  std::optional<time_point> since_;
  std::size_t least_sent_ = 0;
  bool is_said_ = false;
};

}  // namespace sukima::cluster

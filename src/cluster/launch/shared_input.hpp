// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, which all nodes get.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sukima::cluster {

/// The bytes that were read from stdin, kept until all nodes have received them. The launcher does not read a
/// terminal while it is in its background: that would stop it (SIGTTIN), and the nodes would wait for it. If
/// no shell is left that could bring it to the foreground, the input has ended.
class shared_input {
 public:
  /// Bytes that one node may be behind others: a node need not read as long as node 0 reads only that much.
  static constexpr std::size_t most_ahead = std::size_t{64} << 20;

  /// The descriptor to wait for, or -1: it has ended, it may not be read now, or a node is far behind.
  /// \param least_sent how much the node that is farthest behind has got
  int awaited(std::size_t least_sent);
  /// Whether awaited() must be called again after a while: no event shows that the launcher has come to the
  /// foreground.
  bool is_in_background() const noexcept { return is_in_background_; }
  /// After awaited() was ready.
  void read_some(std::size_t least_sent);

  bool has_ended() const noexcept { return has_ended_; }
  /// A node is so far behind that nothing more is read before it has read something.
  bool is_full(std::size_t least_sent) const noexcept {
    return !has_ended_ && size_ - least_sent >= most_ahead;
  }
  std::size_t size() const noexcept { return size_; }  ///< of all that was read
  /// Returns the bytes after the first `sent` ones. \pre sent is at least the last least_sent
  std::string_view after(std::size_t sent) const;

 private:
  std::string kept_;  ///< the last bytes
  std::size_t size_ = 0;
  bool has_ended_ = false;
  bool is_in_background_ = false;
};

/// Notices that one node holds up the input of all others. Without a clock.
class input_stall {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  /// \param is_full     nothing more is read before the node that is farthest behind has read something
  /// \param least_sent  how much that node has got
  void look(bool is_full, std::size_t least_sent, time_point now);
  /// The time from which take() may return true; nothing: not in the present state.
  std::optional<time_point> next() const;
  /// Returns whether the launcher must report it now: true once.
  bool take(time_point now);
  /// The sentence for the user.
  static std::string sentence(std::size_t node);

 private:
  std::optional<time_point> since_;
  std::size_t least_sent_ = 0;
  bool is_said_ = false;
};

}  // namespace sukima::cluster

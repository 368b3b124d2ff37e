// SPDX-License-Identifier: Apache-2.0
// The launcher's standard input, which all nodes get.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::cluster {

/// What was read from stdin, kept until all nodes have got it. A terminal is not read while the launcher is
/// in its background: that would stop the launcher (SIGTTIN), and the nodes would wait for it. Where no shell
/// is left that could bring it to the foreground, the input has ended.
class shared_input {
 public:
  /// The descriptor to wait for, or -1: it has ended, it may not be read now, or a node is far behind.
  /// \param least_sent how much the node that is farthest behind has got
  int awaited(std::size_t least_sent);
  /// Whether awaited() is to be asked again after a while: nothing tells that the launcher has come to the
  /// foreground.
  bool is_in_background() const noexcept { return is_in_background_; }
  /// After awaited() was ready.
  void read_some(std::size_t least_sent);

  bool has_ended() const noexcept { return has_ended_; }
  std::size_t size() const noexcept { return size_; }  ///< of all that was read
  /// What follows after `sent` bytes. \pre sent is at least the last least_sent
  std::string_view after(std::size_t sent) const;

 private:
  std::string kept_;  ///< the last bytes
  std::size_t size_ = 0;
  bool has_ended_ = false;
  bool is_in_background_ = false;
};

}  // namespace sukima::cluster

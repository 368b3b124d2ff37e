// SPDX-License-Identifier: Apache-2.0
// Merges the outputs of nodes that all write the same text: each byte once, from the node that writes it
// first.
#pragma once

#include "launch/nodes_output.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// The output of a node that is behind is compared with the text that others wrote before. In the window,
/// which contains the newest text, it is compared byte by byte. The output of a node that is behind the
/// window is compared by a checksum of its whole text, at offsets where the window began earlier. So the
/// memory is bounded, and no node waits for a slower one. Text that was not printed yet stays in the window;
/// the fastest node waits until it is printed.
class merged_output final : public nodes_output {
 public:
  static constexpr std::size_t window = std::size_t{1} << 20;

  using difference = output_difference;

  explicit merged_output(unsigned nodes);

  /// Returns 0 for a node only if no other node has written more.
  std::size_t room(unsigned node) const override;
  /// Complexity: linear in the size of the text, and in the number of nodes that are behind the window.
  std::optional<difference> take(unsigned node, std::string_view text) override;
  void end(unsigned node) override;
  std::optional<difference> shorter(unsigned node) const override;
  std::string_view unprinted() const override;
  void printed(std::size_t size) override;
  /// \returns the first invariant that does not hold, or null
  const char* violated_invariant() const;

 private:
  using checksum = std::uint64_t;
  struct writer {
    std::uint64_t size = 0;  ///< number of bytes that the node has written
    bool is_live = true;
    // If it is behind the window:
    checksum sum = 0;  ///< checksum of these bytes
    std::uint64_t since = 0;  ///< the last offset at which the checksums were equal
    std::uint64_t goal = 0;  ///< the next offset at which they are compared
    checksum sum_there = 0;
  };

  std::uint64_t end_of_window() const noexcept { return begin_ + text_.size() - unused_; }
  std::string_view in_window(std::uint64_t from) const;
  void set_goal(writer& w) const;
  void move_window();
  void move_window_to(std::uint64_t offset);

  std::vector<writer> nodes_;
  std::string text_;  ///< the window, after `unused_` bytes that are not used any more
  std::size_t unused_ = 0;
  std::uint64_t begin_ = 0;  ///< the offset at which the window begins
  checksum sum_;  ///< of all bytes before the window
  std::uint64_t printed_ = 0;
};

}  // namespace sukima::cluster

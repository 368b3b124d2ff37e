// SPDX-License-Identifier: Apache-2.0
// One output for nodes that all write the same text: each byte once, from the node that writes it first.
#pragma once

#include "launch/nodes_output.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cluster {

/// The output of a node that is behind is compared with the text that others wrote before. The window, which
/// holds the newest text, is compared byte by byte. A node that is farther behind is compared by a checksum
/// of all that it has written, at the places where the window began. So the memory is bounded, and no node
/// waits for one that is behind it. Text that is not printed yet stays in the window: the node that writes
/// first waits for it.
class merged_output final : public nodes_output {
 public:
  static constexpr std::size_t window = std::size_t{1} << 20;

  using difference = output_difference;

  explicit merged_output(unsigned nodes);

  /// 0 for a node only if no other node has written more.
  std::size_t room(unsigned node) const override;
  /// Complexity: linear in the size, and in the number of nodes that are farther behind than the window.
  std::optional<difference> take(unsigned node, std::string_view text) override;
  void end(unsigned node) override;
  std::optional<difference> shorter(unsigned node) const override;
  std::string_view unprinted() const override;
  void printed(std::size_t size) override;

 private:
  using checksum = std::uint64_t;
  struct writer {
    std::uint64_t size = 0;  ///< what it has written
    bool is_live = true;
    // Behind the window:
    checksum sum = 0;  ///< of what it has written
    std::uint64_t since = 0;  ///< the offset where it was last found to be right
    std::uint64_t goal = 0;  ///< the next offset where it is compared
    checksum sum_there = 0;
  };

  std::uint64_t end_of_window() const noexcept { return begin_ + text_.size() - unused_; }
  std::string_view in_window(std::uint64_t from) const;
  void set_goal(writer& w) const;
  void move_window();
  void move_window_to(std::uint64_t offset);

  std::vector<writer> nodes_;
  std::string text_;  ///< the window, after some bytes that are not used any more
  std::size_t unused_ = 0;
  std::uint64_t begin_ = 0;  ///< the offset of the window
  checksum sum_;  ///< of all that is before it
  std::uint64_t printed_ = 0;
};

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
// Merges the outputs of nodes that write different texts: the bytes of node 0 unchanged, and whole lines of
// the others.
#pragma once

#include "launch/nodes_output.hpp"

#include <string>
#include <vector>

namespace sukima::cluster {

/// Bytes of node 0 are printed at once, even if their line is unfinished. Lines of other nodes are printed
/// between lines of node 0, each after the prefix of its node. While the line of node 0 is unfinished, they
/// are kept without a limit, because node 0 may wait for a task of a node that would wait for the launcher.
class gathered_output final : public nodes_output {
 public:
  /// Most bytes that may wait for a slow reader before the nodes must wait.
  static constexpr std::size_t most_unprinted = std::size_t{1} << 20;
  /// Most bytes of an unfinished line of a node other than 0 that are kept. A longer line is printed in
  /// pieces, each as a line.
  static constexpr std::size_t longest_line = std::size_t{1} << 20;

  /// \param prefixes  by node, the beginning of each of its lines; empty for node 0
  explicit gathered_output(std::vector<std::string> prefixes);

  std::size_t room(unsigned node) const override;
  /// Complexity: linear in the size of the text.
  std::optional<output_difference> take(unsigned node, std::string_view text) override;
  /// Ends the output of a node. An unfinished line gets a newline; for node 0, only if text follows.
  void end(unsigned node) override;
  std::optional<output_difference> shorter(unsigned /*node*/) const override { return {}; }
  std::string_view unprinted() const override { return std::string_view(ready_).substr(printed_); }
  void printed(std::size_t size) override;

 private:
  enum class line_of_0 { finished, unfinished, cut };

  void take_from_0(std::string_view text);
  /// Prints whole lines of other nodes, or keeps them while the line of node 0 is unfinished.
  void put_lines(std::string_view lines);
  void release_kept();

  const std::vector<std::string> prefixes_;
  std::vector<std::string> unfinished_;  ///< the last, unfinished line of each other node
  std::string ready_;
  std::size_t printed_ = 0;  ///< how many bytes of `ready_` were printed
  std::string kept_;  ///< whole lines of other nodes that wait until the line of node 0 is finished
  line_of_0 last_ = line_of_0::finished;
};

}  // namespace sukima::cluster

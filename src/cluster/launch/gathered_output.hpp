// SPDX-License-Identifier: Apache-2.0
// One output for nodes that write different texts: node 0's bytes unchanged, and whole lines of the others.
#pragma once

#include "launch/nodes_output.hpp"

#include <string>
#include <vector>

namespace sukima::cluster {

/// Node 0's bytes are printed at once, also those of an unfinished line. Lines of other nodes are printed
/// between the lines of node 0, each behind its node's prefix. While node 0's line is unfinished they are
/// kept, without a limit: node 0 may wait for a task of a node that would wait for the launcher.
class gathered_output final : public nodes_output {
 public:
  /// Bytes that may wait for a slow reader before the nodes wait.
  static constexpr std::size_t most_unprinted = std::size_t{1} << 20;

  /// \param prefixes  what each line of a node begins with, by node; node 0's must be empty
  explicit gathered_output(std::vector<std::string> prefixes);

  std::size_t room(unsigned node) const override;
  /// Complexity: linear in the size.
  std::optional<output_difference> take(unsigned node, std::string_view text) override;
  /// Ends the output of a node. An unfinished line gets a newline; that of node 0 gets it only if text
  /// follows.
  void end(unsigned node) override;
  std::optional<output_difference> shorter(unsigned /*node*/) const override { return {}; }
  std::string_view unprinted() const override { return std::string_view(ready_).substr(printed_); }
  void printed(std::size_t size) override;

 private:
  enum class line_of_0 { finished, unfinished, cut };

  void take_from_0(std::string_view text);
  /// Prints whole lines of other nodes, or keeps them while node 0's line is unfinished.
  void put_lines(std::string_view lines);
  void release_kept();

  const std::vector<std::string> prefixes_;
  std::vector<std::string> unfinished_;  ///< the last line of each other node
  std::string ready_;
  std::size_t printed_ = 0;  ///< how much of it
  std::string kept_;  ///< whole lines of other nodes, while node 0's line is unfinished
  line_of_0 last_ = line_of_0::finished;
};

}  // namespace sukima::cluster

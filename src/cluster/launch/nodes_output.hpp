// SPDX-License-Identifier: Apache-2.0
// Merges the outputs of the nodes for the launcher, without descriptors.
#pragma once

#include "shared/launch.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace sukima::cluster {

class nodes_output {
 public:
  nodes_output() = default;
  nodes_output(const nodes_output&) = delete;
  nodes_output& operator=(const nodes_output&) = delete;
  virtual ~nodes_output() = default;

  /// Returns how many bytes of this node take() accepts now. 0: too many bytes wait to be printed.
  virtual std::size_t room(unsigned node) const = 0;
  /// Takes the next bytes of a node.
  /// \pre there are not more bytes than room(), and the node has not ended
  /// \returns the first difference from the text of other nodes, if all must write the same
  virtual std::optional<output_difference> take(unsigned node, std::string_view text) = 0;
  /// Records that the node writes nothing more.
  virtual void end(unsigned node) = 0;
  /// Returns where the output of a node ended if it is shorter than that of others, if all must write the
  /// same.
  virtual std::optional<output_difference> shorter(unsigned node) const = 0;

  /// Returns the bytes to be printed next. Valid until the next call of another function.
  virtual std::string_view unprinted() const = 0;
  /// Removes that many bytes, which were printed.
  virtual void printed(std::size_t size) = 0;
};

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
// Merging of the nodes' outputs for the launcher, without descriptors.
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

  /// Returns how many bytes take() may get from this node now. 0: too much waits to be printed.
  virtual std::size_t room(unsigned node) const = 0;
  /// Takes the next bytes of a node.
  /// \pre not more than its room; the node has not ended
  /// \returns the first difference to what other nodes wrote, where all must write the same
  virtual std::optional<output_difference> take(unsigned node, std::string_view text) = 0;
  /// The node writes nothing more.
  virtual void end(unsigned node) = 0;
  /// Returns where a node stopped if it wrote less than others, where all must write the same.
  virtual std::optional<output_difference> shorter(unsigned node) const = 0;

  /// Returns what must be printed next. Valid until the next call of another function.
  virtual std::string_view unprinted() const = 0;
  /// Removes that many bytes, which have been printed.
  virtual void printed(std::size_t size) = 0;
};

}  // namespace sukima::cluster

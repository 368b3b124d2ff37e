// SPDX-License-Identifier: Apache-2.0
// Finds the machines that a session optimises, and follows their starts and ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observer.hpp"

namespace sukima::host {

/// Watches a source for machines that can be optimised. Their guests have the port `org.sukima.guest.0`.
class discovery {
 public:
  /// \param root prefix of the path /proc
  explicit discovery(std::unique_ptr<source> from, std::string root = "");

  /// Reads the source. \returns the description of all machines if it differs from the last one, otherwise
  /// nothing. A machine with a port has `act` set to `threads` and `pid` set to its process. The description
  /// does not contain values that change from moment to moment.
  /// \throws source_error  the first reading failed
  std::optional<description> look(deadline end);
  /// Makes the next `look` return the description even if it is unchanged.
  void look_again() { latest_.clear(); }
  /// A sentence for each problem in reading. Each problem is reported once.
  std::vector<std::string> take_notes();

 private:
  std::unique_ptr<source> from_;
  std::string root_, latest_;
  observer observer_;
  bool begun_ = false;
  std::vector<std::string> notes_, reported_;
};

}  // namespace sukima::host

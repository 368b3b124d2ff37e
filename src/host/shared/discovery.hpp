// SPDX-License-Identifier: Apache-2.0
// Finding the machines that a session optimises, and following their starts and ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "observer.hpp"

namespace sukima::host {

/// Watches a source for machines that can be optimised: their guests have the port `org.sukima.guest.0`.
class discovery {
 public:
  /// \param root goes before /proc
  explicit discovery(std::unique_ptr<source> from, std::string root = "");

  /// Reads the source. \returns the description of all machines, if it is another one than before: `act` of a
  /// machine with a port is `threads`, and `pid` its process. Without what changes from moment to moment.
  /// \throws source_error  the first reading failed
  std::optional<description> look(deadline end);
  /// The next look returns the description in any case.
  void look_again() { latest_.clear(); }
  /// A sentence for each thing that could not be read; each is reported once.
  std::vector<std::string> take_notes();

 private:
  std::unique_ptr<source> from_;
  std::string root_, latest_;
  observer observer_;
  bool begun_ = false;
  std::vector<std::string> notes_, reported_;
};

}  // namespace sukima::host

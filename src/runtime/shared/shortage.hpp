// SPDX-License-Identifier: Apache-2.0
// The error if the system does not provide enough of a resource: address space for a fiber, a thread.
#pragma once

#include <string>
#include <system_error>

namespace sukima::detail {

/// If no handler catches it, the program prints its text and ends with status 70 (uncaught.cpp), as after
/// other errors after which it cannot continue: a core file would not help.
class shortage : public std::system_error {
 public:
  /// \param text  the resource that is missing, and what to do
  shortage(std::errc kind, const std::string& text);
};

}  // namespace sukima::detail

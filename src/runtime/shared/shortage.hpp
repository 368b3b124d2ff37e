// SPDX-License-Identifier: Apache-2.0
// The error where the system gives too little of something: address space for a fiber, a thread.
#pragma once

#include <string>
#include <system_error>

namespace sukima::detail {

/// If nothing catches it, the program prints its text and ends with status 70 (uncaught.cpp), as after other
/// errors from which it cannot go on: a core file would not help.
class shortage : public std::system_error {
 public:
  /// \param text what there is too little of, and what to do
  shortage(std::errc kind, const std::string& text);
};

}  // namespace sukima::detail

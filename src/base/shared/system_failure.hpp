// SPDX-License-Identifier: Apache-2.0
// The exception for a call of the operating system that failed.
#pragma once

#include <cerrno>
#include <system_error>

namespace sukima::process {

/// Throws what errno says. \param failure what could not be done, without a full stop
[[noreturn]] inline void fail_by_errno(const char* failure) {
  throw std::system_error(errno, std::generic_category(), failure);
}

}  // namespace sukima::process

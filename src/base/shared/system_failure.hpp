// SPDX-License-Identifier: Apache-2.0
// The exception for a failed call of the operating system.
#pragma once

#include <cerrno>
#include <system_error>

namespace sukima::process {

/// Throws the error in errno. \param failure the action that failed, without a full stop
[[noreturn]] inline void fail_by_errno(const char* failure) {
  throw std::system_error(errno, std::generic_category(), failure);
}

}  // namespace sukima::process

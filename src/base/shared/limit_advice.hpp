// SPDX-License-Identifier: Apache-2.0
// What to do if the system refuses a file, process, thread or memory because of a limit.
#pragma once

#include <cerrno>
#include <string_view>

namespace sukima {

/// Returns the end of a sentence about a failed call, such as "; raise the limit …".
/// \param error  an error number
/// \returns empty: the number stands for no limit
constexpr std::string_view advice_on_limit(int error) {
  switch (error) {
    case EMFILE:
      return "; let this process open more files: raise the limit with ulimit -n";
    case ENFILE:
      return "; let the system open more files: raise fs.file-max with sysctl";
    case EAGAIN:
      return "; allow more processes and threads: raise the limit with ulimit -u, or pids.max of the control "
             "group";
    case ENOMEM:
      return "; allow more memory: raise the limit with ulimit -v, or memory.max of the control group";
    default:
      return {};
  }
}

}  // namespace sukima

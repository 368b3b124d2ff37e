// SPDX-License-Identifier: Apache-2.0
// What to do if the system refuses a file, process, thread or memory because of a limit.
#pragma once

#include <sys/resource.h>

#include <cerrno>
#include <string_view>

namespace sukima {

/// Returns the end of a sentence about a failed call, such as "; raise the limit …".
/// \param error  an error number
/// \returns empty: the number stands for no limit
inline std::string_view advice_on_limit(int error) {
  rlimit space{RLIM_INFINITY, RLIM_INFINITY};
  switch (error) {
    case EMFILE:
      return "; let this process open more files: raise the limit with ulimit -n";
    case ENFILE:
      return "; let the system open more files: raise fs.file-max with sysctl";
    case EAGAIN:
      // Also the reason that pthread_create gives if the thread's stack does not fit into the address space.
      if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        return "; allow more processes and threads, or more memory: raise the limit with ulimit -u or ulimit "
               "-v, or pids.max of the control group";
      return "; allow more processes and threads: raise the limit with ulimit -u, or pids.max of the control "
             "group";
    case ENOMEM:
      return "; allow more memory: raise the limit with ulimit -v, or memory.max of the control group";
    default:
      return {};
  }
}

}  // namespace sukima

// SPDX-License-Identifier: Apache-2.0
// Starts threads; if the system has no thread left, the exception's text names what is missing.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace sukima::detail {

/// Throws an exception that says that no thread can be started for a purpose, such as "deadlines", and what
/// to do.
[[noreturn]] void throw_no_thread(const std::string& purpose);

/// Starts a thread.
/// \param purpose  the thread's use, for the message
/// \throws shortage if the system has no thread left
template <class Run> std::thread start_thread(const std::string& purpose, Run&& run) {
  try {
    return std::thread(std::forward<Run>(run));
  } catch (const std::system_error&) {
    throw_no_thread(purpose);
  }
}

}  // namespace sukima::detail

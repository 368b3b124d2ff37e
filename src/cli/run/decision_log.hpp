// SPDX-License-Identifier: Apache-2.0
// The log to which the preloaded library writes its decisions for `sukima run --report`.
#pragma once

#include <base/shared/descriptor.hpp>

#include <string>

namespace sukima::cli::run {

/// A file in memory. It needs no writable folder, and it disappears with this process however the process
/// ends. The program opens it through /proc while this process runs.
class decision_log {
 public:
  /// If the kernel is too old for such files, the path and the content are empty.
  /// \throws std::system_error there is no descriptor or memory for it
  decision_log();

  /// Returns /proc/PID/fd/NUMBER.
  std::string path() const;
  /// Returns the text written so far.
  std::string content() const;

 private:
  descriptor file_;
};

}  // namespace sukima::cli::run

// SPDX-License-Identifier: Apache-2.0
// Where the preloaded library writes its decisions for `sukima run --report`.
#pragma once

#include <string>

namespace sukima::cli::run {

/// A file in memory: it needs no folder that may be written, and nothing of it stays however this process
/// ends. The program opens it as a file of this process while that runs.
class decision_log {
 public:
  /// Where there can be none (an old kernel), the path and the content are empty.
  decision_log();
  ~decision_log();
  decision_log(const decision_log&) = delete;
  decision_log& operator=(const decision_log&) = delete;

  /// /proc/PID/fd/NUMBER
  std::string path() const;
  /// What was written so far.
  std::string content() const;

 private:
  int file_;
};

}  // namespace sukima::cli::run

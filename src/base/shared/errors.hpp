// SPDX-License-Identifier: Apache-2.0
// The errors for wrong use of a command, and the exit codes of commands.
#pragma once

#include <stdexcept>
#include <string>

namespace sukima::process {

/// Exit codes of every subcommand.
enum exit_code : int {
  exit_success = 0,  ///< the request was fulfilled
  exit_failure = 1,  ///< the command failed while it ran
  exit_usage = 2,    ///< the request itself was wrong, and the command did nothing
  exit_not_startable = 126,  ///< the given program exists but cannot be started; as in env(1)
  exit_not_found = 127,      ///< the given program does not exist
};

/// A wrong request: one sentence that names the necessary change; exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A program that the user gave cannot be started.
class start_error : public std::runtime_error {
 public:
  /// \param error the reason, as an errno of exec
  start_error(const std::string& program, int error);
  /// Returns exit_not_found or exit_not_startable.
  exit_code code() const { return code_; }

 private:
  exit_code code_;
};

}  // namespace sukima::process

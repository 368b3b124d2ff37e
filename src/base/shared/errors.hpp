// SPDX-License-Identifier: Apache-2.0
// The error for wrong use of a command, and the exit codes of commands.
#pragma once

#include <stdexcept>
#include <string>

namespace sukima::process {

/// Exit codes of every subcommand.
enum exit_code : int {
  exit_success = 0,  ///< everything was done
  exit_failure = 1,  ///< something failed while it ran
  exit_usage = 2,    ///< the request itself was wrong; nothing was done
  exit_not_startable = 126,  ///< the given program is there, but cannot be started; as env(1)
  exit_not_found = 127,      ///< there is no such program
};

/// A wrong request: one sentence for the user that says what to change, exit code 2.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A program that the user gave cannot be started.
class start_error : public std::runtime_error {
 public:
  /// \param error why, as an errno of exec
  start_error(const std::string& program, int error);
  /// exit_not_found or exit_not_startable.
  exit_code code() const { return code_; }

 private:
  exit_code code_;
};

}  // namespace sukima::process

// SPDX-License-Identifier: Apache-2.0
// Reports that a command writes beside a program, which it has run.
#pragma once

#include <string>
#include <string_view>

namespace sukima::cli {

/// Exit code of a command whose program has succeeded, but that could not write a report; EX_IOERR of
/// sysexits.h.
inline constexpr int exit_unwritten = 74;

/// Writes the reports of a command, and records whether all were written. A failure is reported in one
/// sentence on stderr, and the command continues. While an object exists, a closed pipe and a limit on file
/// sizes end no process by SIGPIPE and SIGXFSZ, but are failures of the write.
class reports {
 public:
  reports();
  ~reports();
  reports(const reports&) = delete;
  reports& operator=(const reports&) = delete;

  /// Writes a file, as a whole or not at all if it is a regular file. O(length of the text).
  /// \param what  the beginning of the sentence after a failure, such as "the report cannot be written to"
  void write_file(const std::string& path, std::string_view text, std::string_view what);
  /// Writes to stderr. O(length of the text).
  void print(std::string_view text, std::string_view what);
  /// Records a failure of another kind. \param sentence  states the failure
  void fail(std::string_view sentence);

  bool failed() const { return failed_; }
  /// Returns the exit code of the command. \param program  that of the program
  int code_after(int program) const { return program == 0 && failed_ ? exit_unwritten : program; }

 private:
  using handler = void (*)(int);
  handler on_closed_pipe_, on_long_file_;  ///< the previous actions
  bool failed_ = false;
};

/// Refuses a file that could not be written now, because the program may run for hours before the report.
/// \param path    if it is empty, nothing is refused; a single dash is refused, because other options write
///                to standard output then
/// \param what    as for reports::write_file
/// \param option  the option that named the file
/// \throws process::usage_error
void expect_writable(const std::string& path, std::string_view what, std::string_view option);

}  // namespace sukima::cli

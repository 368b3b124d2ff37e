// SPDX-License-Identifier: Apache-2.0
// Runs programs to their end with a time limit, or in the background, and collects what they print.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sukima::process {

struct child_request {
  std::vector<std::string> arguments;                             ///< program file and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  ///< variables beyond those passed through
  std::string input;  ///< given on stdin, which is empty otherwise
  std::string cpu_group{};  ///< cgroup.procs of the control group to start it in; empty: this process's
  std::string output_file{};  ///< gets stdout and stderr; empty: they are collected in the result
  std::chrono::nanoseconds limit{};  ///< then its process group is killed; 0: none
  std::chrono::steady_clock::time_point notice_at{};  ///< when to call `notice`, if still running
  /// Called at or after `notice_at`, with the running program. \returns when to call it again; nothing: no
  /// more
  std::function<std::optional<std::chrono::steady_clock::time_point>(pid_t program)> notice{};
  /// Whether the last part of stdout is kept, instead of the first, if there is more than can be kept.
  bool keep_end = false;
};

struct child_result {
  int exit_code = 0;  ///< of a program that ended by itself
  int signal = 0;  ///< that ended it, or 0
  bool timed_out = false;  ///< it was killed at the limit
  double seconds = 0;  ///< from start to end
  double cpu_seconds = 0;  ///< user and system time of the program and of its children that it waited for
  std::string output;  ///< of stdout, at most 1 MiB
  std::string errors;  ///< of stderr, at most 1 MiB
};

/// Runs a program in a process group of its own and sleeps until it ends. Of this process's environment it
/// sees PATH, HOME, TMPDIR, LD_LIBRARY_PATH and SUKIMA_*; the locale is C. When it ends, or at the limit, the
/// whole group is killed. A signal that ends this process (INT, TERM, HUP) ends the group first.
/// Throws std::system_error when it cannot be started.
child_result run_child(const child_request& request);

/// The same program `count` times at once; ends when all have ended, or at the limit. The results are in the
/// order in which they were started.
std::vector<child_result> run_children(const child_request& request, int count);

/// Several programs at once; the limit and the notice are those of the first request, the notice of its
/// program only. The results are in the order of the requests.
std::vector<child_result> run_children(const std::vector<child_request>& requests);

/// A program that runs beside this process until the end of this object, which kills its process group. What
/// it prints is not read: give it an `output_file`, or let it print less than a pipe holds. Throws
/// std::system_error when it cannot be started.
class background_child {
 public:
  explicit background_child(const child_request& request);
  ~background_child();
  background_child(background_child&&) noexcept;
  background_child& operator=(background_child&&) noexcept;

  pid_t pid() const;

 private:
  struct process;
  std::unique_ptr<process> process_;
};

/// "was killed by signal 11 (Segmentation fault)", "ended with exit code 3", …; empty after a success.
std::string describe_failure(const child_result& result, std::chrono::nanoseconds limit);

}  // namespace sukima::process

// SPDX-License-Identifier: Apache-2.0
// Runs programs to their end with a time limit, or in the background, and collects their output.
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
  std::string input;  ///< text for stdin; stdin is empty without it
  std::string cpu_group{};  ///< cgroup.procs of the control group to start it in; empty: this process's group
  std::string output_file{};  ///< receives stdout and stderr; empty: the result has them
  std::chrono::nanoseconds limit{};  ///< after this time its process group is killed; 0: no limit
  std::chrono::steady_clock::time_point notice_at{};  ///< when to call `notice` if it still runs
  /// Called at or after `notice_at` with the running program. \returns the time of the next call; nothing: no
  /// further call
  std::function<std::optional<std::chrono::steady_clock::time_point>(pid_t program)> notice{};
  /// If there is more stdout than can be kept: whether to keep its last part, not its first.
  bool keep_end = false;
};

struct child_result {
  int exit_code = 0;  ///< of a program that ended without a signal
  int signal = 0;  ///< the signal that ended it, or 0
  bool timed_out = false;  ///< it was killed at the limit
  double seconds = 0;  ///< from start to end
  double cpu_seconds = 0;  ///< user and system time of the program and of its children that it waited for
  std::string output;  ///< text on stdout, at most 1 MiB
  std::string errors;  ///< text on stderr, at most 1 MiB
};

/// Runs a program in its own process group and sleeps until it ends. The program sees only these variables of
/// this process's environment: PATH, HOME, TMPDIR, LD_LIBRARY_PATH and SUKIMA_*; the locale is C. When it
/// ends, or at the limit, the whole group is killed. A signal that ends this process (INT, TERM, HUP) ends
/// the group first. Throws std::system_error if the program cannot be started.
child_result run_child(const child_request& request);

/// Runs the same program `count` times at once. Returns when all have ended, or at the limit. The results are
/// in the order in which they were started.
std::vector<child_result> run_children(const child_request& request, int count);

/// Runs several programs at once. The limit and the notice are those of the first request; the notice applies
/// only to its program. The results are in the order of the requests.
std::vector<child_result> run_children(const std::vector<child_request>& requests);

/// A program that runs in the background until this object is destroyed, which kills its process group. Its
/// output is not read: give it an `output_file`, or let it print less than a pipe can hold. Throws
/// std::system_error if it cannot be started.
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

/// Returns "was killed by signal 11 (Segmentation fault)", "ended with exit code 3", …; empty after a
/// success.
std::string describe_failure(const child_result& result, std::chrono::nanoseconds limit);

}  // namespace sukima::process

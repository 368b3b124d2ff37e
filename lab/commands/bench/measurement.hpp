// SPDX-License-Identifier: Apache-2.0
// Starts one run of a benchmark program or an external command, and parses its output.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <base/shared/child.hpp>

namespace sukima::cli::bench {

/// One benchmark by one program with one number of workers in one scenario.
struct task {
  std::string benchmark;
  std::optional<std::int64_t> size;  ///< none: the program's own default
  std::string system;
  std::string compiler;               ///< empty: unknown
  std::filesystem::path program;      ///< empty for an external command
  std::string command;                ///< of an external system
  int workers = 1;
  std::string scenario;
  std::optional<int> depth{};  ///< of a tuned program: the cut-off depth of the search
  int repetitions = 1;     ///< of the work in one run
  bool reference = false;  ///< only for computing an ideal; not reported
  int nodes = 0;  ///< of a cluster, each with that many workers; 0: none
  std::optional<bool> hope{};  ///< in a measurement with --hope: whether the task uses it, or is a reference
  int deaths = 0;  ///< number of nodes that are killed during the run
};

/// Describes a task: "fib by tbb (gcc) with 2 workers, overworked", or for a tuned program "uts by tbb-tuned
/// (gcc) at depth 3 with 2 workers, overworked".
std::string describe(const task& task);

/// Returns whether this is a run of a peer or an external command. The sequential program, Sukima and the
/// busy loops for the ideal are not peers.
bool is_by_peer(const task& task);

/// Returns the time limit of a run. The user's seconds take precedence. Otherwise it is 10 s for a peer,
/// which is left out after that. It is 60 s for Sukima, for the sequential program, and for all programs in a
/// scenario with pressure.
std::chrono::nanoseconds time_limit_of(const task& task, std::optional<double> seconds);

/// The figures of one run.
struct measurement {
  double seconds = 0;
  double cpu_seconds = 0;
  std::optional<std::int64_t> size;  ///< as printed by the program
  std::string result;  ///< empty if the program prints none
  std::map<std::string, double> more;  ///< further numbers in the output, such as "bytes"
  std::vector<double> deaths{};  ///< seconds from the start at which nodes were killed, ascending
};

/// The reason of a failure, as the end of a sentence that starts with describe(task).
struct run_failure {
  std::string reason;
  std::optional<double> stopped_after{};  ///< seconds of the time limit that the run exceeded
};

using outcome = std::variant<measurement, run_failure>;

/// Parses the measurement in the single JSON line of a benchmark program's output.
outcome parse_program_output(std::string_view output, const task& task);

/// Returns the last number in the output of an external command, which is its seconds.
std::optional<double> last_number(std::string_view output);

/// Returns a command with {size}, {workers} and {benchmark} replaced. Other text in braces is unchanged.
std::string fill_in(std::string_view command, const task& task);

/// Returns the process that runs the task.
process::child_request request_for(const task& task);

/// Returns the failure of a run with this result, with the last line of its stderr; nothing after a success.
std::optional<run_failure> failure_of(const process::child_result& result, std::chrono::nanoseconds limit);

/// Returns the measurement or failure of a run with this result.
outcome judge(const process::child_result& result, const task& task, std::chrono::nanoseconds limit);

}  // namespace sukima::cli::bench

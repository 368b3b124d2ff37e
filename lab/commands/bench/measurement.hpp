// SPDX-License-Identifier: Apache-2.0
// One run of a benchmark program or an external command: its command line, and the meaning of its output.
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

#include <process/shared/child.hpp>

namespace sukima::cli::bench {

/// What is run: one benchmark, by one program, with one number of workers, in one scenario.
struct task {
  std::string benchmark;
  std::optional<std::int64_t> size;  ///< none: the program's own default
  std::string system;
  std::string compiler;               ///< empty: not known
  std::filesystem::path program;      ///< empty for an external command
  std::string command;                ///< of an external system
  int workers = 1;
  std::string scenario;
  std::optional<int> depth{};  ///< of a tuned program: the cut-off depth of the search
  int repetitions = 1;     ///< of the work in one run
  bool reference = false;  ///< only there to compute an ideal from; not reported
  int nodes = 0;  ///< of a cluster, each with that many workers; 0: none
  std::optional<bool>
      hope{};  ///< in a measurement of --hope: is it under that, or what that is compared with?
  int deaths = 0;  ///< nodes that are killed while it runs
};

/// "fib by tbb (gcc) with 2 workers, overworked"; of a tuned program "uts by tbb-tuned (gcc) at depth 3 with
/// 2 workers, overworked"
std::string describe(const task& what);

/// Whether this is a run of a peer or an external command: not of the sequential program, nor of
/// Sukima, nor of the busy loops for the ideal.
bool is_by_peer(const task& what);

/// How long a run of the task may take: the seconds that the user gave; otherwise 10 s for a peer, which is
/// left out if it takes longer, and 60 s for the sequential program and Sukima, for which more is an error,
/// and for everything in a scenario with pressure.
std::chrono::nanoseconds time_limit_of(const task& what, std::optional<double> seconds);

/// What one run measured.
struct measurement {
  double seconds = 0;
  double cpu_seconds = 0;
  std::optional<std::int64_t> size;  ///< as the program says
  std::string result;  ///< empty: the program does not say
  std::map<std::string, double> more;  ///< further numbers that the program prints, such as "bytes"
  std::vector<double> deaths{};  ///< seconds from the start at which nodes were killed, ascending
};

/// Why a run failed, as the end of a sentence that starts with describe(task).
struct run_failure {
  std::string reason;
  std::optional<double> stopped_after{};  ///< seconds of the time limit, if it was killed for that
};

using outcome = std::variant<measurement, run_failure>;

/// The measurement in the one JSON line that a benchmark program prints.
outcome parse_program_output(std::string_view output, const task& what);

/// The last number in the output of an external command, its seconds.
std::optional<double> last_number(std::string_view output);

/// A command with {size}, {workers} and {benchmark} replaced. Other text in braces stays.
std::string fill_in(std::string_view command, const task& what);

/// How the task is started.
process::child_request request_for(const task& what);

/// Why a run failed that ended in this way, with the last line that it printed on stderr; nothing: it did
/// not.
std::optional<run_failure> failure_of(const process::child_result& result, std::chrono::nanoseconds limit);

/// The measurement of a run that ended in this way.
outcome judge(const process::child_result& result, const task& what, std::chrono::nanoseconds limit);

}  // namespace sukima::cli::bench

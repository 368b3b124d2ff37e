// SPDX-License-Identifier: Apache-2.0
// Runs experiments: sets up environments, runs programs in them in the planned order, and stores the results.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "folder.hpp"

namespace sukima::lab {

/// One copy of a program.
struct job {
  std::vector<std::string> arguments;  ///< the program's file, and its arguments
  std::vector<std::pair<std::string, std::string>> variables;
  bool prints_seconds = false;  ///< a run without printed seconds is a failure
};

/// How one copy ended.
struct copy_end {
  double seconds = 0;  ///< from its start to its end
  std::string output;
  std::string failure;  ///< the reason, such as "ended with exit code 3"; empty after a success
  bool stopped = false;  ///< at the time limit; this is not a failure
  std::optional<double> use{};  ///< the CPUs that the copy used on average, if known
};

/// An environment that is set up. The destructor removes it, and so does a signal that ends this process.
class stage {
 public:
  stage() = default;
  virtual ~stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// Runs all copies at once. \throws std::exception if the stage broke; then the caller makes a new one
  virtual std::vector<copy_end> run(const job& job, std::chrono::nanoseconds limit) = 0;
  /// Returns whether the stage can run another job. If not, the caller makes a new one.
  virtual bool usable() const { return true; }
};

/// The reason why this machine cannot set up environments of a kind, as a part of a sentence.
class obstacle : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sets up an environment. \throws obstacle; another std::exception after a failure that may be temporary;
/// the exception for a full disk ends the runs
using stage_maker = std::function<std::unique_ptr<stage>(const environment&)>;

/// Finds the file of a benchmark, or of the first word of a program's command.
using program_finder = std::function<std::filesystem::path(const program&)>;

/// The progress of the runs.
struct run_position {
  std::size_t done = 0, total = 0;  ///< runs, including earlier ones of the folder, without those left out
  double seconds_left = 0;  ///< estimated from earlier runs, otherwise from the experiment's file
  const lab::experiment* experiment = nullptr;
  cell of{};
};

/// A request to run experiments.
struct run_request {
  std::vector<experiment> experiments;
  std::filesystem::path folder;  ///< a new folder, or one to continue
  run_facts facts;  ///< run_experiments adds obstacles
  stage_maker make_stage;
  program_finder find;
  std::function<void(const run_position&)> observe;
};

struct run_summary {
  std::size_t ran = 0, failed = 0, left_out = 0;  ///< numbers of runs; `left_out` because of obstacles
};

/// Returns the runs in the folder of a request; nothing if the folder is new.
/// \throws experiment_error if it is of another machine or of other experiments, or cannot be read
std::optional<recorded_runs> earlier_runs(const run_request& request);

/// Makes the runs that the folder lacks, and stores them there. An obstacle leaves out all environments of
/// its kind. If an environment fails three times in a row, only that environment is left out.
/// \throws experiment_error if the folder is of another machine or of other experiments, or has runs of
///   unknown ones; std::system_error if it cannot be written
run_summary run_experiments(run_request& request);

/// Returns the command line and the variables of a cell, with {workers} replaced. A command that starts the
/// program comes first.
job job_of(const program& program, const setting& how, const environment& where, unsigned cpus, bool quick,
           const program_finder& find);

/// Returns the program that starts others in a setting; nothing if the setting starts programs directly.
std::optional<program> starter_of(const setting& how);

/// The figures in the last line of a program's output that is a JSON object.
struct printed {
  std::optional<double> seconds;
  std::string result;
};
printed read_output(std::string_view output);

/// Makes the record of a run. \param known the program's earlier result; empty if there is none
record record_of(const std::vector<copy_end>& ends, bool prints_seconds, const std::string& known);

}  // namespace sukima::lab

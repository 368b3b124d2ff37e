// SPDX-License-Identifier: Apache-2.0
// Runs experiments: sets environments up, runs programs in them in the planned order, and stores what they
// gave.
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
  bool prints_seconds = false;  ///< it is a failure if it does not
};

/// How one copy ended.
struct copy_end {
  double seconds = 0;  ///< from its start to its end
  std::string output;
  std::string failure;  ///< how it failed, as "ended with exit code 3"; empty after a success
  bool stopped = false;  ///< at the time limit, which is no failure
  std::optional<double> use{};  ///< the CPUs that it used on average; nothing: not known
};

/// An environment that is set up; its end takes it down, also when a signal ends this process.
class stage {
 public:
  stage() = default;
  virtual ~stage() = default;
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// Runs all copies at once. \throws std::exception if the stage broke; it is then made anew
  virtual std::vector<copy_end> run(const job& what, std::chrono::nanoseconds limit) = 0;
  /// Whether it can run another job; else it is made anew.
  virtual bool usable() const { return true; }
};

/// This machine cannot set up environments of a kind: why, as a part of a sentence.
class obstacle : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Sets an environment up. \throws obstacle; another std::exception if it failed this time only; that of a
/// full disk ends the runs
using stage_maker = std::function<std::unique_ptr<stage>(const environment&)>;

/// The file of a program: of a benchmark, or of its command's first word.
using program_finder = std::function<std::filesystem::path(const program&)>;

/// Where a run is.
struct run_position {
  std::size_t done = 0, total = 0;  ///< runs, with those that were in the folder and without those left out
  double seconds_left =
      0;  ///< as the runs so far, and where there are none, the experiment's file let expect
  const experiment* what = nullptr;
  cell of{};
};

/// A request to run experiments.
struct run_request {
  std::vector<experiment> experiments;
  std::filesystem::path folder;  ///< made, or continued
  run_facts facts;  ///< obstacles are added
  stage_maker make_stage;
  program_finder find;
  std::function<void(const run_position&)> observe;
};

struct run_summary {
  std::size_t ran = 0, failed = 0, left_out = 0;  ///< runs; left out for an obstacle
};

/// The runs in the folder of a request; nothing if the folder is new.
/// \throws experiment_error if it is of another machine or of other experiments, or cannot be read
std::optional<recorded_runs> earlier_runs(const run_request& request);

/// Runs what the folder has not, and stores it there. An obstacle leaves out all environments of its kind;
/// one that fails three times in a row is left out alone.
/// \throws experiment_error if the folder is of another machine or of other experiments, or has runs of
///   unknown ones; std::system_error if it cannot be written
run_summary run_experiments(run_request& request);

/// The program, its arguments and variables in a cell; {workers} is replaced. Words that start the program
/// precede it.
job job_of(const program& what, const setting& how, const environment& where, unsigned cpus, bool quick,
           const program_finder& find);

/// What starts a program through a setting, as a program; nothing if the program is started as it is.
std::optional<program> starter_of(const setting& how);

/// What a program printed, in its last line that is a JSON object.
struct printed {
  std::optional<double> seconds;
  std::string result;
};
printed read_output(std::string_view output);

/// The record of a run. \param known the result that the program gave before; empty if none
record record_of(const std::vector<copy_end>& ends, bool prints_seconds, const std::string& known);

}  // namespace sukima::lab

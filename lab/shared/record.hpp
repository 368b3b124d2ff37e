// SPDX-License-Identifier: Apache-2.0
// The order of the runs of an experiment, and the record of each run: one line of JSON in the folder of the
// runs.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "experiment.hpp"

namespace sukima::lab {

/// One program with one setting in one environment, by their positions in the experiment.
struct cell {
  std::size_t program = 0, setting = 0, environment = 0;

  bool operator==(const cell&) const = default;
};

struct planned_run {
  lab::cell cell;
  unsigned round = 0;
};

/// The part of an experiment that is run.
struct run_choice {
  bool quick = false;  ///< only the parts for --quick, with quick_repetitions
  std::optional<unsigned> repetitions{};  ///< replaces the experiment's number
  unsigned cpus = std::numeric_limits<unsigned>::max();  ///< only the parts that need at most this many CPUs

  /// Returns whether a program, a setting or an environment is part of it.
  template <class Thing>
  bool takes(const Thing& one) const {
    return (!quick || one.quick) && enough_cpus(one);
  }
  /// Returns whether the machine has the CPUs that an element needs.
  template <class Thing>
  bool enough_cpus(const Thing& one) const {
    if constexpr (requires { one.least_cpus; }) return one.least_cpus <= cpus;
    return true;
  }
};

/// All runs in their order. Each round shuffles the environments, and in each environment the programs with
/// their settings, so that a drift of the machine affects all cells alike. The same experiment always has the
/// same order. O(runs).
std::vector<planned_run> plan_runs(const experiment& experiment, const run_choice& choice);

/// The outcome of one run.
struct record {
  std::string experiment, program, setting, environment;
  unsigned round = 0;
  std::vector<double> seconds;  ///< of each copy; infinite for one that was stopped at the time limit
  /// The CPUs that each copy used on average. Empty if that is unknown for a copy: it was stopped, or it ran
  /// in a virtual machine.
  std::vector<double> use;
  double wall_seconds = 0;  ///< of the whole run, including the start of the program
  std::string result;  ///< the result that the program printed
  std::string failure;  ///< the reason for a failure; empty after a success

  bool operator==(const record&) const = default;
};

/// One line without its end. Infinite seconds are null.
std::string record_line(const record& one);

/// Reads such a line.
/// \throws experiment_error with the place
record parse_record(std::string_view line);

/// Reads the lines of a file of records. An interrupted run leaves a last line without an end, which is
/// skipped.
/// \param name of the file, for messages \throws experiment_error with the number of the line
std::vector<record> parse_records(std::string_view text, const std::string& name);

/// The longest valid time in seconds.
inline constexpr double longest_time = 1e9;

/// Returns a text in the form of a record: UTF-8 of at most 4000 bytes, with a blank for each control
/// character.
std::string on_one_line(const std::string& any);

/// Returns the seconds of a run: the mean over its copies. `one` has seconds.
/// \param stopped the seconds of a copy that was stopped at the time limit
double mean_seconds(const record& one, double stopped = std::numeric_limits<double>::infinity());

/// The seconds of each round of a cell.
using rounds = std::map<unsigned, double>;

/// Records by cell. If there are several records of the same run, the last successful one counts. Runs
/// without a successful one are only counted, as failures.
class measured {
 public:
  /// Ignores records of other experiments. O(records · log).
  measured(const experiment& experiment, const std::vector<record>& records);

  /// Returns the seconds of a cell's rounds. A run with a stopped copy is infinitely long.
  const rounds& of(const std::string& program, const std::string& setting,
                   const std::string& environment) const;
  /// Returns the same with the time limit for a stopped copy, which is the minimum of its time.
  const rounds& least_of(const std::string& program, const std::string& setting,
                         const std::string& environment) const;
  /// Returns the CPUs used in each round, as the mean over the copies. Rounds without that figure are
  /// omitted.
  const rounds& use_of(const std::string& program, const std::string& setting,
                       const std::string& environment) const;
  /// Returns the reason for the cell's last failure; empty if each failed run was later repeated
  /// successfully.
  std::string failure(const std::string& program, const std::string& setting,
                      const std::string& environment) const;
  bool done(const std::string& program, const std::string& setting, const std::string& environment,
            unsigned round) const;
  /// Returns the number of failed runs that were not repeated successfully.
  std::size_t failures() const;

 private:
  struct entry {
    rounds seconds, least, use;
    std::set<unsigned> failed;  ///< failed rounds
    std::string failure;
  };
  const entry& at(const std::string& program, const std::string& setting,
                  const std::string& environment) const;

  using key = std::vector<std::string>;
  std::map<key, entry> cells_;
};

}  // namespace sukima::lab

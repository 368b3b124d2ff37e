// SPDX-License-Identifier: Apache-2.0
// The order of the runs of an experiment, and what each run gave: one line of JSON in the folder of the runs.
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
  cell what;
  unsigned round = 0;
};

/// What is left of an experiment.
struct run_choice {
  bool quick = false;  ///< only what is for --quick, with quick_repetitions
  std::optional<unsigned> repetitions{};  ///< instead of the experiment's
  unsigned cpus = std::numeric_limits<unsigned>::max();  ///< only what so many CPUs are enough for

  /// Whether a program, a setting or an environment is part of it.
  template <class Thing>
  bool takes(const Thing& one) const {
    return (!quick || one.quick) && enough_cpus(one);
  }
  /// Whether the machine has the CPUs that it needs.
  template <class Thing>
  bool enough_cpus(const Thing& one) const {
    if constexpr (requires { one.least_cpus; }) return one.least_cpus <= cpus;
    return true;
  }
};

/// All runs in their order: round by round; in each round the environments in an order of their own, and in
/// each environment the programs with the settings in an order of their own, so that what drifts on the
/// machine meets all cells alike. The same for the same experiment. O(runs).
std::vector<planned_run> plan_runs(const experiment& what, const run_choice& choice);

/// What one run gave.
struct record {
  std::string experiment, program, setting, environment;
  unsigned round = 0;
  std::vector<double> seconds;  ///< of each copy; infinite for one that was stopped at the time limit
  /// The CPUs that each copy used, on average from its start to its end; empty where that is
  /// not known of each: a copy was stopped, or ran in a virtual machine.
  std::vector<double> use;
  double wall_seconds = 0;  ///< of the whole run, with starting the program
  std::string result;  ///< that the program printed
  std::string failure;  ///< the reason for a failure; empty after a success

  bool operator==(const record&) const = default;
};

/// One line without its end. Infinite seconds are null.
std::string record_line(const record& one);

/// Reads such a line.
/// \throws experiment_error with the place
record parse_record(std::string_view line);

/// Reads the lines of a file of records. The last line, if it has no end, is what an interrupted run has
/// left: it is not read.
/// \param name of the file, for messages \throws experiment_error with the number of the line
std::vector<record> parse_records(std::string_view text, const std::string& name);

/// A time beyond this, in seconds, is none.
inline constexpr double longest_time = 1e9;

/// A text as a record keeps it: UTF-8 of at most 4000 bytes, with a blank instead of each control character.
std::string on_one_line(const std::string& any);

/// The seconds of a run: the mean over its copies. `one` has seconds.
/// \param stopped what a copy counts as that was stopped at the time limit
double mean_seconds(const record& one, double stopped = std::numeric_limits<double>::infinity());

/// The seconds of each round of a cell.
using rounds = std::map<unsigned, double>;

/// Records by cell. Of several records of the same run the last one that succeeded counts; runs of which none
/// did are counted only.
class measured {
 public:
  /// O(records · log). Records of other experiments are left out.
  measured(const experiment& what, const std::vector<record>& records);

  /// Of a cell without any: empty. A run with a stopped copy is infinitely long.
  const rounds& of(const std::string& program, const std::string& setting,
                   const std::string& environment) const;
  /// The same where a stopped copy counts as the time limit: it took at least that.
  const rounds& least_of(const std::string& program, const std::string& setting,
                         const std::string& environment) const;
  /// The CPUs used in each round, the mean over the copies; rounds in which that was not measured are left
  /// out.
  const rounds& use_of(const std::string& program, const std::string& setting,
                       const std::string& environment) const;
  /// Why the last one of the cell's failed runs failed; empty if there is none, or each was made again.
  std::string failure(const std::string& program, const std::string& setting,
                      const std::string& environment) const;
  bool done(const std::string& program, const std::string& setting, const std::string& environment,
            unsigned round) const;
  /// Runs that failed, and were not made again with success.
  std::size_t failures() const;

 private:
  struct entry {
    rounds seconds, least, use;
    std::set<unsigned> failed;  ///< rounds
    std::string failure;
  };
  const entry& at(const std::string& program, const std::string& setting,
                  const std::string& environment) const;

  using key = std::vector<std::string>;
  std::map<key, entry> cells_;
};

}  // namespace sukima::lab

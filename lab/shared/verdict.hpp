// SPDX-License-Identifier: Apache-2.0
// Judges the claims of an experiment by its runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment.hpp"
#include "record.hpp"
#include "statistics.hpp"

namespace sukima::lab {

/// The facts about the machine of the runs on which verdicts depend.
struct test_bed {
  unsigned cpus = 1;
  std::string accelerator;  ///< accelerator of the virtual machines: "kvm", "tcg"; empty: none ran
  /// The obstacles, by the name of a kind of environments or by place_name of one environment.
  std::map<std::string, std::string> obstacles;
};

enum class verdict { holds, does_not_hold, undecided, cannot_be_shown };
const char* name_of(verdict verdict);

/// A claim for one program in one environment.
struct judged_cell {
  std::string program, environment;
  std::vector<std::string> worst_of;  ///< the environments among which this is the worst; empty: none
  std::string taken;  ///< the setting of the left side that the CPU use predicts; empty: none
  std::optional<interval> ratio;  ///< left / right, or measured / target; may be infinite
  verdict outcome = verdict::undecided;
  std::string reason;  ///< if the claim is undecided or cannot be shown
};

struct judged_claim {
  lab::claim claim;
  verdict outcome = verdict::undecided;
  std::string reason;  ///< the reason if the claim is undecided or cannot be shown
  std::vector<judged_cell> cells;
};

/// The least number of rounds for a decision. With fewer values, the interval of a median is too short.
inline constexpr std::size_t fewest_rounds = 5;

/// Judges each claim by its cells, the programs × environments.
/// - A cell holds if the whole interval of its ratio is beyond the bound. It fails if the whole interval is
///   on the other side.
/// - A claim holds if its share of the cells, rounded up, holds.
/// - It does not hold if so many cells fail that the others cannot make it hold.
/// - Otherwise it is undecided, or it cannot be shown if obstacles prevent a decision.
/// Cells that `choice` leaves out do not count. If only the worst environment counts, each program is one
/// cell. O(claims · cells · rounds · log rounds · resamples).
std::vector<judged_claim> judge(const experiment& experiment, const run_choice& choice, const measured& runs,
                                const test_bed& where);

/// Returns the value of a measure for a time: seconds, or seconds / copies. Not for measure::relative.
double value_of(measure measure, const environment& where, double seconds);

/// Returns the median measured / target time of a cell; nothing without a baseline or without runs.
std::optional<double> relative_time(const program& of, const setting& how, const environment& where,
                                    const measured& runs, unsigned cpus);

/// A relative time and its environment.
struct relative_at {
  std::string environment;
  double relative = 0;
};

/// Returns the largest relative time of a program with a setting over the environments of a kind, or of all
/// kinds; nothing if no environment has one. O(environments · rounds · log rounds).
std::optional<relative_at> worst_relative_time(const experiment& experiment, const program& of,
                                               const setting& how, std::optional<environment_kind> kind,
                                               const run_choice& choice, const measured& runs, unsigned cpus);

/// Returns the kinds of environments of a run that have target times, each with their number.
std::map<environment_kind, std::size_t> kinds_with_targets(const experiment& experiment,
                                                           const run_choice& choice);

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// Which claims of an experiment its runs bear out.
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
  std::string accelerator;  ///< of the virtual machines: "kvm", "tcg"; empty: none ran
  /// Why no environment of a kind (its name), or one environment (place_name), could be set up.
  std::map<std::string, std::string> obstacles;
};

enum class verdict { holds, does_not_hold, undecided, cannot_be_shown };
const char* name_of(verdict what);

/// A claim for one program in one environment.
struct judged_cell {
  std::string program, environment;
  std::vector<std::string> worst_of;  ///< the environments of which this one is the worst; empty: it alone
  std::string taken;  ///< the setting of the left side that the CPU use predicts; empty: none
  std::optional<interval> ratio;  ///< left / right, or measured / target; may be infinite
  verdict outcome = verdict::undecided;
  std::string reason;  ///< where it is undecided or cannot be shown
};

struct judged_claim {
  claim what;
  verdict outcome = verdict::undecided;
  std::string reason;  ///< as above
  std::vector<judged_cell> cells;
};

/// Runs of so few rounds decide nothing: the interval of a median of fewer values is too short.
inline constexpr std::size_t fewest_rounds = 5;

/// The share of the programs × environments in which a claim must hold is rounded up. It holds if so many
/// cells hold; it does not if so many fail that no outcome of the others could make it hold; otherwise it is
/// undecided, or cannot be shown if cells that could not be set up prevent a decision. Cells that `choice`
/// leaves out do not count. A cell holds if the whole interval of its ratio is beyond the bound, and fails if
/// the whole interval is on the other side. Where only the worst environment counts, each program is one
/// cell. O(claims · cells · rounds · log rounds · resamples).
std::vector<judged_claim> judge(const experiment& what, const run_choice& choice, const measured& runs,
                                const test_bed& where);

/// The value of a measure for a time: seconds, or seconds / copies. Not for measure::relative.
double value_of(measure what, const environment& where, double seconds);

/// Median measured / target time of a cell; nothing where the environment has no baseline or there are no
/// runs.
std::optional<double> relative_time(const program& of, const setting& how, const environment& where,
                                    const measured& runs, unsigned cpus);

/// A relative time, and where it was measured.
struct relative_at {
  std::string environment;
  double relative = 0;
};

/// The largest relative time of a program with a setting over the environments of a kind, or of all kinds;
/// nothing if none has one. O(environments · rounds · log rounds).
std::optional<relative_at> worst_relative_time(const experiment& what, const program& of, const setting& how,
                                               std::optional<environment_kind> kind, const run_choice& choice,
                                               const measured& runs, unsigned cpus);

/// The kinds of environments of a run that have target times, each with their number.
std::map<environment_kind, std::size_t> kinds_with_targets(const experiment& what, const run_choice& choice);

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// What the optimiser decided about a VM, with its reason and its figures: one event of the log of decisions.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace sukima::host {

/// The states of the optimiser of one VM; docs/host-optimiser.md draws them.
enum class optimiser_state { idle, learn, trial, rest, sweep, back, hold };

/// "idle", "learn", "try", "rest", "sweep", "back", "hold".
std::string_view name_of(optimiser_state state);

/// What a verdict says.
enum class verdict_kind {
  opened,  ///< it begins to measure
  better,  ///< a trial: the other count is better and stays
  worse,  ///< a trial: it is worse
  same,  ///< a trial: it is no better
  swept,  ///< a sweep: the count that the shape of the CPU use gives
  rested,  ///< the end of a search
  voided,  ///< a trial or a sweep ended without a result
  followed,  ///< the count follows the estimate
  would_try,  ///< a dry run: what it would try first
  back,  ///< something went wrong: the count returns to the estimate
  held,  ///< for ten minutes nothing is tried
  idled,  ///< it no longer optimises this VM
};

/// The word of the log: "opened", "better", …
std::string_view name_of(verdict_kind kind);

/// The figures of a verdict. A figure that a verdict does not have is empty.
struct verdict_figures {
  std::optional<unsigned> tried;  ///< the count that was compared with the resting one
  std::optional<unsigned> windows;  ///< pairs of a trial, rounds of a sweep, windows of learning
  std::optional<double> mean;  ///< of log(rate at the tried count / rate at the resting count)
  std::optional<double> error;  ///< the mean's standard error
  std::optional<double> noise;  ///< standard deviation of a window's logarithm
  std::optional<double> effect;  ///< the smallest effect that counts (delta)
  std::optional<double> errors;  ///< how many standard errors it must exceed (z)
  std::optional<double> usable;  ///< the estimate, in CPUs
  std::optional<double> cost;  ///< seconds of work that a change of the count loses
  std::optional<unsigned> shape;  ///< of a sweep: 1 to 4 as in the paper's figure 13
};

/// One decision.
struct verdict {
  double at = 0;  ///< seconds, as in the input that led to it
  std::string vm;  ///< its name
  std::string quantity;  ///< which number: "threads" or "vcpus"
  unsigned before = 0;  ///< the resting count
  unsigned after = 0;  ///< the resting count from now on
  std::string reason;  ///< one sentence
  verdict_kind kind = verdict_kind::opened;
  optimiser_state state = optimiser_state::idle;  ///< the state that it led to
  verdict_figures figures;
};

/// The event: `at`, `what`, `before`, `after` and `reason` as in all decisions (`sukima explain --json`), and
/// `part` ("host"), `vm`, `verdict`, `state` and the figures that there are, by the names above.
/// Names that are not UTF-8 are written with replacement characters when the event is dumped that way.
nlohmann::json json_of(const verdict& one);

}  // namespace sukima::host

// SPDX-License-Identifier: Apache-2.0
// A decision of the optimiser about a VM, with its reason and its figures. It is one event of the log of
// decisions.
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

/// The result that a verdict reports.
enum class verdict_kind {
  opened,  ///< the optimiser begins to measure
  better,  ///< a trial: the other count is better and stays in effect
  worse,  ///< a trial: the other count is worse
  same,  ///< a trial: the other count is not better
  swept,  ///< a sweep: it chose a count by the shape of the CPU use
  rested,  ///< the end of a search
  voided,  ///< a trial or a sweep ended without a result
  followed,  ///< the count now follows the estimate
  would_try,  ///< a dry run: the count that would be tried first
  back,  ///< something failed: the count returns to the estimate
  held,  ///< nothing is tried for ten minutes
  idled,  ///< the optimiser stops optimising this VM
};

/// The name in the log, such as "opened" or "better".
std::string_view name_of(verdict_kind kind);

/// The figures of a verdict. A figure that does not apply is empty.
struct verdict_figures {
  std::optional<unsigned> tried;  ///< the count that was compared with the resting one
  std::optional<unsigned> windows;  ///< pairs of a trial, rounds of a sweep, windows of learning
  std::optional<double> mean;  ///< of log(rate at the tried count / rate at the resting count)
  std::optional<double> error;  ///< the mean's standard error
  std::optional<double> noise;  ///< standard deviation of a window's logarithm
  std::optional<double> effect;  ///< the smallest effect that counts (delta)
  std::optional<double> errors;  ///< how many standard errors an effect must exceed (z)
  std::optional<double> usable;  ///< the estimate, in CPUs
  std::optional<double> cost;  ///< seconds of work lost by a change of the count
  std::optional<unsigned> shape;  ///< the shape that a sweep found: 1 to 4 as in the paper's figure 13
};

/// One decision.
struct verdict {
  double at = 0;  ///< time in seconds, on the clock of the input that led to it
  std::string vm;  ///< its name
  std::string quantity;  ///< the number that is decided: "threads" or "vcpus"
  unsigned before = 0;  ///< the resting count
  unsigned after = 0;  ///< the new resting count
  std::string reason;  ///< one sentence
  verdict_kind kind = verdict_kind::opened;
  optimiser_state state = optimiser_state::idle;  ///< the state after the decision
  verdict_figures figures;
};

/// Returns the event as JSON. It has `at`, `what`, `before`, `after` and `reason`, as all decisions have
/// (`sukima explain --json`), and `part` ("host"), `vm`, `verdict`, `state` and the figures that are present,
/// under the names above. `dump` writes names that are not UTF-8 with replacement characters if it is called
/// with that option.
nlohmann::json json_of(const verdict& one);

}  // namespace sukima::host

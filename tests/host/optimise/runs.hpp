// SPDX-License-Identifier: Apache-2.0
// Runs of synthetic programs of 900 s under four methods, and what came of many of them.
#pragma once

#include <vector>

#include <host/shared/optimiser.hpp>
#include "programs.hpp"

namespace synthetic {

enum class method {
  fixed,  ///< the estimate (VCPU-Bal)
  paper,  ///< paper 001, section 4.1: one window a step, 5 %
  use,
  progress,
};
inline constexpr method all_methods[] = {method::fixed, method::paper, method::use, method::progress};

/// One run.
struct run {
  double below_best = 0;  ///< per cent, at the end
  double lost = 0;  ///< per cent of the whole run
  unsigned changes = 0;  ///< of the resting count after 200 s
  std::vector<sukima::host::verdict> verdicts;
};
inline constexpr double run_seconds = 900, settled_after = 200;

run make_run(method by, const program& of, const circumstances& in, draws from);

/// Many runs.
struct summary {
  double median = 0, p95 = 0;  ///< of below_best
  double near = 0;  ///< the part of the runs within 5 %
  double lost = 0;  ///< mean
  double changes_an_hour = 0;
};
summary summarise(const std::vector<run>& runs);
/// \param seed of the first run
summary summarise(method by, shape of, const circumstances& in, unsigned runs, std::uint64_t seed);
/// Two programs of any shapes, the second from 300 s on.
summary summarise_change(method by, double noise, unsigned runs, std::uint64_t seed);

}  // namespace synthetic

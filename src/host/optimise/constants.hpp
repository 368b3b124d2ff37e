// SPDX-License-Identifier: Apache-2.0
// Every constant of the optimiser, with its unit and its reason. Chosen by runs against synthetic programs
// (tests/host/optimise/table_check.cpp prints the table).
#pragma once

#include <cmath>

#include "shared/sweep.hpp"

namespace sukima::host::constants {

/// What a comparison must show.
struct criterion {
  double effect;  ///< a smaller change of a rate's logarithm is none
  double errors;  ///< so many standard errors must lie between the mean and no change
};
/// With a cause: the program or the estimate has changed, so a search may find something.
inline constexpr criterion with_cause{sweep::least_effect, 2.6};
/// Without one a change must be larger and surer: hysteresis, against a resting count that flaps.
inline constexpr criterion at_rest{0.05, 3.3};

/// Six pairs are too few at 10 % noise.
inline constexpr unsigned fewest_pairs = 2, most_pairs = 12;
/// From so many pairs on the smallest and the largest are left out: one burst must not decide.
inline constexpr unsigned pairs_to_trim = 5;
/// A first pair worse than this ends the trial: it costs too much to be sure.
inline const double abort_below = std::log(0.75);
/// The least noise of a window: of fewer windows it may come out as none by chance.
inline constexpr double least_noise = 0.01;
/// A pair's noise is at least this part of what the windows' noise lets expect.
inline constexpr double least_pair_noise = 0.7;

inline constexpr unsigned learn_windows = 6;
inline constexpr unsigned level_windows = 8;
/// The longest step between two candidates.
inline constexpr unsigned longest_step = 4;

/// Demand in CPUs from which a VM is optimised, and below which it no longer is.
inline constexpr double demand_to_open = 0.5, demand_to_close = 0.25;
/// Seconds; before, a guest still boots, and plugs get lost.
inline constexpr double up_to_open = 30;
/// CPUs; a smaller move of the estimate is none.
inline constexpr double estimate_moved = 0.5;
/// A level that is off by more, or by four standard deviations, re-opens; 20 % alone flaps at 10 % noise.
inline constexpr double level_moved = 0.20, level_errors = 4;
/// ... in so many windows more than it was not.
inline constexpr unsigned level_lasts = 5;
/// Seconds of rest before the next look without a cause: doubles while nothing is found.
inline constexpr double first_rest = 30, longest_rest = 600;
/// Seconds: the deadline of an action and of its second try (30 s later).
inline constexpr double back_deadline = 40;
inline constexpr double hold_seconds = 600;
/// A trial may take so many times what its windows take, then it is void.
inline constexpr double trial_slack = 3;

/// A sweep goes so far above the estimate, in so many rounds.
inline constexpr unsigned sweep_ahead = 8, fewest_rounds = 4, most_rounds = 12;
/// A turn of the use that counts, and the fall that "flat" forgives.
inline constexpr double large_turn = 0.10;
/// Within this of the top the use counts as risen.
inline constexpr double near_top = 0.015;

/// A neighbour's share may fall by this during a trial.
inline constexpr double guard_fall = 0.02;
/// Standard errors of one comparison; 2.6 would do if the noise were known and not measured.
inline constexpr double guard_errors = 3.3;
/// Windows at rest that tell how noisy a neighbour's share is; before there are six, it is taken for this.
inline constexpr unsigned guard_windows = 30;
inline constexpr double unknown_noise = 0.05;

}  // namespace sukima::host::constants

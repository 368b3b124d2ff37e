// SPDX-License-Identifier: Apache-2.0
// Every constant of the optimiser, with its unit and its reason. Chosen by runs against synthetic programs
// (tests/host/optimise/table_check.cpp prints the table).
#pragma once

#include <cmath>

#include "shared/sweep.hpp"

namespace sukima::host::constants {

/// What a comparison must show.
struct criterion {
  double effect;  ///< the smallest change of a rate's logarithm that counts
  double errors;  ///< how many standard errors must lie between the mean and no change
};
/// With a cause: the program or the estimate has changed, so a search may find something.
inline constexpr criterion with_cause{sweep::least_effect, 2.6};
/// Without one a change must be larger and surer: hysteresis, against a resting count that flaps.
inline constexpr criterion at_rest{0.05, 3.3};

/// Six pairs are too few at 10 % noise.
inline constexpr unsigned fewest_pairs = 2, most_pairs = 12;
/// From this number of pairs on, the smallest and the largest are left out: one burst must not decide.
inline constexpr unsigned pairs_to_trim = 5;
/// A first pair worse than this ends the trial: certainty would cost too much.
inline const double abort_below = std::log(0.75);
/// A change of the count may cost this part of the windows until the next change: where it costs more, a
/// trial measures each count for several windows in turn.
inline constexpr double change_part = 0.05;
/// The most windows in turn: pairs must be shorter than the phases and the drift that they cancel.
inline constexpr unsigned longest_visit = 4;
/// How many changes give the mean cost of one, at most and at least: one or two are too noisy.
inline constexpr unsigned known_changes = 16, fewest_changes = 3;

/// The least noise of a window: a few windows may show none by chance.
inline constexpr double least_noise = 0.01;
/// The least noise of a pair, as a part of the noise that its two windows have together.
inline constexpr double least_pair_noise = 0.7;

inline constexpr unsigned learn_windows = 6;
inline constexpr unsigned level_windows = 8;
/// The longest step between two candidates.
inline constexpr unsigned longest_step = 4;

/// CPUs: a VM is optimised from the first demand on, and until its demand falls to the second.
inline constexpr double demand_to_open = 0.5, demand_to_close = 0.25;
/// Seconds since the guest started; until then it boots, and plugs get lost.
inline constexpr double up_to_open = 30;
/// CPUs: the smallest move of the estimate that counts.
inline constexpr double estimate_moved = 0.5;
/// A level that is off by more than both limits starts a new search; 20 % alone flaps at 10 % noise.
inline constexpr double level_moved = 0.20, level_errors = 4;
/// ... in this number of windows more than it was not.
inline constexpr unsigned level_lasts = 5;
/// Seconds of rest before the next look without a cause: doubles while nothing is found.
inline constexpr double first_rest = 30, longest_rest = 600;
/// The changes of a search may cost this part of the time until the next search, without a cause or with one:
/// that is how long a gain lasts. Without a cause, few searches find one.
inline constexpr double search_part = 0.005, caused_search_part = 0.05;
/// Seconds: the deadline of an action and of its second try (30 s later).
inline constexpr double back_deadline = 40;
inline constexpr double hold_seconds = 600;
/// A trial is void after this multiple of the time that its windows take.
inline constexpr double trial_slack = 3;

/// How far a sweep goes above the estimate, and in how many rounds.
inline constexpr unsigned sweep_ahead = 8, fewest_rounds = 4, most_rounds = 12;
/// The fewest windows at each count of a sweep: the median of four is wrong after two bursts.
inline constexpr unsigned fewest_sweep_windows = 6;
/// The smallest turn of the use that counts, and the largest fall of a flat curve.
inline constexpr double large_turn = 0.10;
/// Standard errors of a point: how far the farthest of nine points, or a step between two, is off by chance.
inline constexpr double curve_errors = 4, turn_errors = 4;
/// ... and how near to the lowest point a count must be. A step to the bottom is a large one.
inline constexpr double bottom_errors = 2;

/// How far a neighbour's share may fall during a trial.
inline constexpr double guard_fall = 0.02;
/// Standard errors of one comparison; with a known noise, 2.6 would be enough.
inline constexpr double guard_errors = 3.3;
/// How many windows at rest measure the noise of a neighbour's share, and its noise until there are six.
inline constexpr unsigned guard_windows = 30;
inline constexpr double unknown_noise = 0.05;

}  // namespace sukima::host::constants

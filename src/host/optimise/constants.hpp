// SPDX-License-Identifier: Apache-2.0
// All constants of the optimiser, with their units and reasons. They were chosen by runs against synthetic
// programs (tests/host/optimise/table_check.cpp prints the table).
#pragma once

#include <cmath>

#include "shared/sweep.hpp"

namespace sukima::host::constants {

/// The conditions for a significant comparison.
struct criterion {
  double effect;  ///< the smallest change of a rate's logarithm that counts
  double errors;  ///< the number of standard errors that must separate the mean from no change
};
/// With a cause: the program or the estimate has changed, so a search may find a better count.
inline constexpr criterion with_cause{sweep::least_effect, 2.6};
/// Without a cause a change must be larger and more certain. This hysteresis prevents a resting count that
/// flaps.
inline constexpr criterion at_rest{0.05, 3.3};

/// Six pairs at most would be too few at 10 % noise.
inline constexpr unsigned fewest_pairs = 2, most_pairs = 12;
/// From this number of pairs on, the smallest and the largest are left out, so that one burst cannot decide.
inline constexpr unsigned pairs_to_trim = 5;
/// If the first pair is worse than this, the trial ends, because measuring until it is certain would cost too
/// much.
inline const double abort_below = std::log(0.75);
/// The part of the windows until the next change that a change of the count may cost. If it costs more, a
/// trial measures each count for several consecutive windows.
inline constexpr double change_part = 0.05;
/// The most consecutive windows at one count. Pairs must be shorter than the phases and the drift that they
/// cancel.
inline constexpr unsigned longest_visit = 4;
/// The mean cost is computed from at most and at least this many changes. One or two are too noisy.
inline constexpr unsigned known_changes = 16, fewest_changes = 3;

/// The least noise of a window, because a few windows may show none by chance.
inline constexpr double least_noise = 0.01;
/// The least noise of a pair, as a part of the noise that its two windows have together.
inline constexpr double least_pair_noise = 0.7;

inline constexpr unsigned learn_windows = 6;
inline constexpr unsigned level_windows = 8;
/// The longest step between two candidates.
inline constexpr unsigned longest_step = 4;

/// CPUs: optimising a VM begins when its demand exceeds the first value, and ends when its demand falls to
/// the second.
inline constexpr double demand_to_open = 0.5, demand_to_close = 0.25;
/// Seconds since the guest started. Before that the guest boots, and plugging in would be lost.
inline constexpr double up_to_open = 30;
/// CPUs: the smallest change of the estimate that counts.
inline constexpr double estimate_moved = 0.5;
/// A level that is off by more than both limits starts a new search. A limit of 20 % alone would flap at 10 %
/// noise.
inline constexpr double level_moved = 0.20, level_errors = 4;
/// The level must be off in this many more windows than it is not.
inline constexpr unsigned level_lasts = 5;
/// Seconds of rest before the next search without a cause. The time doubles as long as the searches find
/// nothing.
inline constexpr double first_rest = 30, longest_rest = 600;
/// The part of the time until the next search that the changes of a search may cost, without a cause and with
/// one. A gain lasts until the next search. Without a cause, few searches find a gain.
inline constexpr double search_part = 0.005, caused_search_part = 0.05;
/// Seconds: the deadline of an action together with its second attempt (30 s later).
inline constexpr double back_deadline = 40;
inline constexpr double hold_seconds = 600;
/// A trial is void after this multiple of the time that its windows take.
inline constexpr double trial_slack = 3;

/// How far a sweep goes above the estimate, and the bounds of its number of rounds.
inline constexpr unsigned sweep_ahead = 8, fewest_rounds = 4, most_rounds = 12;
/// The fewest windows at each count of a sweep: with four windows, two bursts would make the median wrong.
inline constexpr unsigned fewest_sweep_windows = 6;
/// The smallest turn of the use that counts, and the largest fall of a flat curve.
inline constexpr double large_turn = 0.10;
/// Standard errors of a point by which the farthest of nine points, or a step between two points, is off by
/// chance.
inline constexpr double curve_errors = 4, turn_errors = 4;
/// Standard errors within which a count must be of the lowest point. The step down to the bottom is a large
/// one.
inline constexpr double bottom_errors = 2;

/// How far a neighbour's share may fall during a trial.
inline constexpr double guard_fall = 0.02;
/// Standard errors for a single comparison. If the noise were known, 2.6 would be enough.
inline constexpr double guard_errors = 3.3;
/// The number of windows at rest that measure the noise of a neighbour's share. Below: the noise that is
/// assumed until there are six.
inline constexpr unsigned guard_windows = 30;
inline constexpr double unknown_noise = 0.05;

}  // namespace sukima::host::constants

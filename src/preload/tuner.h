// SPDX-License-Identifier: Apache-2.0
// Trying other numbers of threads while an OpenMP program runs, judged by its parallel regions per second.
#ifndef SUKIMA_PRELOAD_TUNER_H
#define SUKIMA_PRELOAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

/// What the tuner may do.
struct tuner_limits {
  uint32_t fitting;  ///< the number that the estimate gives: where it starts, and where it goes back to
  uint32_t least;    ///< never fewer, at least 1
  uint32_t most;     ///< never more
  uint32_t cpus;     ///< CPUs that may run threads of this process at the same moment
};

enum {
  tuner_most_regions = 64,     ///< regions that are told apart; the others count as one
  tuner_most_candidates = 4,
};

/// How often a region has ended.
struct tuner_region {
  uintptr_t function;  ///< the address of its body; 0: no such region
  uint64_t count;
};

/// A measurement of one number of threads: from the first end of the reference region after the settling.
struct tuner_window {
  uint64_t begin;    ///< the first end of the reference region; 0: there was none yet
  uint64_t latest;   ///< its latest end
  uint32_t count;    ///< its ends after the first
};

enum tuner_state {
  tuner_steady,    ///< runs with the chosen number
  tuner_settling,  ///< a number was changed for a trial; the kernel still moves threads about
  tuner_measuring
};

/// All of it is the tuner's own business, except `chosen` and `changed`. One thread at a time.
struct tuner {
  struct tuner_limits limits;
  uint32_t chosen;   ///< the number of threads outside of trials
  bool changed;      ///< set where `chosen` has changed, with the two rates; whoever has seen it clears it
  double rate_before, rate_after;  ///< regions per second with the number before and with `chosen`
  uint32_t changed_from;

  uint32_t running;  ///< the number of threads now
  enum tuner_state state;
  uint64_t state_since;
  uint64_t begin, next_trial, trial_begin;
  uint64_t trial_pause;   ///< until the next trial but one
  double usual_rate;      ///< of the reference region with the chosen number; 0 is unknown
  struct tuner_window window;
  struct tuner_region regions[tuner_most_regions];
  uintptr_t reference;  ///< the region that ends most often; 0: not chosen yet
  uint32_t candidates[tuner_most_candidates];
  double rates[tuner_most_candidates];
  uint32_t candidate_count, candidate;
};

/// Begins anew, with `limits.fitting` threads.
void tuner_start(struct tuner* tuner, const struct tuner_limits* limits, uint64_t now);

/// A region has ended: counts it, and decides.
/// \param function the address of the region's body, to tell regions apart; not 0
/// \param now      nanoseconds
/// \return the number of threads for the next region
/// \par Complexity a search in at most `tuner_most_regions` entries
/// Source: the rules of docs/run.md, "While it runs".
uint32_t tuner_region_ended(struct tuner* tuner, uintptr_t function, uint64_t now);

#endif

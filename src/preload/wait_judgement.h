// SPDX-License-Identifier: Apache-2.0
// Decides when OpenMP's idle threads should sleep: the wait monitor's judgement, without threads and clocks.
#ifndef SUKIMA_PRELOAD_WAIT_JUDGEMENT_H
#define SUKIMA_PRELOAD_WAIT_JUDGEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <capacity/shared/schedstat.h>
#include <capacity/shared/shortage.h>

/// The state of a judgement. Callers may read `is_short`; the other members are internal.
struct wait_judgement {
  bool is_short;  ///< idle threads should sleep
  cap_shortage shortage;
  uint64_t since;  ///< when `is_short` changed
  uint64_t pause;  ///< they sleep for at least this long
  pid_t thread;  ///< the thread that is followed; 0: none
  cap_schedstat latest;  ///< its counters
};

/// Begins a judgement.
/// \param is_short the state that is known at the start
/// \param now      nanoseconds
void wait_judgement_start(struct wait_judgement* judgement, bool is_short, uint64_t now);

/// Adds the counters of a thread that begins regions since the previous call.
/// \param did the differences of the thread's counters
/// \return `judgement->is_short`
/// \par Complexity constant, no system call
/// Source: the rules of docs/run.md, "While it runs".
bool wait_judgement_add(struct wait_judgement* judgement, const cap_schedstat* did, uint64_t now);

/// How long idle threads have to wait between regions, as an average over the latest gaps. Time beyond their
/// usual spin time does not count.
/// \param mean the average so far; 0 at the beginning
/// \param gap  nanoseconds from the end of a region to the beginning of the next one
/// \return the new average, in nanoseconds
/// \par Complexity constant
/// Source: docs/openmp.md.
uint64_t wait_judgement_mean_gap(uint64_t mean, uint64_t gap);

/// Whether spinning threads cost more in such gaps than it takes to wake sleeping threads.
/// \param were_long the previous result
bool wait_judgement_gaps_are_long(uint64_t mean, bool were_long);

/// Adds the counters of the thread that begins regions. If it is another thread than before, the observations
/// begin again, and the judgement stays. The kernel gives the number of a thread that has ended to another
/// one, whose counters begin at 0.
/// \param informative  whether the thread's waiting since the previous call says anything
/// \return `judgement->is_short`
bool wait_judgement_follow(struct wait_judgement* judgement, pid_t thread, bool informative,
                           const cap_schedstat* counters, uint64_t now);

#endif

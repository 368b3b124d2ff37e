// SPDX-License-Identifier: Apache-2.0
// Experiments with other numbers of threads while an OpenMP program runs. The speed of its parallel regions
// decides.
#ifndef SUKIMA_PRELOAD_TUNER_H
#define SUKIMA_PRELOAD_TUNER_H

#include <stdbool.h>
#include <stdint.h>

/// The limits of the tuner.
struct tuner_limits {
  uint32_t first;  ///< the number at the start: right for programs whose threads sleep while they wait
  uint32_t fitting;  ///< the number that is right for threads that wait actively, in the program's own code
  uint32_t least;  ///< the smallest number, at least 1
  uint32_t most;  ///< the largest number
  uint32_t cpus;  ///< CPUs that may run threads of this process at the same moment
};

enum {
  tuner_most_regions = 64,  ///< regions that are distinguished; all others count as one
  tuner_most_candidates = 5,
};

/// Executions of a region, and their total time in nanoseconds.
struct tuner_sum {
  uint64_t count, time;
};

/// A region of the program: its executions with the chosen number of threads in the present window and in the
/// window before, and with the number that is being tried.
struct tuner_region {
  uintptr_t function;  ///< the address of its body; 0: the entry is free
  struct tuner_sum present, before, tried;
};

enum tuner_state {
  tuner_steady,  ///< runs with the chosen number
  tuner_settling,  ///< the number was changed for an experiment, and the kernel still moves threads
  tuner_measuring
};

/// Callers may read `chosen`, `running`, `changed_from` and `gain`, and clear `changed`. The other members
/// belong to the tuner. Only one thread at a time may use it.
struct tuner {
  struct tuner_limits limits;
  uint32_t chosen;  ///< the number of threads outside experiments
  uint32_t running;  ///< the number of threads now
  bool changed;  ///< set when `chosen` has changed; the caller clears it
  uint32_t changed_from;
  double gain;  ///< the speed relative to that before the change

  bool is_short;  ///< other programs also need the CPUs
  bool threads_sleep;  ///< see tuner_switches()
  enum tuner_state state;
  uint64_t begin, state_since, next_experiment, experiment_begin;
  uint64_t experiment_pause;  ///< the longest time until the experiment after the next one
  struct tuner_region regions[tuner_most_regions];
  /// The execution that is not counted yet, because the time after it belongs to it.
  struct tuner_region* latest;
  uint64_t latest_begin, latest_end;
  bool latest_is_usual;  ///< it ran with the chosen number, outside experiments
  uint32_t candidates[tuner_most_candidates];
  double speeds[tuner_most_candidates];
  uint32_t candidate_count, candidate;
  uint64_t lost;  ///< time lost by the present experiment
};

/// Begins again, with `limits.first` threads.
void tuner_start(struct tuner* tuner, const struct tuner_limits* limits, uint64_t now);

/// Must be called when a region begins: decides its number of threads.
/// \param function the address of the region's body, which identifies it; not 0
/// \param now      nanoseconds
/// \return the number of threads
/// \par Complexity a search in at most `tuner_most_regions` entries; all of them at the end of a window
/// Source: the rules of docs/run.md, "While it runs".
uint32_t tuner_region_begins(struct tuner* tuner, uintptr_t function, uint64_t now);

/// Must be called when the region that began last has ended.
void tuner_region_ends(struct tuner* tuner, uint64_t now);

/// Adds the latest counters of the thread that begins regions. From these the tuner infers whether threads
/// sleep while they wait for each other. If they do, another number can gain little beside neighbours, so the
/// first experiment can wait.
/// \param ran      CPU time in seconds
/// \param given_up how often it gave up its CPU
/// \param lost     how often it lost its CPU to another thread
void tuner_switches(struct tuner* tuner, double ran, uint64_t given_up, uint64_t lost);

/// Informs the tuner that CPU has become short or is no longer short, so other numbers may be better now.
void tuner_supply_changed(struct tuner* tuner, bool is_short, uint64_t now);

#endif

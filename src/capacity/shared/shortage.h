// SPDX-License-Identifier: Apache-2.0
// Judges whether CPU is short. The runtime's workers and the preload library share this judgement.
#ifndef SUKIMA_CAPACITY_SHARED_SHORTAGE_H
#define SUKIMA_CAPACITY_SHARED_SHORTAGE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { cap_shortage_most_windows = 3 };

/// A span of observed time, and the amount of waiting in it that means a shortage.
typedef struct cap_shortage_window {
  uint64_t length_ns;  ///< in time that threads ran or waited for a CPU, not in elapsed time
  double short_above;  ///< CPU is short if threads waited for more than this share of it, 0 to 1
} cap_shortage_window;

/// The conditions under which CPU becomes short and ceases to be short. The two thresholds differ, so that
/// the judgement does not change with every window. Short windows need a high threshold, because a kernel
/// thread that runs for a millisecond is not a neighbour.
typedef struct cap_shortage_rule {
  unsigned window_count;  ///< 1 to cap_shortage_most_windows
  cap_shortage_window windows[cap_shortage_most_windows];  ///< the longest one last
  double enough_up_to;  ///< the last window is calm if at most this share of it was waiting
  /// The number of consecutive calm windows that ends a shortage. Calm windows before the shortage count,
  /// too: a brief shortage after a long calm ends with the next judgement.
  unsigned calm_windows;
} cap_shortage_rule;

/// The state of a judgement. All zero is the initial state: CPU is not short, and nothing was observed.
typedef struct cap_shortage {
  bool is_short;  ///< the latest answer
  double waiting;  ///< the share of waiting, 0 to 1, in the last window when that was last complete
  unsigned calm;  ///< consecutive calm windows
  uint64_t ran_ns[cap_shortage_most_windows];
  uint64_t waited_ns[cap_shortage_most_windows];
} cap_shortage;

/// Adds the time that threads ran and waited since the previous call; cap_schedstat counts both.
void cap_shortage_add(cap_shortage* state, uint64_t ran_ns, uint64_t waited_ns);

/// Judges the windows that are long enough, and begins them again. Shorter windows stay open.
/// \return `state->is_short`
/// \par Complexity constant, no system call
bool cap_shortage_judge(cap_shortage* state, const cap_shortage_rule* rule);

/// Discards the observations and keeps the judgement, for an observer that changes to another thread.
void cap_shortage_restart(cap_shortage* state);

#ifdef __cplusplus
}
#endif

#endif

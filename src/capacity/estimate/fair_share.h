// SPDX-License-Identifier: Apache-2.0
// Weighted fair sharing (max-min fairness) of CPU among groups and threads, and the weights of nice values.
#ifndef SUKIMA_CAPACITY_ESTIMATE_FAIR_SHARE_H
#define SUKIMA_CAPACITY_ESTIMATE_FAIR_SHARE_H

#include <stddef.h>
#include <stdint.h>

/// A member that wants CPU: a group, a thread, or several equal threads together.
typedef struct cap_share {
  double weight;  ///< above 0; the sum if the entry is several equal threads
  double demand;  ///< in CPUs, the most that it can use
  double share;   ///< the result
} cap_share;

/// Divides `capacity` CPUs by weight. A member that wants less than its share gets its demand, and the rest
/// is divided again among the others. The sum of the shares is the smaller of `capacity` and the sum of all
/// demands. Equal threads may be one entry with the sums of their weights and demands; the result is the
/// same.
/// \par Complexity quadratic in `count` at worst
/// Source: water filling; Bertsekas and Gallager, Data Networks (1992), section 6.5.
void cap_fair_share(double capacity, cap_share* items, size_t count);

/// The weight of a thread with this nice value, 1.0 for nice 0. Values outside -20 to 19 are limited to that
/// range.
double cap_nice_weight(int nice);

/// The weight of a thread of the class SCHED_IDLE, and of an idle group: almost none.
double cap_idle_weight(void);

/// The weight of a thread of this scheduling class. Threads of real-time classes precede all others, so their
/// weight is 1000.
/// \param policy a scheduling policy of sched(7) \param nice used for the ordinary policies
double cap_thread_weight(uint64_t policy, int nice);

enum { cap_placed_count = 128 };

/// The CPU of a thread of weight `own` among threads that are always runnable, share CPUs by weight, and each
/// stay on one CPU. The kernel moves threads so that the sums of weights are as equal as whole threads allow,
/// and threads of equal weight take turns. The difference to cap_fair_share() is large for a few threads of
/// different weights.
/// \param cpus    number of CPUs, 1 to cap_placed_count
/// \param weights of all threads, ours included; sorted by this function
/// \param count   number of threads, at most cap_placed_count
/// \return the part of a CPU that each thread of weight `own` gets, on average; 0 if there is none
/// \par Complexity count * (count + cpus)
double cap_placed_share(size_t cpus, double* weights, size_t count, double own);

#endif

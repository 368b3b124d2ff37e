// SPDX-License-Identifier: Apache-2.0
// Weighted fair sharing (max-min fairness) of CPU among groups and threads, and the weights of nice values.
#ifndef SUKIMA_CAPACITY_ESTIMATE_FAIR_SHARE_H
#define SUKIMA_CAPACITY_ESTIMATE_FAIR_SHARE_H

#include <stddef.h>
#include <stdint.h>

/// A member that wants CPU: a group, a thread, or several equal threads together.
typedef struct cap_share {
  double weight;  ///< above 0; of several equal threads the sum
  double demand;  ///< in CPUs, what it can use at most
  double share;   ///< the result
} cap_share;

/// Shares `capacity` CPUs by weight. A member that wants less than its share gets its demand, and the rest is
/// shared again among the others. The shares' sum is the smaller of `capacity` and the sum of all demands.
/// Equal threads may be one entry with the sums of their weights and demands: the result is the same.
/// \par Complexity quadratic in `count` at worst
/// Source: water filling; Bertsekas and Gallager, Data Networks (1992), section 6.5.
void cap_fair_share(double capacity, cap_share* items, size_t count);

/// The weight of a thread with this nice value, 1.0 for nice 0; others than -20 to 19 count as the nearest.
double cap_nice_weight(int nice);

/// The weight of a thread of the class SCHED_IDLE and of an idle group: practically none.
double cap_idle_weight(void);

#endif

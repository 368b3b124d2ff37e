// SPDX-License-Identifier: Apache-2.0
// Counts the parallel regions that run now, and measures the gaps in which none runs.
#ifndef SUKIMA_PRELOAD_REGIONS_NOW_H
#define SUKIMA_PRELOAD_REGIONS_NOW_H

#include <stdbool.h>
#include <stdint.h>

/// Records that a region begins. Any thread may call it.
/// \param now  nanoseconds; 0: gaps are not measured
/// \return the argument for regions_now_end
uint32_t regions_now_begin(uint64_t now);

/// Records that the region has ended. In the child of a fork, the end of a region that began in the parent
/// has no effect.
void regions_now_end(uint32_t begun, uint64_t now);

/// Whether a region runs.
bool regions_now_any(void);

/// The average of the recent gaps (wait_judgement_mean_gap); 0: none has been measured.
uint64_t regions_now_mean_gap(void);

/// Resets everything in the child of a fork, where no region runs that its own threads began.
void regions_now_forget(void);

#endif

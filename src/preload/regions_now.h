// SPDX-License-Identifier: Apache-2.0
// The parallel regions that run now, and the gaps in which none does.
#ifndef SUKIMA_PRELOAD_REGIONS_NOW_H
#define SUKIMA_PRELOAD_REGIONS_NOW_H

#include <stdbool.h>
#include <stdint.h>

/// A region begins. Any thread.
/// \param now  nanoseconds; 0: gaps are not measured
/// \return for regions_now_end
uint32_t regions_now_begin(uint64_t now);

/// The region has ended. In the child of a fork, the end of a region that began in the parent changes
/// nothing.
void regions_now_end(uint32_t begun, uint64_t now);

/// Whether a region runs.
bool regions_now_any(void);

/// The average of the gaps of late (wait_judgement_mean_gap); 0: none has been measured.
uint64_t regions_now_mean_gap(void);

/// In the child of a fork, which runs no region that its own threads began.
void regions_now_forget(void);

#endif

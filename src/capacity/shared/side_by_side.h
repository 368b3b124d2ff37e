// SPDX-License-Identifier: Apache-2.0
// The interface between the runtime and the preload library in one process. The preload library sees the
// parallel regions of OpenMP, and the runtime sees its own threads.
#ifndef SUKIMA_CAPACITY_SHARED_SIDE_BY_SIDE_H
#define SUKIMA_CAPACITY_SHARED_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The runtime's functions for the preload library. They never wait, and any thread may call them.
typedef struct cap_side_by_side {
  /// A region of `threads` threads begins in the calling thread, which is one of them.
  /// \return the argument for region_ends; 0: the region is not counted
  uint64_t (*region_begins)(uint32_t threads);
  void (*region_ends)(uint64_t begun);
  /// Whether a thread has entered the runtime since the last call, or is inside it.
  bool (*was_used)(void);
} cap_side_by_side;

/// A function of the preload library. The runtime looks it up, and passes it functions that stay valid.
typedef void cap_side_by_side_meet(const cap_side_by_side* runtime);
#define CAP_SIDE_BY_SIDE_MEET "sukima_preload_meet"

#ifdef __cplusplus
}
#endif

#endif

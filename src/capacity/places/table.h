// SPDX-License-Identifier: Apache-2.0
// The table of a machine's places. It is a tree, stored as an array of places that refer to the place around
// them.
#ifndef SUKIMA_CAPACITY_PLACES_TABLE_H
#define SUKIMA_CAPACITY_PLACES_TABLE_H

#include <stdint.h>

#include <sukima/capacity/places.h>

#include "limits/reader.h"

enum {
  cap_place_levels = SUKIMA_PLACE_CORE + 1,
  // Any, the machine, and at most one cache and one core for each CPU.
  cap_most_places = 2 + SUKIMA_PLACE_MAX_DOMAINS + 2 * SUKIMA_PLACE_MAX_CPUS,
};

/// If it is all zero, it is the table of a machine of which nothing is known: the machine is the only place.
struct sukima_place_table {
  uint32_t parts;  ///< places without "any" and the machine
  uint32_t ignored;  ///< files with malformed content
  uint32_t counts[cap_place_levels];  ///< places at each level
  uint32_t cpu_end;  ///< one past the highest CPU in `of_cpu`
  /// Facts by place. The machine has index 1. Index 0, "any", is like the machine.
  sukima_place_facts places[cap_most_places];
  sukima_place of_cpu[SUKIMA_PLACE_MAX_CPUS];  ///< the smallest place; SUKIMA_PLACE_ANY: no such CPU
  sukima_place of_domain[SUKIMA_PLACE_MAX_DOMAINS];
  // The process and the mask that determine which CPUs are listed as usable.
  pid_t pid;
  sukima_capacity_affinity affinity_of;
  cap_open_affinity open_affinity;
  cap_cpu_set affinity_at_open;
  char root[cap_path_size];
};

/// Adds a place for those CPUs in `list` that are so far in the same smallest place as `cpu`. So a new place
/// never overlaps another one. \pre `cpu` is in the list and in the table
void cap_place_table_group(sukima_place_table* table, uint32_t cpu, const cap_cpu_set* list,
                           sukima_place_level level);

/// Adds a domain with the CPUs in `list` that are in no domain yet.
void cap_place_table_add_domain(sukima_place_table* table, uint32_t number, const cap_cpu_set* list);

/// Fills a table, which must be all zero, from the files of sysfs.
/// \param reader has read the facts; CPUs that are online or allowed become CPUs of the table
void cap_place_table_read(sukima_place_table* table, cap_reader* reader);

#endif

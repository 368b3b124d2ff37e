// SPDX-License-Identifier: Apache-2.0
// The table of a machine's places: a tree, stored as an array of places that name the place around them.
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

/// All zero it is the table of a machine of which nothing is known: the machine is the only place.
struct sukima_place_table {
  uint32_t parts;  ///< places without "any" and the machine
  uint32_t ignored;  ///< files whose content made no sense
  uint32_t counts[cap_place_levels];  ///< places at each level
  uint32_t cpu_end;  ///< after the highest CPU in `of_cpu`
  /// Facts by place: the machine has index 1; index 0, "any", is like the machine.
  sukima_place_facts places[cap_most_places];
  sukima_place of_cpu[SUKIMA_PLACE_MAX_CPUS];  ///< the smallest place; SUKIMA_PLACE_ANY: no such CPU
  sukima_place of_domain[SUKIMA_PLACE_MAX_DOMAINS];
  // The process and the mask whose CPUs are listed as usable.
  pid_t pid;
  sukima_capacity_affinity affinity_of;
  cap_open_affinity open_affinity;
  cap_cpu_set affinity_at_open;
  char root[cap_path_size];
};

/// Adds a place for the CPUs in `list` that are, so far, in the same smallest place as `cpu`: so a new place
/// never overlaps another one. `cpu` is in the list and in the table.
void cap_place_table_group(sukima_place_table* table, uint32_t cpu, const cap_cpu_set* list,
                           sukima_place_level level);

/// Adds a domain with the CPUs in `list` that are in no domain yet.
void cap_place_table_add_domain(sukima_place_table* table, uint32_t number, const cap_cpu_set* list);

/// Fills a table, all zero before, from the files of sysfs.
/// \param reader has read the facts: the CPUs that are online or allowed become CPUs of the table
void cap_place_table_read(sukima_place_table* table, cap_reader* reader);

#endif

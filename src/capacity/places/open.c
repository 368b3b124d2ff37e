// SPDX-License-Identifier: Apache-2.0
// Opens a table of places, also that of the running machine, and finds the places that a process may use.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "places/table.h"

sukima_place_table* sukima_place_table_open(const sukima_capacity_options* options) {
  static const sukima_capacity_options own = {.affinity = SUKIMA_CAPACITY_AT_OPEN};
  int error = errno;
  sukima_capacity_options chosen = options != NULL ? *options : own;
  chosen.override_text = "";  // the user's number of CPUs does not affect places
  sukima_place_table* table = cap_allocate(sizeof *table);
  cap_reader* reader = cap_allocate(sizeof *reader);
  if (table == NULL || reader == NULL || cap_reader_set(reader, &chosen) != 0) {
    if (table != NULL) cap_release(table, sizeof *table);
    table = NULL;
  } else {
    sukima_capacity_facts facts;
    cap_reader_read(reader, &facts);
    table->pid = chosen.pid;
    table->affinity_of = chosen.affinity;
    table->open_affinity = reader->open_affinity;
    cap_cpu_set_copy(&table->affinity_at_open, &reader->affinity_at_open);
    strcpy(table->root, reader->root);
    cap_place_table_read(table, reader);
  }
  if (reader != NULL) cap_release(reader, sizeof *reader);
  errno = error;
  return table;
}

void sukima_place_table_close(sukima_place_table* table) {
  int error = errno;
  if (table != NULL) cap_release(table, sizeof *table);
  errno = error;
}

const sukima_place_table* sukima_place_table_of_machine(void) {
  // Several threads may read the machine; the first of them stores its table. Both sides are here: the
  // load-acquire makes the data visible that the thread with the successful exchange (release) has read.
  static _Atomic(sukima_place_table*) of_machine;
  static sukima_place_table without_memory;
  sukima_place_table* found = atomic_load_explicit(&of_machine, memory_order_acquire);
  if (found != NULL) return found;
  sukima_place_table* mine = sukima_place_table_open(NULL);
  if (mine == NULL) mine = &without_memory;
  if (atomic_compare_exchange_strong_explicit(&of_machine, &found, mine, memory_order_acq_rel,
                                              memory_order_acquire)) {
    return mine;
  }
  if (mine != &without_memory) sukima_place_table_close(mine);
  return found;
}

// Reads the CPUs that the process may use now into a set of the reader, and returns it.
static const cap_cpu_set* read_allowed(const sukima_place_table* table, cap_reader* reader) {
  sukima_capacity_options chosen = {
      .root = table->root, .override_text = "", .pid = table->pid, .affinity = table->affinity_of};
  if (cap_reader_set(reader, &chosen) != 0) return NULL;
  reader->open_affinity = table->open_affinity;
  cap_cpu_set_copy(&reader->affinity_at_open, &table->affinity_at_open);
  sukima_capacity_facts facts;
  cap_reader_read(reader, &facts);
  return &reader->affinity;
}

// The set is small enough for any stack.
typedef struct cap_place_marks {
  uint64_t words[cap_most_places / 64 + 1];
} cap_place_marks;

static void mark(cap_place_marks* marks, sukima_place place) {
  marks->words[place / 64] |= UINT64_C(1) << (place % 64);
}

// Marks the places at this level, or around it, of all CPUs in `allowed`; NULL: of all CPUs.
static void mark_usable(const sukima_place_table* table, sukima_place_level level, const cap_cpu_set* allowed,
                        cap_place_marks* marks) {
  if (allowed == NULL) {
    for (uint32_t cpu = 0; cpu < table->cpu_end; cpu++) {
      if (table->of_cpu[cpu] == SUKIMA_PLACE_ANY) continue;
      mark(marks, sukima_place_table_around(table, table->of_cpu[cpu], level));
    }
    return;
  }
  for (uint32_t cpu = 0; cpu < allowed->used * 64; cpu++) {
    if (!cap_cpu_set_contains(allowed, cpu)) continue;
    mark(marks, sukima_place_table_around(table, sukima_place_table_of_cpu(table, cpu), level));
  }
}

size_t sukima_place_table_usable(const sukima_place_table* table, sukima_place_level level,
                                 sukima_place* places, size_t capacity) {
  int error = errno;
  cap_place_marks marks = {{0}};
  cap_reader* reader = cap_allocate(sizeof *reader);
  mark_usable(table, level, reader != NULL ? read_allowed(table, reader) : NULL, &marks);
  if (reader != NULL) cap_release(reader, sizeof *reader);
  size_t found = 0;
  for (uint32_t place = SUKIMA_PLACE_WHOLE; place <= sukima_place_table_count(table); place++) {
    if ((marks.words[place / 64] >> (place % 64) & 1) == 0) continue;
    if (found < capacity) places[found] = (sukima_place)place;
    found++;
  }
  if (found == 0) {
    if (capacity != 0) places[0] = SUKIMA_PLACE_WHOLE;
    found = 1;
  }
  errno = error;
  return found;
}

size_t sukima_places(sukima_place_level level, sukima_place* places, size_t capacity) {
  return sukima_place_table_usable(sukima_place_table_of_machine(), level, places, capacity);
}

sukima_place sukima_here(sukima_place_level level) {
  int error = errno;
  const sukima_place_table* table = sukima_place_table_of_machine();
  int cpu = sched_getcpu();
  errno = error;
  return cpu >= 0 ? sukima_place_table_around(table, sukima_place_table_of_cpu(table, (uint32_t)cpu), level)
                  : SUKIMA_PLACE_WHOLE;
}

// SPDX-License-Identifier: Apache-2.0
// The table of places: its construction, and queries about it.
#include "places/table.h"

#include "shared/assert.h"

_Static_assert(cap_most_places <= UINT16_MAX, "a place is a number of two bytes");

static sukima_place add(sukima_place_table* table, sukima_place_facts facts) {
  sukima_place place = (sukima_place)(SUKIMA_PLACE_WHOLE + ++table->parts);
  CAP_ASSERT(place < cap_most_places, "a table has room for the places of its CPUs");
  CAP_ASSERT(facts.around < place && table->places[facts.around].level < facts.level,
             "a place is within a larger one");
  table->counts[facts.level]++;
  table->places[place] = facts;
  return place;
}

// Moves the CPUs of `list` into `place` from the place around it.
static void take_cpus(sukima_place_table* table, sukima_place place, const cap_cpu_set* list) {
  sukima_place_facts* facts = &table->places[place];
  for (uint32_t word = 0; word < list->used; word++) {
    for (uint64_t rest = list->words[word]; rest != 0; rest &= rest - 1) {
      uint32_t cpu = word * 64 + (uint32_t)__builtin_ctzll(rest);
      if (cpu >= table->cpu_end || table->of_cpu[cpu] != facts->around) continue;
      table->of_cpu[cpu] = place;
      if (facts->cpus++ == 0) facts->first_cpu = cpu;
    }
  }
  CAP_ASSERT(facts->cpus <= table->places[facts->around].cpus, "a place has CPUs of the place around it");
}

void cap_place_table_group(sukima_place_table* table, uint32_t cpu, const cap_cpu_set* list,
                           sukima_place_level level) {
  sukima_place_facts facts = {.level = level, .number = table->counts[level], .around = table->of_cpu[cpu]};
  take_cpus(table, add(table, facts), list);
}

void cap_place_table_add_domain(sukima_place_table* table, uint32_t number, const cap_cpu_set* list) {
  sukima_place_facts facts = {
      .level = SUKIMA_PLACE_NUMA_DOMAIN, .number = number, .around = SUKIMA_PLACE_WHOLE};
  table->of_domain[number] = add(table, facts);
  take_cpus(table, table->of_domain[number], list);
}

// The place if it is in the table; otherwise "any".
static sukima_place known(const sukima_place_table* table, sukima_place place) {
  return place <= sukima_place_table_count(table) ? place : SUKIMA_PLACE_ANY;
}

uint32_t sukima_place_table_count(const sukima_place_table* table) {
  return SUKIMA_PLACE_WHOLE + table->parts;
}

uint32_t sukima_place_table_ignored(const sukima_place_table* table) { return table->ignored; }

int sukima_place_table_facts(const sukima_place_table* table, sukima_place place, sukima_place_facts* facts) {
  place = known(table, place);
  *facts = table->places[place != SUKIMA_PLACE_ANY ? place : SUKIMA_PLACE_WHOLE];
  return place != SUKIMA_PLACE_ANY;
}

sukima_place sukima_place_table_of_cpu(const sukima_place_table* table, uint32_t cpu) {
  sukima_place place = cpu < SUKIMA_PLACE_MAX_CPUS ? table->of_cpu[cpu] : SUKIMA_PLACE_ANY;
  return place != SUKIMA_PLACE_ANY ? place : SUKIMA_PLACE_WHOLE;
}

sukima_place sukima_place_table_of_domain(const sukima_place_table* table, uint32_t domain) {
  return domain < SUKIMA_PLACE_MAX_DOMAINS ? table->of_domain[domain] : SUKIMA_PLACE_ANY;
}

sukima_place sukima_place_table_around(const sukima_place_table* table, sukima_place place,
                                       sukima_place_level level) {
  place = known(table, place);
  while (place > SUKIMA_PLACE_WHOLE && table->places[place].level > level) {
    place = table->places[place].around;
  }
  return place;
}

int sukima_place_table_contains(const sukima_place_table* table, sukima_place outer, sukima_place inner) {
  outer = known(table, outer);
  inner = known(table, inner);
  // "Any" contains the machine, which contains all other places.
  while (inner != outer && inner != SUKIMA_PLACE_ANY) inner = table->places[inner].around;
  return inner == outer;
}

int sukima_place_table_has_cpu(const sukima_place_table* table, sukima_place place, uint32_t cpu) {
  return cpu < SUKIMA_PLACE_MAX_CPUS && table->of_cpu[cpu] != SUKIMA_PLACE_ANY &&
         sukima_place_table_contains(table, place, table->of_cpu[cpu]);
}

const char* sukima_place_level_name(sukima_place_level level) {
  static const char* const names[] = {"machine", "numa_domain", "ll_cache", "core"};
  return (unsigned)level < cap_place_levels ? names[level] : "unknown";
}

size_t sukima_place_table_text(const sukima_place_table* table, sukima_place place, char* memory,
                               size_t size) {
  cap_writer out = cap_writer_make(memory, size);
  sukima_place_facts facts;
  if (sukima_place_table_facts(table, place, &facts) == 0) {
    cap_write(&out, "any");
    return out.length;
  }
  cap_write(&out, sukima_place_level_name(facts.level));
  if (facts.level == SUKIMA_PLACE_MACHINE) return out.length;
  cap_write(&out, " ");
  cap_write_number(&out, facts.number);
  return out.length;
}

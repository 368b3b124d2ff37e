// SPDX-License-Identifier: Apache-2.0
// The places of the machine from C: its tree, the places that this process may use, and where memory is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sukima/capacity/places.h>

/// Prints a place with its level, its number of CPUs and the place around it.
static void print(const sukima_place_table* table, sukima_place place) {
  char name[32];
  char around[32];
  sukima_place_facts facts;
  if (!sukima_place_table_facts(table, place, &facts)) return;
  sukima_place_table_text(table, place, name, sizeof name);
  sukima_place_table_text(table, facts.around, around, sizeof around);
  printf("%s: %s with %u CPUs, inside %s\n", name, sukima_place_level_name(facts.level), facts.cpus, around);
}

int main(void) {
  // The tree of the running machine is read once in a process. sukima_place_table_open() reads a recorded
  // one.
  const sukima_place_table* table = sukima_place_table_of_machine();
  const uint32_t count = sukima_place_table_count(table);
  for (uint32_t place = SUKIMA_PLACE_WHOLE; place <= count && place <= 8; place++)
    print(table, (sukima_place)place);
  if (sukima_place_table_ignored(table) != 0)
    puts("some files of this machine make no sense and are ignored");

  // Which cores may this process use, and on which one does this thread run?
  sukima_place cores[64];
  const size_t usable = sukima_places(SUKIMA_PLACE_CORE, cores, 64);
  const sukima_place here = sukima_here(SUKIMA_PLACE_CORE);
  const sukima_place cache = sukima_place_table_around(table, here, SUKIMA_PLACE_LL_CACHE);
  printf("usable cores: %s, this thread is inside its cache: %s\n", usable > 0 ? "yes" : "no",
         sukima_place_table_contains(table, cache, here) ? "yes" : "no");

  // The place of a CPU has this CPU, and domain 0 is the place of its memory.
  sukima_place_facts machine;
  sukima_place_table_facts(table, SUKIMA_PLACE_WHOLE, &machine);
  const sukima_place of_cpu = sukima_place_table_of_cpu(table, machine.first_cpu);
  printf("the first CPU is in its place: %s\n",
         sukima_place_table_has_cpu(table, of_cpu, machine.first_cpu) ? "yes" : "no");
  char* const memory = calloc(2, 1 << 20);
  if (memory == NULL) return 1;
  memset(memory, 1, 2 << 20);  // a page has a place once it was touched
  const void* const pages[] = {memory, memory + (1 << 20)};
  sukima_place domains[2];
  sukima_place_table_of_memory(table, pages, 2, domains);
  printf("memory: %s\n", sukima_place_of(memory) == domains[0] ? "both calls agree" : "the page has moved");
  free(memory);

  // A recorded tree, here the running machine once more. Numbers of places are those of one table.
  sukima_place_table* const again = sukima_place_table_open(NULL);
  if (again == NULL) return 1;
  printf("read again: %s\n", sukima_place_table_count(again) == count ? "the same places" : "other places");
  printf("places at the level of domains: %s, domain 0 is any place: %s\n",
         sukima_place_table_usable(again, SUKIMA_PLACE_NUMA_DOMAIN, NULL, 0) >= 1 ? "at least one" : "none",
         sukima_place_table_of_domain(again, 0) == SUKIMA_PLACE_ANY ? "yes" : "no");
  sukima_place_table_close(again);
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Places: any bytes in the files of /sys/devices/system give a table whose places are nested.
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sukima/capacity.h>

#include "fuzz_targets.h"

static void check(bool promise, const char* text) {
  if (promise) return;
  fprintf(stderr, "the promise is broken: %s\n", text);
  abort();
}

// Folders come before what is in them.
static const char* const folders[] = {"",
                                      "/proc",
                                      "/proc/self",
                                      "/sys",
                                      "/sys/devices",
                                      "/sys/devices/system",
                                      "/sys/devices/system/node",
                                      "/sys/devices/system/node/node0",
                                      "/sys/devices/system/node/node3",
                                      "/sys/devices/system/cpu",
                                      "/sys/devices/system/cpu/cpu0",
                                      "/sys/devices/system/cpu/cpu0/cache",
                                      "/sys/devices/system/cpu/cpu0/cache/index0",
                                      "/sys/devices/system/cpu/cpu0/cache/index1",
                                      "/sys/devices/system/cpu/cpu0/topology",
                                      "/sys/devices/system/cpu/cpu1",
                                      "/sys/devices/system/cpu/cpu1/cache",
                                      "/sys/devices/system/cpu/cpu1/cache/index0",
                                      "/sys/devices/system/cpu/cpu1/topology",
                                      "/sys/devices/system/cpu/cpu64",
                                      "/sys/devices/system/cpu/cpu64/topology"};
static const char* const files[] = {"/proc/self/status",
                                    "/sys/devices/system/cpu/online",
                                    "/sys/devices/system/node/online",
                                    "/sys/devices/system/node/node0/cpulist",
                                    "/sys/devices/system/node/node3/cpulist",
                                    "/sys/devices/system/cpu/cpu0/cache/index0/level",
                                    "/sys/devices/system/cpu/cpu0/cache/index0/type",
                                    "/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
                                    "/sys/devices/system/cpu/cpu0/cache/index1/level",
                                    "/sys/devices/system/cpu/cpu0/cache/index1/type",
                                    "/sys/devices/system/cpu/cpu0/cache/index1/shared_cpu_list",
                                    "/sys/devices/system/cpu/cpu0/topology/core_cpus_list",
                                    "/sys/devices/system/cpu/cpu1/cache/index0/level",
                                    "/sys/devices/system/cpu/cpu1/cache/index0/shared_cpu_list",
                                    "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
                                    "/sys/devices/system/cpu/cpu64/topology/core_cpus_list"};
enum { folder_count = sizeof folders / sizeof folders[0], file_count = sizeof files / sizeof files[0] };

static char root[] = "/dev/shm/sukima-places-XXXXXX";

static void remove_files(void) {
  char path[160];
  for (size_t i = 0; i < file_count; i++) {
    snprintf(path, sizeof path, "%s%s", root, files[i]);
    unlink(path);
  }
  for (size_t i = folder_count; i-- > 0;) {
    snprintf(path, sizeof path, "%s%s", root, folders[i]);
    rmdir(path);
  }
}

static void make_folders(void) {
  static bool made = false;
  if (made) return;
  if (mkdtemp(root) == NULL) abort();
  char path[160];
  for (size_t i = 1; i < folder_count; i++) {
    snprintf(path, sizeof path, "%s%s", root, folders[i]);
    if (mkdir(path, 0700) != 0) abort();
  }
  atexit(remove_files);
  made = true;
}

// The contents of the files, separated by the byte 0xff. A file without any content does not exist.
static void write_files(const uint8_t* data, size_t size) {
  const uint8_t* end = data + size;
  for (size_t i = 0; i < file_count; i++) {
    const uint8_t* separator = data < end ? memchr(data, 0xff, (size_t)(end - data)) : NULL;
    const uint8_t* last = separator != NULL ? separator : end;
    char path[160];
    snprintf(path, sizeof path, "%s%s", root, files[i]);
    if (last == data) {
      unlink(path);
    } else {
      FILE* file = fopen(path, "w");
      if (file == NULL) abort();
      fwrite(data, 1, (size_t)(last - data), file);
      fclose(file);
    }
    data = separator != NULL ? separator + 1 : end;
  }
}

static void check_place(const sukima_place_table* table, sukima_place place) {
  sukima_place_facts facts;
  sukima_place_facts around;
  char name[32];
  check(sukima_place_table_facts(table, place, &facts) == 1, "a number up to the count is a place");
  check(sukima_place_table_text(table, place, name, sizeof name) > 0, "each place has a name");
  check((facts.around == SUKIMA_PLACE_ANY) == (place == SUKIMA_PLACE_WHOLE), "all lies in the machine");
  if (place == SUKIMA_PLACE_WHOLE) return;
  sukima_place_table_facts(table, facts.around, &around);
  check(facts.around < place && around.level < facts.level, "a place is inside a larger one");
  check(facts.cpus <= around.cpus, "a part has no more CPUs than the whole");
  check(facts.cpus > 0 || facts.level == SUKIMA_PLACE_NUMA_DOMAIN, "a cache and a core have CPUs");
  check(facts.cpus == 0 || sukima_place_table_has_cpu(table, place, facts.first_cpu),
        "the lowest CPU is one");
  check(sukima_place_table_contains(table, facts.around, place) &&
            !sukima_place_table_contains(table, place, facts.around),
        "only the larger one contains the other");
}

static void check_usable(const sukima_place_table* table, sukima_place_level level) {
  static sukima_place places[SUKIMA_PLACE_MAX_CPUS];
  size_t count = sukima_place_table_usable(table, level, places, SUKIMA_PLACE_MAX_CPUS);
  check(count >= 1 && count <= SUKIMA_PLACE_MAX_CPUS, "there is a place to be");
  for (size_t i = 0; i < count; i++) {
    check(i == 0 || places[i - 1] < places[i], "places are in order");
    check(sukima_place_table_around(table, places[i], level) == places[i], "no place is too small");
  }
}

void fuzz_places(const uint8_t* data, size_t size) {
  make_folders();
  write_files(data, size);
  sukima_capacity_options options = {.root = root, .override_text = ""};
  sukima_place_table* table = sukima_place_table_open(&options);
  if (table == NULL) return;
  uint32_t count = sukima_place_table_count(table);
  check(count >= 1 && count < UINT16_MAX, "there is at least the machine");
  check(sukima_place_table_ignored(table) <= file_count, "no file is counted twice");
  uint32_t at_level[4] = {0, 0, 0, 0};
  uint32_t cpus = 0;
  sukima_place_facts facts;
  for (uint32_t place = 1; place <= count; place++) {
    check_place(table, (sukima_place)place);
    sukima_place_table_facts(table, (sukima_place)place, &facts);
    at_level[facts.level] += facts.cpus;
  }
  for (uint32_t cpu = 0; cpu < SUKIMA_PLACE_MAX_CPUS; cpu++) {
    cpus += (uint32_t)sukima_place_table_has_cpu(table, SUKIMA_PLACE_WHOLE, cpu);
  }
  check(at_level[SUKIMA_PLACE_MACHINE] == cpus, "the machine has all CPUs");
  for (int level = SUKIMA_PLACE_MACHINE; level <= SUKIMA_PLACE_CORE; level++) {
    check(at_level[level] <= cpus, "places of a level do not overlap");
    check_usable(table, (sukima_place_level)level);
  }
  sukima_place_table_close(table);
}

// SPDX-License-Identifier: Apache-2.0
// Reads a machine's places from /sys/devices/system: node*/cpulist, cpu*/cache/index*, cpu*/topology.
#include "places/table.h"
#include "text/counters.h"
#include "text/file.h"

enum {
  most_caches = 16,       // index0 to index15 of a CPU
  most_cache_level = 15,  // more than any machine has
};

static const char cpu_folder[] = "/sys/devices/system/cpu/cpu";
static const char node_folder[] = "/sys/devices/system/node/node";

// Reads the file FOLDER NUMBER NAME. An unreadable file counts as absent; only malformed content is counted.
static bool read_numbered(cap_reader* reader, const char* folder, uint32_t number, const char* name,
                          cap_text* content) {
  char digits[24];
  cap_writer out = cap_writer_make(digits, sizeof digits);
  cap_write_number(&out, number);
  return cap_make_path(reader, folder, digits, name) &&
         cap_file_read(reader->path, reader->content, sizeof reader->content, content) == cap_file_read_ok;
}

// Parses a list into reader->cpuset, which is no longer needed.
static bool take_list(sukima_place_table* table, cap_reader* reader, cap_text content) {
  if (cap_cpu_set_parse(&reader->cpuset, content.begin, cap_text_length(&content))) return true;
  table->ignored++;
  return false;
}

static void read_domain(sukima_place_table* table, cap_reader* reader, uint32_t number) {
  cap_text content;
  if (!read_numbered(reader, node_folder, number, "/cpulist", &content)) return;
  if (take_list(table, reader, content)) cap_place_table_add_domain(table, number, &reader->cpuset);
}

static void read_domains(sukima_place_table* table, cap_reader* reader) {
  cap_text content;
  if (!cap_make_path(reader, "/sys/devices/system/node/online", "", "") ||
      cap_file_read(reader->path, reader->content, sizeof reader->content, &content) != cap_file_read_ok ||
      !take_list(table, reader, content)) {
    return;
  }
  // Keep the list of domains while the lists of their CPUs are read.
  cap_cpu_set_copy(&reader->online, &reader->cpuset);
  for (uint32_t number = 0; number < SUKIMA_PLACE_MAX_DOMAINS; number++) {
    if (cap_cpu_set_contains(&reader->online, number)) read_domain(table, reader, number);
  }
}

// Reads a list of CPUs that share something with `cpu`. The list is malformed if it does not contain `cpu`
// itself.
// \return false if there is no such file
static bool read_group(sukima_place_table* table, cap_reader* reader, uint32_t cpu, const char* name,
                       sukima_place_level level) {
  cap_text content;
  if (!read_numbered(reader, cpu_folder, cpu, name, &content)) return false;
  if (!take_list(table, reader, content)) return true;
  if (cap_cpu_set_contains(&reader->cpuset, cpu)) {
    cap_place_table_group(table, cpu, &reader->cpuset, level);
  } else {
    table->ignored++;
  }
  return true;
}

static void make_cache_name(char name[40], uint32_t index, const char* file) {
  cap_writer out = cap_writer_make(name, 40);
  cap_write(&out, "/cache/index");
  cap_write_number(&out, index);
  cap_write(&out, file);
}

// The level of one of a CPU's caches; 0 if there is no such cache, or it holds only instructions.
static uint64_t read_cache_level(sukima_place_table* table, cap_reader* reader, uint32_t cpu, uint32_t index,
                                 bool* exists) {
  char name[40];
  cap_text content;
  uint64_t level = 0;
  make_cache_name(name, index, "/level");
  *exists = read_numbered(reader, cpu_folder, cpu, name, &content);
  if (!*exists) return 0;
  if (!cap_parse_count(content, &level) || level > most_cache_level) {
    table->ignored++;
    return 0;
  }
  make_cache_name(name, index, "/type");
  if (read_numbered(reader, cpu_folder, cpu, name, &content) &&
      cap_text_take_prefix(&content, "Instruction")) {
    return 0;
  }
  return level;
}

static void read_cache(sukima_place_table* table, cap_reader* reader, uint32_t cpu) {
  uint64_t highest = 0;
  uint32_t last = 0;
  bool exists = true;
  for (uint32_t index = 0; index < most_caches && exists; index++) {
    uint64_t level = read_cache_level(table, reader, cpu, index, &exists);
    if (level <= highest) continue;
    highest = level;
    last = index;
  }
  if (highest == 0) return;
  char name[40];
  make_cache_name(name, last, "/shared_cpu_list");
  read_group(table, reader, cpu, name, SUKIMA_PLACE_LL_CACHE);
}

static void read_core(sukima_place_table* table, cap_reader* reader, uint32_t cpu) {
  if (read_group(table, reader, cpu, "/topology/core_cpus_list", SUKIMA_PLACE_CORE)) return;
  // Before Linux 5.3 the list had another name.
  read_group(table, reader, cpu, "/topology/thread_siblings_list", SUKIMA_PLACE_CORE);
}

static void take_cpus_of(sukima_place_table* table, const cap_cpu_set* set) {
  for (uint32_t cpu = 0; cpu < set->used * 64 && cpu < SUKIMA_PLACE_MAX_CPUS; cpu++) {
    if (!cap_cpu_set_contains(set, cpu)) continue;
    table->of_cpu[cpu] = SUKIMA_PLACE_WHOLE;
    if (table->cpu_end <= cpu) table->cpu_end = cpu + 1;
  }
}

void cap_place_table_read(sukima_place_table* table, cap_reader* reader) {
  // In some containers the list of online CPUs is made up, so add also the CPUs that the process may use.
  take_cpus_of(table, &reader->online);
  take_cpus_of(table, &reader->affinity);
  sukima_place_facts* machine = &table->places[SUKIMA_PLACE_WHOLE];
  for (uint32_t cpu = table->cpu_end; cpu-- > 0;) {
    if (table->of_cpu[cpu] == SUKIMA_PLACE_ANY) continue;
    machine->cpus++;
    machine->first_cpu = cpu;
  }
  read_domains(table, reader);
  // A group also takes its later CPUs, so each cache and each core is read once.
  for (uint32_t cpu = 0; cpu < table->cpu_end; cpu++) {
    sukima_place place = table->of_cpu[cpu];
    if (place != SUKIMA_PLACE_ANY && table->places[place].level < SUKIMA_PLACE_LL_CACHE) {
      read_cache(table, reader, cpu);
    }
  }
  for (uint32_t cpu = 0; cpu < table->cpu_end; cpu++) {
    sukima_place place = table->of_cpu[cpu];
    if (place != SUKIMA_PLACE_ANY && table->places[place].level < SUKIMA_PLACE_CORE) {
      read_core(table, reader, cpu);
    }
  }
}

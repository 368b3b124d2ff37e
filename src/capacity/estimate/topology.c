// SPDX-License-Identifier: Apache-2.0
// Counts the cores of the CPUs on which the process may run.
#include "estimate/estimator.h"
#include "text/file.h"

// Whether the CPU is the lowest one of its core on which the process may run. That CPU represents the core.
static bool is_first_of_core(cap_reader* reader, uint32_t cpu) {
  char number[24];
  cap_writer out = cap_writer_make(number, sizeof number);
  cap_write_number(&out, cpu);
  cap_text content;
  if (!cap_make_path(reader, "/sys/devices/system/cpu/cpu", number, "/topology/thread_siblings_list") ||
      cap_file_read(reader->path, reader->content, sizeof reader->content, &content) != cap_file_read_ok ||
      !cap_cpu_set_parse(&reader->cpuset, content.begin, cap_text_length(&content))) {
    return true;
  }
  for (uint32_t other = 0; other < cpu; other++) {
    if (cap_cpu_set_contains(&reader->cpuset, other) && cap_cpu_set_contains(&reader->affinity, other)) {
      return false;
    }
  }
  return true;
}

uint32_t cap_count_cores(cap_reader* reader) {
  // Containers and recorded trees may not have this folder.
  if (!cap_make_path(reader, "/sys/devices/system/cpu/cpu0/topology", "", "") ||
      !cap_file_exists(reader->path)) {
    return 0;
  }
  uint32_t cores = 0;
  for (uint32_t cpu = 0; cpu < reader->affinity.used * 64; cpu++) {
    if (cap_cpu_set_contains(&reader->affinity, cpu) && is_first_of_core(reader, cpu)) cores++;
  }
  return cores;
}

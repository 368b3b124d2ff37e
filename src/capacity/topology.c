// SPDX-License-Identifier: Apache-2.0
// Which CPUs are threads of one core.
#include "estimator.h"
#include "file.h"

// The lowest CPU of the core's that the process may run on stands for the core.
static bool is_first_of_core(sukima_reader* reader, uint32_t cpu) {
  char number[24];
  sukima_writer out = sukima_writer_make(number, sizeof number);
  sukima_write_number(&out, cpu);
  sukima_text content;
  if (!sukima_make_path(reader, "/sys/devices/system/cpu/cpu", number, "/topology/thread_siblings_list") ||
      sukima_file_read(reader->path, reader->content, sizeof reader->content, &content) !=
          sukima_file_read_ok ||
      !sukima_cpu_set_parse(&reader->cpuset, content.begin, sukima_text_length(&content))) {
    return true;
  }
  for (uint32_t other = 0; other < cpu; other++) {
    if (sukima_cpu_set_contains(&reader->cpuset, other) &&
        sukima_cpu_set_contains(&reader->affinity, other)) {
      return false;
    }
  }
  return true;
}

uint32_t sukima_count_cores(sukima_reader* reader) {
  // Containers and recorded trees may not have this folder.
  if (!sukima_make_path(reader, "/sys/devices/system/cpu/cpu0/topology", "", "") ||
      !sukima_file_exists(reader->path)) {
    return 0;
  }
  uint32_t cores = 0;
  for (uint32_t cpu = 0; cpu < reader->affinity.used * 64; cpu++) {
    if (sukima_cpu_set_contains(&reader->affinity, cpu) && is_first_of_core(reader, cpu)) cores++;
  }
  return cores;
}

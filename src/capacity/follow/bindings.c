// SPDX-License-Identifier: Apache-2.0
// Reads the CPUs to which the neighbours are bound from their affinity masks. The kernel keeps CPUs out of
// these masks that the neighbours' cpusets forbid.
#include <string.h>

#include "cgroup/group_files.h"
#include "follow/follow.h"
#include "text/file.h"

// The index in followed->bindings of the set in followed->asked_binding.
static int index_of_asked(cap_followed* followed, const cap_reader* reader) {
  cap_cpu_set* asked = &followed->asked_binding;
  if (reader->online_is_made_up) return cap_unknown_binding;
  if (cap_cpu_set_count(&reader->online) == 0 || cap_cpu_set_is_inside(&reader->online, asked)) {
    return cap_unbound;
  }
  cap_cpu_set_intersect(asked, &reader->online);  // masks also contain offline CPUs
  if (cap_cpu_set_count(asked) == 0) return cap_unknown_binding;
  for (uint32_t i = 0; i < followed->binding_count; i++) {
    const cap_cpu_set* known = &followed->bindings[i];
    if (cap_cpu_set_is_inside(asked, known) && cap_cpu_set_is_inside(known, asked)) return (int)i;
  }
  if (followed->binding_count == cap_binding_count) return cap_unknown_binding;
  cap_cpu_set_copy(&followed->bindings[followed->binding_count], asked);
  return (int)followed->binding_count++;
}

static bool ask(cap_followed* followed, cap_reader* reader, uint32_t thread) {
  if (reader->root[0] == '\0') {
    return cap_cpu_set_ask_affinity(&followed->asked_binding, (long)thread, reader->content,
                                    (size_t)SUKIMA_CAPACITY_MAX_CPUS / 8);
  }
  cap_text content;
  return cap_make_task_path(reader, false, thread, "/status") &&
         cap_file_read(reader->path, reader->content, sizeof reader->content, &content) == cap_file_read_ok &&
         cap_cpu_set_parse_status(&followed->asked_binding, content.begin, cap_text_length(&content));
}

void cap_read_bindings(cap_followed* followed, cap_reader* reader) {
  for (int i = 0; i < followed->task_end; i++) {
    cap_task* task = &followed->tasks[i];
    if (task->number == 0 || task->own) continue;
    task->binding =
        ask(followed, reader, task->number) ? index_of_asked(followed, reader) : cap_unknown_binding;
  }
}

int cap_group_binding(cap_followed* followed, cap_reader* reader, const char* directory) {
  cap_text content;
  if (!followed->v2 || !cap_group_make_path(reader, directory, "/cpuset.cpus.effective") ||
      cap_file_read(reader->path, reader->content, sizeof reader->content, &content) != cap_file_read_ok ||
      !cap_cpu_set_parse(&followed->asked_binding, content.begin, cap_text_length(&content))) {
    return cap_unknown_binding;
  }
  return index_of_asked(followed, reader);
}

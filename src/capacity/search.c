// SPDX-License-Identifier: Apache-2.0
// Searching the process's group below a mount that was made outside of the process's cgroup namespace: how
// many levels it is below is known, but the namespace hides the names.
#include <string.h>

#include "file.h"
#include "reader.h"

bool sukima_reader_lists_process(sukima_reader* reader, uint64_t pid) {
  size_t length = strlen(reader->path);
  sukima_writer out = {reader->path, sizeof reader->path, length, false};
  sukima_write(&out, "/cgroup.procs");
  sukima_line_reader lines;
  bool found = false;
  if (pid != 0 && !out.overflow &&
      sukima_line_reader_open(&lines, reader->path, reader->content, sizeof reader->content) == 0) {
    sukima_text line;
    uint64_t number = 0;
    while (!found && sukima_line_reader_next(&lines, &line)) {
      found = sukima_text_take_number(&line, &number) && number == pid;
    }
    sukima_line_reader_close(&lines);
  }
  reader->path[length] = '\0';
  return found;
}

// Tries the directories below reader->path; leaves it as it was, or with the group that was found.
static bool descend(sukima_reader* reader, unsigned levels, uint64_t pid) {
  size_t length = strlen(reader->path);
  sukima_writer out = {reader->path, sizeof reader->path, length, false};
  if (levels == 0) {
    sukima_write(&out, reader->below);
    if (!out.overflow && sukima_reader_lists_process(reader, pid)) return true;
    reader->path[length] = '\0';
    return false;
  }
  sukima_directory_reader names;
  if (sukima_directory_open(&names, reader->path, reader->entries[levels - 1], sukima_entries_size) != 0)
    return false;
  bool found = false;
  const char* name = NULL;
  while (!found && reader->search_left != 0 && (name = sukima_directory_next(&names)) != NULL) {
    reader->search_left--;
    out = (sukima_writer){reader->path, sizeof reader->path, length, false};
    sukima_write(&out, "/");
    sukima_write(&out, name);
    found = !out.overflow && descend(reader, levels - 1, pid);
  }
  sukima_directory_close(&names);
  if (!found) reader->path[length] = '\0';
  return found;
}

bool sukima_reader_search(sukima_reader* reader, unsigned levels, uint64_t pid) {
  reader->search_left = sukima_search_size;
  return pid != 0 && levels <= sukima_search_levels && descend(reader, levels, pid);
}

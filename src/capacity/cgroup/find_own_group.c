// SPDX-License-Identifier: Apache-2.0
// Searches for the process's group below a mount that was made outside the process's cgroup namespace. The
// number of levels between them is known, but the namespace hides their names.
#include <string.h>

#include "limits/reader.h"
#include "text/file.h"

bool cap_reader_lists_process(cap_reader* reader, uint64_t pid) {
  size_t length = strlen(reader->path);
  cap_writer out = {reader->path, sizeof reader->path, length, false};
  cap_write(&out, "/cgroup.procs");
  cap_line_reader lines;
  bool found = false;
  if (pid != 0 && !out.overflow &&
      cap_line_reader_open(&lines, reader->path, reader->content, sizeof reader->content) == 0) {
    cap_text line;
    uint64_t number = 0;
    while (!found && cap_line_reader_next(&lines, &line)) {
      found = cap_text_take_number(&line, &number) && number == pid;
    }
    cap_line_reader_close(&lines);
  }
  reader->path[length] = '\0';
  return found;
}

// Tries the directories below reader->path. Leaves reader->path unchanged, or sets it to the group that it
// found.
static bool descend(cap_reader* reader, unsigned levels, uint64_t pid) {
  size_t length = strlen(reader->path);
  cap_writer out = {reader->path, sizeof reader->path, length, false};
  if (levels == 0) {
    cap_write(&out, reader->below);
    if (!out.overflow && cap_reader_lists_process(reader, pid)) return true;
    reader->path[length] = '\0';
    return false;
  }
  cap_directory_reader names;
  if (cap_directory_open(&names, reader->path, reader->entries[levels - 1], cap_entries_size) != 0)
    return false;
  bool found = false;
  const char* name = NULL;
  while (!found && reader->search_left != 0 && (name = cap_directory_next(&names)) != NULL) {
    reader->search_left--;
    out = (cap_writer){reader->path, sizeof reader->path, length, false};
    cap_write(&out, "/");
    cap_write(&out, name);
    found = !out.overflow && descend(reader, levels - 1, pid);
  }
  cap_directory_close(&names);
  if (!found) reader->path[length] = '\0';
  return found;
}

bool cap_find_own_group(cap_reader* reader, unsigned levels, uint64_t pid) {
  reader->search_left = cap_search_size;
  return pid != 0 && levels <= cap_search_levels && descend(reader, levels, pid);
}

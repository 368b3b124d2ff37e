// SPDX-License-Identifier: Apache-2.0
// Reads schedstat files; see schedstat.h.
#include "shared/schedstat.h"

#include <errno.h>

#include "text/file.h"
#include "text/text.h"

// Three numbers of at most 20 digits each.
enum { most_schedstat_bytes = 96 };

bool cap_schedstat_parse(const char* content, size_t length, cap_schedstat* result) {
  cap_text text = {content, content + length};
  uint64_t numbers[3];
  for (int i = 0; i < 3; i++) {
    cap_text_skip_blanks(&text);
    if (!cap_text_take_number(&text, &numbers[i])) return false;
  }
  cap_text_skip_blanks(&text);
  if (!cap_text_at_end(&text)) return false;
  *result = (cap_schedstat){numbers[0], numbers[1], numbers[2]};
  return true;
}

bool cap_schedstat_read_open(int descriptor, cap_schedstat* result) {
  char content[most_schedstat_bytes];
  const long length = cap_file_read_again(descriptor, content, sizeof content);
  return length > 0 && cap_schedstat_parse(content, (size_t)length, result);
}

bool cap_schedstat_read(pid_t thread, cap_schedstat* result) {
  char path[64];
  cap_writer out = cap_writer_make(path, sizeof path);
  cap_write(&out, "/proc/self/task/");
  cap_write_number(&out, (uint64_t)thread);
  cap_write(&out, "/schedstat");
  const int saved = errno;
  const int descriptor = cap_file_open(path);
  const bool known = descriptor >= 0 && cap_schedstat_read_open(descriptor, result);
  if (descriptor >= 0) cap_file_close(descriptor);
  errno = saved;
  return known;
}

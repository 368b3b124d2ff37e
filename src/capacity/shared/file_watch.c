// SPDX-License-Identifier: Apache-2.0
// Parses the times of a recording's samples; see file_watch.h. text/file.c calls the watcher.
#include "shared/file_watch.h"

#include "text/text.h"

size_t cap_parse_sample_times(const char* text, size_t length, uint64_t* times) {
  cap_text rest = {text, text + length};
  cap_text line;
  size_t count = 0;
  while (cap_text_take_until(&rest, '\n', &line)) {
    uint64_t time = 0;
    if (count == cap_most_samples || !cap_text_take_number(&line, &time) || !cap_text_at_end(&line)) return 0;
    if (time == 0 || time > INT64_MAX || (count != 0 && time <= times[count - 1])) return 0;
    times[count++] = time;
  }
  return count;
}

// SPDX-License-Identifier: Apache-2.0
// The escapes in the fields of /proc/PID/mountinfo: the kernel writes blanks, tabs, ends of lines and
// backslashes as a backslash and three octal digits, such as "\040" for a blank. Source: proc(5).
//
// Headers in shared/ are for the other parts of this project, as <capacity/shared/…>; they are not installed.
#ifndef SUKIMA_CAPACITY_SHARED_MOUNT_TEXT_H
#define SUKIMA_CAPACITY_SHARED_MOUNT_TEXT_H

#include <stddef.h>

/// Returns the next character of an escaped text, and moves `*at` behind it. \pre *at < end
static inline char cap_take_mount_character(const char** at, const char* end) {
  const char* const from = *at;
  if (end - from >= 4 && from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
      from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
    *at += 4;
    return (char)(((from[1] - '0') << 6) | ((from[2] - '0') << 3) | (from[3] - '0'));
  }
  *at += 1;
  return *from;
}

/// Replaces the escapes of a text in place. O(length). \return the new length, which is not larger
static inline size_t cap_decode_mount_text(char* text, size_t length) {
  const char* at = text;
  const char* const end = text + length;
  size_t written = 0;
  while (at < end) text[written++] = cap_take_mount_character(&at, end);
  return written;
}

#endif

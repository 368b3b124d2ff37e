// SPDX-License-Identifier: Apache-2.0
// Writes and reads SUKIMA_RUN; see settings.h. Reading does not use the C library's conversions, which depend
// on the locale.
#include "shared/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sukima/capacity.h>

enum { most_digits = 9 };

/// The numbers, in the order in which they are written.
static const struct field {
  const char* name;
  size_t offset;
  uint32_t most;
} fields[] = {
#define FIELD(name, member, most) {name, offsetof(struct preload_settings, member), most}
    FIELD("threads", threads, UINT32_MAX),
    FIELD("active", active, UINT32_MAX),
    FIELD("min", minimum, UINT32_MAX),
    FIELD("max", maximum, UINT32_MAX),
    FIELD("round", rounding, UINT32_MAX),
    FIELD("reserve", reserve_thousandths, UINT32_MAX),
    FIELD("fixed", fixed, UINT32_MAX),
    FIELD("resize", resize, preload_resize_always),
    FIELD("waiting", waiting, preload_waiting_asleep),
    FIELD("cpus", cpus, UINT32_MAX),
    FIELD("ranks", ranks, UINT32_MAX),
    FIELD("first", first, UINT32_MAX),
#undef FIELD
};
enum { field_count = sizeof fields / sizeof *fields };

size_t preload_write_settings(const struct preload_settings* settings, char* text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < field_count; ++i) {
    uint32_t value = 0;
    memcpy(&value, (const char*)settings + fields[i].offset, sizeof value);
    const size_t used = length < size ? length : size;
    length += (size_t)snprintf(text + used, size - used, "%s%s=%lu", i == 0 ? "" : " ", fields[i].name,
                               (unsigned long)value);
  }
  return length;
}

/// Takes digits at `*text`, and moves it past them. Takes at most nine digits, so that the number cannot
/// overflow.
static bool take_number(const char** text, uint32_t* number) {
  uint32_t value = 0;
  int digits = 0;
  for (; **text >= '0' && **text <= '9' && digits <= most_digits; ++*text, ++digits)
    value = value * 10 + (uint32_t)(**text - '0');
  if (digits == 0 || digits > most_digits) return false;
  *number = value;
  return true;
}

/// Takes "NAME=" at `*text`, and moves it past that.
static bool take_name(const char** text, const char* name) {
  const size_t length = strlen(name);
  if (strncmp(*text, name, length) != 0 || (*text)[length] != '=') return false;
  *text += length + 1;
  return true;
}

/// Takes one word "NAME=NUMBER".
static bool take_word(const char** text, struct preload_settings* settings) {
  for (int i = 0; i < field_count; ++i) {
    if (!take_name(text, fields[i].name)) continue;
    uint32_t number = 0;
    if (!take_number(text, &number) || number > fields[i].most) return false;
    memcpy((char*)settings + fields[i].offset, &number, sizeof number);
    return true;
  }
  return false;
}

bool preload_read_settings(const char* text, struct preload_settings* settings) {
  static const struct preload_settings nothing = {.minimum = 1};
  *settings = nothing;
  if (text == NULL) return false;
  while (*text != '\0') {
    if (take_name(&text, "log")) {
      settings->log = *text == '\0' ? NULL : text;
      break;
    }
    const bool understood = take_word(&text, settings);
    if (!understood || (*text != '\0' && *text != ' ')) {
      *settings = nothing;
      return false;
    }
    if (*text == ' ') ++text;
  }
  if (settings->minimum == 0) settings->minimum = 1;
  if (settings->rounding > SUKIMA_CAPACITY_NEAREST) settings->rounding = SUKIMA_CAPACITY_NEAREST;
  return settings->threads != 0;
}

// SPDX-License-Identifier: Apache-2.0
// Understanding SUKIMA_RUN without the C library's conversions, which depend on the locale.
#include "settings.h"

#include <stddef.h>
#include <string.h>

#include <sukima/capacity.h>

/// Takes digits at `*text`, forward to what follows them. At most nine, so that nothing overflows.
static bool take_number(const char** text, uint32_t* number) {
  uint32_t value = 0;
  int digits = 0;
  for (; **text >= '0' && **text <= '9' && digits < 10; ++*text, ++digits)
    value = value * 10 + (uint32_t)(**text - '0');
  if (digits == 0 || digits > 9) return false;
  *number = value;
  return true;
}

/// Takes "NAME=" at `*text`.
static bool take_name(const char** text, const char* name) {
  const size_t length = strlen(name);
  if (strncmp(*text, name, length) != 0 || (*text)[length] != '=') return false;
  *text += length + 1;
  return true;
}

/// Takes one word that is neither the last one nor the log.
static bool take_word(const char** text, struct preload_settings* settings) {
  uint32_t number = 0;
  uint32_t* place = NULL;
  if (take_name(text, "threads")) {
    place = &settings->threads;
  } else if (take_name(text, "team")) {
    place = &settings->team;
  } else if (take_name(text, "min")) {
    place = &settings->minimum;
  } else if (take_name(text, "max")) {
    place = &settings->maximum;
  } else if (take_name(text, "round")) {
    place = &settings->rounding;
  } else if (take_name(text, "cpus")) {
    place = &settings->cpus;
  } else if (take_name(text, "ranks")) {
    place = &settings->ranks;
  } else if (take_name(text, "first")) {
    place = &settings->first;
  } else if (take_name(text, "reserve")) {  // thousandths of a CPU
    if (!take_number(text, &number)) return false;
    settings->reserve = number / 1000.0;
    return true;
  } else if (take_name(text, "fixed")) {
    if (!take_number(text, &number)) return false;
    settings->fixed = number != 0;
    return true;
  } else if (take_name(text, "waiting")) {
    if (!take_number(text, &number) || number > preload_waiting_asleep) return false;
    settings->waiting = (enum preload_waiting)number;
    return true;
  } else if (take_name(text, "resize")) {
    if (!take_number(text, &number) || number > preload_resize_always) return false;
    settings->resize = (enum preload_resize)number;
    return true;
  } else {
    return false;
  }
  return take_number(text, place);
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

// SPDX-License-Identifier: Apache-2.0
// Parses and writes short texts without stdio, without memory management and without the locale.
#include "text/text.h"

#include <string.h>

#include "shared/assert.h"

size_t cap_text_length(const cap_text* text) {
  CAP_ASSERT(text->begin <= text->end, "a text begins before it ends");
  return (size_t)(text->end - text->begin);
}

void cap_text_skip_blanks(cap_text* text) {
  while (text->begin < text->end && memchr(" \t\r\n", *text->begin, 4) != NULL) text->begin++;
}

bool cap_text_at_end(const cap_text* text) { return text->begin == text->end; }

bool cap_text_take(cap_text* text, char character) {
  if (text->begin == text->end || *text->begin != character) return false;
  text->begin++;
  return true;
}

bool cap_text_take_prefix(cap_text* text, const char* prefix) {
  size_t length = strlen(prefix);
  if (cap_text_length(text) < length || memcmp(text->begin, prefix, length) != 0) return false;
  text->begin += length;
  return true;
}

bool cap_text_take_number(cap_text* text, uint64_t* value) {
  uint64_t result = 0;
  const char* at = text->begin;
  for (; at < text->end && *at >= '0' && *at <= '9'; at++) {
    if (__builtin_mul_overflow(result, 10, &result) ||
        __builtin_add_overflow(result, (uint64_t)(*at - '0'), &result)) {
      return false;
    }
  }
  if (at == text->begin) return false;
  text->begin = at;
  *value = result;
  return true;
}

double cap_text_take_fraction(cap_text* text, uint64_t whole) {
  static const uint64_t enough = 100000000000000;  // ten times this is still exact as a double
  uint64_t value = whole;
  double scale = 1;
  for (; text->begin < text->end && *text->begin >= '0' && *text->begin <= '9'; text->begin++) {
    if (value >= enough) continue;
    value = value * 10 + (uint64_t)(*text->begin - '0');
    scale *= 10;
  }
  return (double)value / scale;
}

bool cap_text_take_until(cap_text* text, char separator, cap_text* part) {
  if (text->begin == text->end) return false;
  const char* at = memchr(text->begin, separator, cap_text_length(text));
  part->begin = text->begin;
  part->end = at != NULL ? at : text->end;
  text->begin = at != NULL ? at + 1 : text->end;
  return true;
}

bool cap_text_equals(const cap_text* text, const char* other) {
  size_t length = strlen(other);
  return cap_text_length(text) == length && memcmp(text->begin, other, length) == 0;
}

cap_writer cap_writer_make(char* memory, size_t size) {
  CAP_ASSERT(size != 0, "a writer has room for the final zero");
  memory[0] = '\0';
  return (cap_writer){memory, size, 0, false};
}

void cap_write_bytes(cap_writer* out, const char* text, size_t length) {
  CAP_ASSERT(out->length < out->size, "a text that is written has room for its final zero");
  size_t room = out->size - 1 - out->length;
  if (length > room) {
    out->overflow = true;
    length = room;
  }
  if (length != 0) memcpy(out->memory + out->length, text, length);
  out->length += length;
  out->memory[out->length] = '\0';
}

void cap_write(cap_writer* out, const char* text) { cap_write_bytes(out, text, strlen(text)); }

void cap_write_printable(cap_writer* out, const char* text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    bool is_printable = (unsigned char)text[i] >= ' ' && text[i] != '\x7f';
    cap_write_bytes(out, is_printable ? text + i : "?", 1);
  }
}

void cap_write_number(cap_writer* out, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  cap_write_bytes(out, digits + first, sizeof digits - first);
}

void cap_write_decimal(cap_writer* out, double value) {
  if (!(value > 0)) {
    cap_write(out, "0");
    return;
  }
  if (value >= 1e15) {
    cap_write(out, "more than 1000000000000000");
    return;
  }
  uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
  if (thousandths == 0) {
    cap_write(out, "less than 0.001");
    return;
  }
  cap_write_number(out, thousandths / 1000);
  uint64_t fraction = thousandths % 1000;
  if (fraction == 0) return;
  char digits[4] = {'.', (char)('0' + fraction / 100), (char)('0' + fraction / 10 % 10),
                    (char)('0' + fraction % 10)};
  size_t length = 4;
  while (digits[length - 1] == '0') length--;
  cap_write_bytes(out, digits, length);
}

// SPDX-License-Identifier: Apache-2.0
// Reading and writing short texts without stdio, without memory management and without the locale.
#include "text.h"

#include <string.h>

size_t sukima_text_length(const sukima_text* text) { return (size_t)(text->end - text->begin); }

void sukima_text_skip_blanks(sukima_text* text) {
  while (text->begin < text->end && memchr(" \t\r\n", *text->begin, 4) != NULL) text->begin++;
}

bool sukima_text_at_end(const sukima_text* text) { return text->begin == text->end; }

bool sukima_text_take(sukima_text* text, char character) {
  if (text->begin == text->end || *text->begin != character) return false;
  text->begin++;
  return true;
}

bool sukima_text_take_prefix(sukima_text* text, const char* prefix) {
  size_t length = strlen(prefix);
  if (sukima_text_length(text) < length || memcmp(text->begin, prefix, length) != 0) return false;
  text->begin += length;
  return true;
}

bool sukima_text_take_number(sukima_text* text, uint64_t* value) {
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

bool sukima_text_take_until(sukima_text* text, char separator, sukima_text* part) {
  if (text->begin == text->end) return false;
  const char* at = memchr(text->begin, separator, sukima_text_length(text));
  part->begin = text->begin;
  part->end = at != NULL ? at : text->end;
  text->begin = at != NULL ? at + 1 : text->end;
  return true;
}

bool sukima_text_equals(const sukima_text* text, const char* other) {
  size_t length = strlen(other);
  return sukima_text_length(text) == length && memcmp(text->begin, other, length) == 0;
}

sukima_writer sukima_writer_make(char* memory, size_t size) {
  memory[0] = '\0';
  return (sukima_writer){memory, size, 0, false};
}

void sukima_write_bytes(sukima_writer* out, const char* text, size_t length) {
  size_t room = out->size - 1 - out->length;
  if (length > room) {
    out->overflow = true;
    length = room;
  }
  if (length != 0) memcpy(out->memory + out->length, text, length);
  out->length += length;
  out->memory[out->length] = '\0';
}

void sukima_write(sukima_writer* out, const char* text) { sukima_write_bytes(out, text, strlen(text)); }

void sukima_write_number(sukima_writer* out, uint64_t value) {
  char digits[20];
  size_t first = sizeof digits;
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  sukima_write_bytes(out, digits + first, sizeof digits - first);
}

void sukima_write_decimal(sukima_writer* out, double value) {
  if (!(value > 0)) {
    sukima_write(out, "0");
    return;
  }
  if (value >= 1e15) {
    sukima_write(out, "more than 1000000000000000");
    return;
  }
  uint64_t thousandths = (uint64_t)(value * 1000 + 0.5);
  if (thousandths == 0) {
    sukima_write(out, "less than 0.001");
    return;
  }
  sukima_write_number(out, thousandths / 1000);
  uint64_t fraction = thousandths % 1000;
  if (fraction == 0) return;
  char digits[4] = {'.', (char)('0' + fraction / 100), (char)('0' + fraction / 10 % 10),
                    (char)('0' + fraction % 10)};
  size_t length = 4;
  while (digits[length - 1] == '0') length--;
  sukima_write_bytes(out, digits, length);
}

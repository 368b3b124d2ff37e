// SPDX-License-Identifier: Apache-2.0
// What is in the files of the kernel that count CPU time.
#include "counters.h"

#include <string.h>

#include "parse.h"

static bool take_numbers(sukima_text* text, uint64_t* numbers, int count) {
  for (int i = 0; i < count; i++) {
    sukima_text_skip_blanks(text);
    if (!sukima_text_take_number(text, &numbers[i])) return false;
  }
  return true;
}

static bool multiply(uint64_t* value, uint64_t factor) {
  return !__builtin_mul_overflow(*value, factor, value);
}

bool sukima_parse_group_stat(sukima_text content, sukima_group_stat* result) {
  *result = (sukima_group_stat){0};
  bool known = false;
  sukima_text line;
  while (sukima_text_take_until(&content, '\n', &line)) {
    uint64_t value = 0;
    if (sukima_text_take_prefix(&line, "usage_usec ")) {
      if (!sukima_text_take_number(&line, &value) || !multiply(&value, 1000)) return false;
      result->usage_ns = value;
      result->has_usage = true;
      known = true;
    } else if (sukima_text_take_prefix(&line, "throttled_usec ")) {
      if (!sukima_text_take_number(&line, &value) || !multiply(&value, 1000)) return false;
      result->throttled_ns = value;
      known = true;
    } else if (sukima_text_take_prefix(&line, "throttled_time ")) {
      if (!sukima_text_take_number(&line, &value)) return false;
      result->throttled_ns = value;
      known = true;
    }
  }
  return known;
}

bool sukima_parse_count(sukima_text content, uint64_t* value) {
  uint64_t number = 0;
  if (!take_numbers(&content, &number, 1)) return false;
  sukima_text_skip_blanks(&content);
  if (!sukima_text_at_end(&content)) return false;
  *value = number;
  return true;
}

bool sukima_parse_machine_stat(sukima_text content, sukima_machine_stat* result) {
  enum { user, nice, system, idle, io, interrupts, soft_interrupts, stolen, field_count };
  uint64_t fields[field_count] = {0};
  sukima_text line;
  if (!sukima_text_take_until(&content, '\n', &line) || !sukima_text_take_prefix(&line, "cpu ")) return false;
  for (int i = 0; i < field_count; i++) {
    sukima_text_skip_blanks(&line);
    if (sukima_text_take_number(&line, &fields[i])) continue;
    if (i > idle && sukima_text_at_end(&line)) break;  // old kernels have fewer columns
    return false;
  }
  static const int busy_fields[] = {user, nice, system, interrupts, soft_interrupts};
  sukima_machine_stat found = {.stolen = fields[stolen]};
  for (int i = 0; i < 5; i++) {
    if (__builtin_add_overflow(found.busy, fields[busy_fields[i]], &found.busy)) return false;
  }
  if (__builtin_add_overflow(fields[idle], fields[io], &found.idle)) return false;
  *result = found;
  return true;
}

bool sukima_parse_running(sukima_text content, uint64_t* running) {
  sukima_text skipped;
  for (int i = 0; i < 3; i++) {
    if (!sukima_text_take_until(&content, ' ', &skipped)) return false;
  }
  uint64_t value = 0;
  if (!sukima_text_take_number(&content, &value) || !sukima_text_take(&content, '/')) return false;
  *running = value;
  return true;
}

bool sukima_parse_pressure(sukima_text content, uint64_t* some_us) {
  sukima_text line;
  sukima_text word;
  if (!sukima_text_take_prefix(&content, "some ") || !sukima_text_take_until(&content, '\n', &line)) {
    return false;
  }
  while (sukima_text_take_until(&line, ' ', &word)) {
    if (sukima_text_take_prefix(&word, "total=")) return sukima_text_take_number(&word, some_us);
  }
  return false;
}

static bool take_signed(sukima_text* text, int* value) {
  bool negative = sukima_text_take(text, '-');
  uint64_t number = 0;
  if (!sukima_text_take_number(text, &number) || number > 1000) return false;
  *value = negative ? -(int)number : (int)number;
  return true;
}

bool sukima_parse_autogroup(sukima_text content, uint64_t* number, int* nice) {
  uint64_t found = 0;
  int value = 0;
  if (!sukima_text_take_prefix(&content, "/autogroup-") || !sukima_text_take_number(&content, &found) ||
      !sukima_text_take_prefix(&content, " nice ") || !take_signed(&content, &value)) {
    return false;
  }
  *number = found;
  *nice = value;
  return true;
}

bool sukima_parse_task_stat(sukima_text content, sukima_task_stat* result) {
  enum { state_field = 3, nice_field = 19 };
  uint64_t pid = 0;
  uint64_t policy = 0;
  if (!sukima_parse_stat(content, &pid, &policy)) return false;
  // The second field is the program's name in parentheses, which may itself hold blanks and parentheses.
  const char* name_end = content.end;
  while (name_end > content.begin && name_end[-1] != ')') name_end--;
  content.begin = name_end;
  sukima_text_take(&content, ' ');
  sukima_text field;
  sukima_task_stat found = {.policy = policy};
  for (int number = state_field; number <= nice_field; number++) {
    if (!sukima_text_take_until(&content, ' ', &field)) return false;
    if (number == state_field) found.state = field.begin < field.end ? *field.begin : '?';
  }
  if (!take_signed(&field, &found.nice) || found.nice < -20 || found.nice > 19) return false;
  *result = found;
  return true;
}

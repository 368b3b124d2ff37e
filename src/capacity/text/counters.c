// SPDX-License-Identifier: Apache-2.0
// Parses the kernel's files that count CPU time; see counters.h.
#include "text/counters.h"

#include <string.h>

static bool take_numbers(cap_text* text, uint64_t* numbers, int count) {
  for (int i = 0; i < count; i++) {
    cap_text_skip_blanks(text);
    if (!cap_text_take_number(text, &numbers[i])) return false;
  }
  return true;
}

static bool multiply(uint64_t* value, uint64_t factor) {
  return !__builtin_mul_overflow(*value, factor, value);
}

bool cap_parse_group_stat(cap_text content, cap_group_stat* result) {
  *result = (cap_group_stat){0};
  bool known = false;
  bool has_user = false;
  bool has_system = false;
  uint64_t user_us = 0;
  uint64_t system_us = 0;
  cap_text line;
  while (cap_text_take_until(&content, '\n', &line)) {
    uint64_t value = 0;
    if (cap_text_take_prefix(&line, "usage_usec ")) {
      if (!cap_text_take_number(&line, &value) || !multiply(&value, 1000)) return false;
      result->usage_ns = value;
      result->has_usage = true;
      known = true;
    } else if (cap_text_take_prefix(&line, "user_usec ")) {
      has_user = cap_text_take_number(&line, &user_us);
    } else if (cap_text_take_prefix(&line, "system_usec ")) {
      has_system = cap_text_take_number(&line, &system_us);
    } else if (cap_text_take_prefix(&line, "throttled_usec ")) {
      if (!cap_text_take_number(&line, &value) || !multiply(&value, 1000)) return false;
      result->throttled_ns = value;
      known = true;
    } else if (cap_text_take_prefix(&line, "throttled_time ")) {
      if (!cap_text_take_number(&line, &value)) return false;
      result->throttled_ns = value;
      known = true;
    } else if (cap_text_take_prefix(&line, "nr_periods ")) {
      if (!cap_text_take_number(&line, &result->periods)) return false;
      known = true;
    } else if (cap_text_take_prefix(&line, "nr_throttled ")) {
      if (!cap_text_take_number(&line, &result->throttled_periods)) return false;
      known = true;
    }
  }
  // Linux 5.8 to 6.13 also counts steal time for the root group, and some of these versions count guests
  // twice.
  uint64_t sum = 0;
  if (has_user && has_system && !__builtin_add_overflow(user_us, system_us, &sum) && multiply(&sum, 1000) &&
      sum != 0 && sum < result->usage_ns) {
    result->usage_ns = sum;
  }
  return known;
}

bool cap_parse_count(cap_text content, uint64_t* value) {
  uint64_t number = 0;
  if (!take_numbers(&content, &number, 1)) return false;
  cap_text_skip_blanks(&content);
  if (!cap_text_at_end(&content)) return false;
  *value = number;
  return true;
}

bool cap_parse_machine_stat(cap_text content, cap_machine_stat* result) {
  enum { user, nice, system, idle, io, interrupts, soft_interrupts, stolen, field_count };
  uint64_t fields[field_count] = {0};
  cap_text line;
  if (!cap_text_take_until(&content, '\n', &line) || !cap_text_take_prefix(&line, "cpu ")) return false;
  for (int i = 0; i < field_count; i++) {
    cap_text_skip_blanks(&line);
    if (cap_text_take_number(&line, &fields[i])) continue;
    if (i > idle && cap_text_at_end(&line)) break;  // old kernels have fewer columns
    return false;
  }
  static const int busy_fields[] = {user, nice, system, interrupts, soft_interrupts};
  cap_machine_stat found = {.stolen = fields[stolen]};
  for (int i = 0; i < 5; i++) {
    if (__builtin_add_overflow(found.busy, fields[busy_fields[i]], &found.busy)) return false;
  }
  if (__builtin_add_overflow(fields[idle], fields[io], &found.idle)) return false;
  *result = found;
  return true;
}

bool cap_parse_running(cap_text content, uint64_t* running) {
  cap_text skipped;
  for (int i = 0; i < 3; i++) {
    if (!cap_text_take_until(&content, ' ', &skipped)) return false;
  }
  uint64_t value = 0;
  if (!cap_text_take_number(&content, &value) || !cap_text_take(&content, '/')) return false;
  *running = value;
  return true;
}

bool cap_parse_pressure(cap_text content, uint64_t* some_us) {
  cap_text line;
  cap_text word;
  if (!cap_text_take_prefix(&content, "some ") || !cap_text_take_until(&content, '\n', &line)) {
    return false;
  }
  while (cap_text_take_until(&line, ' ', &word)) {
    if (cap_text_take_prefix(&word, "total=")) return cap_text_take_number(&word, some_us);
  }
  return false;
}

static bool take_signed(cap_text* text, int* value) {
  bool negative = cap_text_take(text, '-');
  uint64_t number = 0;
  if (!cap_text_take_number(text, &number) || number > 1000) return false;
  *value = negative ? -(int)number : (int)number;
  return true;
}

bool cap_parse_autogroup(cap_text content, uint64_t* number, int* nice) {
  uint64_t found = 0;
  int value = 0;
  if (!cap_text_take_prefix(&content, "/autogroup-") || !cap_text_take_number(&content, &found) ||
      !cap_text_take_prefix(&content, " nice ") || !take_signed(&content, &value)) {
    return false;
  }
  *number = found;
  *nice = value;
  return true;
}

bool cap_parse_stat(cap_text content, uint64_t* pid, uint64_t* policy) {
  cap_text field;
  if (!cap_text_take_number(&content, pid)) return false;
  // The second field is the program's name in parentheses. It may itself contain blanks and parentheses.
  const char* name_end = content.end;
  while (name_end > content.begin && name_end[-1] != ')') name_end--;
  if (name_end == content.begin) return false;
  content.begin = name_end;
  if (!cap_text_take(&content, ' ')) return false;
  for (int number = 3; number <= 41; number++) {
    if (!cap_text_take_until(&content, ' ', &field)) return false;
  }
  return cap_text_take_number(&field, policy);
}

bool cap_parse_task_stat(cap_text content, cap_task_stat* result) {
  enum { state_field = 3, nice_field = 19 };
  uint64_t pid = 0;
  uint64_t policy = 0;
  if (!cap_parse_stat(content, &pid, &policy)) return false;
  // The second field is the program's name in parentheses. It may itself contain blanks and parentheses.
  const char* name_end = content.end;
  while (name_end > content.begin && name_end[-1] != ')') name_end--;
  cap_task_stat found = {.policy = policy};
  cap_writer name = cap_writer_make(found.name, sizeof found.name);
  const char* name_begin = memchr(content.begin, '(', cap_text_length(&content));
  if (name_begin != NULL && name_begin + 1 < name_end) {
    cap_write_bytes(&name, name_begin + 1, (size_t)(name_end - name_begin) - 2);
  }
  content.begin = name_end;
  cap_text_take(&content, ' ');
  cap_text field;
  for (int number = state_field; number <= nice_field; number++) {
    if (!cap_text_take_until(&content, ' ', &field)) return false;
    if (number == state_field) found.state = field.begin < field.end ? *field.begin : '?';
  }
  if (!take_signed(&field, &found.nice) || found.nice < -20 || found.nice > 19) return false;
  *result = found;
  return true;
}

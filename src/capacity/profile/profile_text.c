// SPDX-License-Identifier: Apache-2.0
// Parses the text of a machine profile.
#include <stdlib.h>
#include <string.h>

#include "profile/profile_text.h"
#include "shared/assert.h"

static const char first_line[] = "sukima-profile 1";

// Parses a number with at most three decimals, as cap_write_decimal() writes it.
static bool take_decimal(cap_text* line, double* value) {
  uint64_t whole = 0;
  cap_text_skip_blanks(line);
  if (!cap_text_take_number(line, &whole) || whole > 1000000000000000) return false;
  double result = (double)whole;
  if (cap_text_take(line, '.')) {
    const char* begin = line->begin;
    result = cap_text_take_fraction(line, whole);
    if (line->begin == begin) return false;
  }
  *value = result;
  return true;
}

static bool take_cpu(cap_text* line, uint32_t* value) {
  uint64_t number = 0;
  cap_text_skip_blanks(line);
  if (!cap_text_take_number(line, &number) || number >= SUKIMA_CAPACITY_MAX_CPUS) return false;
  *value = (uint32_t)number;
  return true;
}

static bool ends(cap_text* line) {
  cap_text_skip_blanks(line);
  return cap_text_at_end(line);
}

static bool take_hexadecimal(cap_text* line, uint64_t* value) {
  uint64_t result = 0;
  int digits = 0;
  cap_text_skip_blanks(line);
  for (; !cap_text_at_end(line) && digits < 16; line->begin++, digits++) {
    const char* known = "0123456789abcdef";
    const char* at = memchr(known, *line->begin, 16);
    if (at == NULL) break;
    result = result << 4 | (uint64_t)(at - known);
  }
  *value = result;
  return digits == 16;
}

// Tables with room for one entry per line of the text.
typedef struct tables {
  sukima_capacity_profile* profile;
  uint32_t* cpus;
  sukima_capacity_pair* pairs;
  sukima_capacity_latency* latencies;
} tables;

static bool take_pair(cap_text* line, tables* into) {
  sukima_capacity_pair pair;
  if (!take_cpu(line, &pair.first) || !take_cpu(line, &pair.second) || pair.first >= pair.second)
    return false;
  if (!take_decimal(line, &pair.slowdown) || pair.slowdown > 1 || !take_decimal(line, &pair.handover_ns)) {
    return false;
  }
  into->pairs[into->profile->pair_count++] = pair;
  return true;
}

static bool take_latency(cap_text* line, tables* into) {
  sukima_capacity_latency latency;
  if (!take_cpu(line, &latency.cpu_node) || !take_cpu(line, &latency.memory_node) ||
      !take_decimal(line, &latency.ns)) {
    return false;
  }
  into->latencies[into->profile->latency_count++] = latency;
  return true;
}

static bool take_measured_cpu(cap_text* line, tables* into) {
  uint32_t cpu = 0;
  size_t count = into->profile->cpu_count;
  if (!take_cpu(line, &cpu) || (count != 0 && into->cpus[count - 1] >= cpu)) return false;
  into->cpus[into->profile->cpu_count++] = cpu;
  return true;
}

static bool take_line(cap_text line, tables* into) {
  sukima_capacity_profile* profile = into->profile;
  CAP_ASSERT((char*)(void*)(into->pairs + profile->pair_count) <= (char*)(void*)into->latencies,
             "the pairs of a profile end before its latencies");
  bool good = false;
  if (cap_text_take_prefix(&line, "machine ")) {
    good = take_hexadecimal(&line, &profile->machine);
  } else if (cap_text_take_prefix(&line, "written ")) {
    good = cap_text_take_number(&line, &profile->written);
  } else if (cap_text_take_prefix(&line, "valid ")) {
    good = take_decimal(&line, &profile->valid_seconds) && profile->valid_seconds > 0;
  } else if (cap_text_take_prefix(&line, "switch ")) {
    good = take_decimal(&line, &profile->switch_ns);
  } else if (cap_text_take_prefix(&line, "wake ")) {
    good = take_decimal(&line, &profile->wake_ns);
  } else if (cap_text_take_prefix(&line, "cpu ")) {
    good = take_measured_cpu(&line, into);
  } else if (cap_text_take_prefix(&line, "pair ")) {
    good = take_pair(&line, into);
  } else if (cap_text_take_prefix(&line, "latency ")) {
    good = take_latency(&line, into);
  } else {
    return true;  // a line of a later version, or an empty line
  }
  return good && ends(&line);
}

bool cap_profile_line_is_foreign(cap_text line) {
  static const char* const ours[] = {first_line, "machine ", "written ", "valid ",  "switch ",
                                     "wake ",    "cpu ",     "pair ",    "latency "};
  for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
    if (cap_text_take_prefix(&line, ours[i])) return false;
  }
  return !cap_text_at_end(&line);
}

static size_t count_lines(cap_text content) {
  size_t lines = 1;
  for (const char* at = content.begin; at < content.end; at++) lines += *at == '\n';
  return lines;
}

static void fail_with_advice(char* error, size_t error_size, uint64_t number, const char* problem,
                             const char* advice) {
  if (error == NULL || error_size == 0) return;
  cap_writer out = cap_writer_make(error, error_size);
  cap_write(&out, "line ");
  cap_write_number(&out, number);
  cap_write(&out, ": ");
  cap_write(&out, problem);
  cap_write(&out, advice);
}

static void fail(char* error, size_t error_size, uint64_t number, const char* problem) {
  fail_with_advice(error, error_size, number, problem, "; run 'sukima calibrate' to measure again");
}

sukima_capacity_profile* cap_parse_profile(cap_text content, char* error, size_t error_size) {
  size_t lines = count_lines(content);
  cap_text line;
  if (!cap_text_take_until(&content, '\n', &line) || !cap_text_equals(&line, first_line)) {
    fail_with_advice(error, error_size, 1,
                     "this line is not 'sukima-profile 1', so the file is not a profile",
                     "; choose another file, or remove it and run 'sukima calibrate'");
    return NULL;
  }
  if (lines > 3 * (size_t)SUKIMA_CAPACITY_PROFILE_MOST) {
    fail(error, error_size, lines, "the file has too many lines");
    return NULL;
  }
  size_t pairs_at = sizeof(sukima_capacity_profile);
  size_t latencies_at = pairs_at + lines * sizeof(sukima_capacity_pair);
  size_t cpus_at = latencies_at + lines * sizeof(sukima_capacity_latency);
  char* memory = malloc(cpus_at + lines * sizeof(uint32_t));
  if (memory == NULL) {
    fail(error, error_size, 1, "there is not enough memory to read the file");
    return NULL;
  }
  tables into = {(sukima_capacity_profile*)(void*)memory, (uint32_t*)(void*)(memory + cpus_at),
                 (sukima_capacity_pair*)(void*)(memory + pairs_at),
                 (sukima_capacity_latency*)(void*)(memory + latencies_at)};
  *into.profile =
      (sukima_capacity_profile){.cpus = into.cpus, .pairs = into.pairs, .latencies = into.latencies};
  bool ended = false;
  uint64_t number = 1;
  while (!ended && cap_text_take_until(&content, '\n', &line)) {
    number++;
    ended = cap_text_equals(&line, "end");
    if (ended || take_line(line, &into)) continue;
    fail(error, error_size, number, "the line is malformed");
    free(memory);
    return NULL;
  }
  if (!ended || !(into.profile->valid_seconds > 0)) {
    fail(error, error_size, number, ended ? "the line 'valid' is missing" : "the line 'end' is missing");
    free(memory);
    return NULL;
  }
  return into.profile;
}

// SPDX-License-Identifier: Apache-2.0
// A set of CPU numbers: counts, intersects, and parses the kernel's list format.
#define _GNU_SOURCE
#include "text/cpu_set.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shared/assert.h"
#include "text/text.h"

void cap_cpu_set_clear(cap_cpu_set* set) { set->used = 0; }

void cap_cpu_set_add_range(cap_cpu_set* set, uint32_t first, uint32_t last) {
  if (last >= SUKIMA_CAPACITY_MAX_CPUS) last = SUKIMA_CAPACITY_MAX_CPUS - 1;
  if (first > last) return;
  while (set->used <= last / 64) set->words[set->used++] = 0;
  for (uint32_t word = first / 64; word <= last / 64; word++) {
    uint64_t bits = UINT64_MAX;
    if (word == first / 64) bits &= UINT64_MAX << (first % 64);
    if (word == last / 64) bits &= UINT64_MAX >> (63 - last % 64);
    set->words[word] |= bits;
  }
  CAP_ASSERT(set->used <= cap_cpu_set_words, "a set has room for its CPUs");
}

void cap_cpu_set_copy(cap_cpu_set* set, const cap_cpu_set* other) {
  set->used = other->used;
  memcpy(set->words, other->words, other->used * sizeof other->words[0]);
}

bool cap_cpu_set_contains(const cap_cpu_set* set, uint32_t cpu) {
  return cpu / 64 < set->used && (set->words[cpu / 64] >> (cpu % 64) & 1) != 0;
}

uint32_t cap_cpu_set_count(const cap_cpu_set* set) { return cap_cpu_set_count_both(set, set); }

uint32_t cap_cpu_set_count_both(const cap_cpu_set* a, const cap_cpu_set* b) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < a->used && i < b->used; i++) {
    count += (uint32_t)__builtin_popcountll(a->words[i] & b->words[i]);
  }
  return count;
}

bool cap_cpu_set_is_inside(const cap_cpu_set* set, const cap_cpu_set* other) {
  for (uint32_t i = 0; i < set->used; i++) {
    uint64_t others = i < other->used ? other->words[i] : 0;
    if ((set->words[i] & ~others) != 0) return false;
  }
  return true;
}

void cap_cpu_set_unite(cap_cpu_set* set, const cap_cpu_set* other) {
  while (set->used < other->used) set->words[set->used++] = 0;
  for (uint32_t i = 0; i < other->used; i++) set->words[i] |= other->words[i];
}

void cap_cpu_set_intersect(cap_cpu_set* set, const cap_cpu_set* other) {
  if (set->used > other->used) set->used = other->used;
  for (uint32_t i = 0; i < set->used; i++) set->words[i] &= other->words[i];
  CAP_ASSERT(cap_cpu_set_is_inside(set, other), "an intersection has only CPUs of both sets");
}

// Adds the first `used` of every `group` CPUs in the range: the kernel's "first-last:used/group".
static bool add_strided(cap_cpu_set* set, uint64_t first, uint64_t last, uint64_t used, uint64_t group) {
  if (used == 0 || group == 0 || used > group) return false;
  if (last >= SUKIMA_CAPACITY_MAX_CPUS) last = SUKIMA_CAPACITY_MAX_CPUS - 1;
  for (uint64_t start = first; start <= last; start += group) {
    uint64_t end = used - 1 > last - start ? last : start + used - 1;
    cap_cpu_set_add_range(set, (uint32_t)start, (uint32_t)end);
    if (group > last - start) break;
  }
  return true;
}

bool cap_cpu_set_parse(cap_cpu_set* set, const char* text, size_t length) {
  cap_text rest = {text, text + length};
  cap_cpu_set_clear(set);
  cap_text_skip_blanks(&rest);
  if (cap_text_at_end(&rest)) return true;
  do {
    uint64_t first = 0;
    uint64_t used = 1;
    uint64_t group = 1;
    if (!cap_text_take_number(&rest, &first)) return false;
    uint64_t last = first;
    if (cap_text_take(&rest, '-') && (!cap_text_take_number(&rest, &last) || last < first)) return false;
    if (cap_text_take(&rest, ':') && (!cap_text_take_number(&rest, &used) || !cap_text_take(&rest, '/') ||
                                      !cap_text_take_number(&rest, &group))) {
      return false;
    }
    if (!add_strided(set, first, last, used, group)) return false;
  } while (cap_text_take(&rest, ','));
  cap_text_skip_blanks(&rest);
  return cap_text_at_end(&rest);
}

// The bytes that the kernel wrote have one bit per CPU, in machine words.
bool cap_cpu_set_ask_affinity(cap_cpu_set* set, long thread, void* memory, size_t size) {
  enum { word_bits = 8 * sizeof(unsigned long) };
  unsigned long* mask = memory;
  long bytes = syscall(SYS_sched_getaffinity, thread, size, mask);
  if (bytes <= 0) return false;
  cap_cpu_set_clear(set);
  for (uint32_t cpu = 0; cpu < (uint32_t)bytes * 8; cpu++) {
    if ((mask[cpu / word_bits] >> (cpu % word_bits) & 1) != 0) cap_cpu_set_add_range(set, cpu, cpu);
  }
  return true;
}

bool cap_cpu_set_parse_status(cap_cpu_set* set, const char* text, size_t length) {
  cap_text content = {text, text + length};
  cap_text line;
  while (cap_text_take_until(&content, '\n', &line)) {
    if (!cap_text_take_prefix(&line, "Cpus_allowed_list:")) continue;
    return cap_cpu_set_parse(set, line.begin, cap_text_length(&line));
  }
  return false;
}

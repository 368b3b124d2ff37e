// SPDX-License-Identifier: Apache-2.0
// A set of CPU numbers, large enough for every Linux machine, without memory management.
#ifndef SUKIMA_CAPACITY_TEXT_CPU_SET_H
#define SUKIMA_CAPACITY_TEXT_CPU_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sukima/capacity.h>

enum { cap_cpu_set_words = SUKIMA_CAPACITY_MAX_CPUS / 64 };

/// Operations access only the words in use, so machines with few CPUs do not pay for the maximum size.
typedef struct cap_cpu_set {
  uint32_t used;  ///< words in use; the other words are undefined
  uint64_t words[cap_cpu_set_words];
} cap_cpu_set;

void cap_cpu_set_clear(cap_cpu_set* set);
void cap_cpu_set_add_range(cap_cpu_set* set, uint32_t first, uint32_t last);
void cap_cpu_set_copy(cap_cpu_set* set, const cap_cpu_set* other);
bool cap_cpu_set_contains(const cap_cpu_set* set, uint32_t cpu);
uint32_t cap_cpu_set_count(const cap_cpu_set* set);
uint32_t cap_cpu_set_count_both(const cap_cpu_set* a, const cap_cpu_set* b);

/// Whether each CPU of `set` is also in `other`.
bool cap_cpu_set_is_inside(const cap_cpu_set* set, const cap_cpu_set* other);

/// Adds the CPUs of `other`.
void cap_cpu_set_unite(cap_cpu_set* set, const cap_cpu_set* other);

/// Removes from `set` the CPUs that are not in `other`.
void cap_cpu_set_intersect(cap_cpu_set* set, const cap_cpu_set* other);

/// Parses the kernel's list format, "0-3,8,10-15" or "0-30:2/4" (2 of every 4), to the end of the text or
/// line.
/// \return false if it is malformed; the set is then in an unspecified state. An empty text is an empty set.
bool cap_cpu_set_parse(cap_cpu_set* set, const char* text, size_t length);

/// Queries a thread's affinity mask from the kernel; 0 is the calling thread. A mask never contains CPUs that
/// the thread's cpuset forbids. \pre `memory` is aligned for machine words
/// \return false if the kernel returns no mask
bool cap_cpu_set_ask_affinity(cap_cpu_set* set, long thread, void* memory, size_t size);

/// Parses the line Cpus_allowed_list of /proc/PID/status.
/// \return false if the line is missing or malformed
bool cap_cpu_set_parse_status(cap_cpu_set* set, const char* text, size_t length);

#endif

// SPDX-License-Identifier: Apache-2.0
// One function for each format: takes any bytes, and ends the program if the parser breaks its promise.
#ifndef SUKIMA_CAPACITY_FUZZ_TARGETS_H
#define SUKIMA_CAPACITY_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void fuzz_cpu_max(const uint8_t* data, size_t size);
void fuzz_cfs_quota(const uint8_t* data, size_t size);
void fuzz_cpu_list(const uint8_t* data, size_t size);
void fuzz_status(const uint8_t* data, size_t size);
void fuzz_cgroup_line(const uint8_t* data, size_t size);
void fuzz_mount_line(const uint8_t* data, size_t size);
void fuzz_relate(const uint8_t* data, size_t size);
void fuzz_stat(const uint8_t* data, size_t size);
void fuzz_cpus(const uint8_t* data, size_t size);
void fuzz_counters(const uint8_t* data, size_t size);
void fuzz_host(const uint8_t* data, size_t size);
void fuzz_times(const uint8_t* data, size_t size);
void fuzz_profile(const uint8_t* data, size_t size);
void fuzz_lines(const uint8_t* data, size_t size);
void fuzz_places(const uint8_t* data, size_t size);
void fuzz_tree(const uint8_t* data, size_t size);

#ifdef __cplusplus
}
#endif

#endif

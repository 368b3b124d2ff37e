// SPDX-License-Identifier: Apache-2.0
// The machine profile: what was measured once about this machine's CPUs, in a file that every part reads.
#ifndef SUKIMA_CAPACITY_PROFILE_H
#define SUKIMA_CAPACITY_PROFILE_H

/// \file
/// Which CPUs slow each other down, what a hand-over between them costs, and how long a wake-up takes:
/// virtual machines hide it. `sukima calibrate` measures it and writes one file, which all parts read.
/// docs/capacity.md has the format. These functions use `malloc`; otherwise they behave as those of
/// <sukima/capacity.h>.

#include <sukima/capacity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_capacity
/// @{

/// A profile has at most so many CPUs, pairs and entries of latency each.
#define SUKIMA_CAPACITY_PROFILE_MOST 524288

/// Two CPUs.
typedef struct sukima_capacity_pair {
  uint32_t first;  ///< number of a CPU
  uint32_t second;  ///< number of another one, larger than the first
  double slowdown;  ///< part of its speed that each loses while both compute: 0 to 1
  double handover_ns;  ///< until a running CPU sees a value that another running CPU has written
} sukima_capacity_pair;

/// The CPUs of one memory node reading memory of another one, or of the same.
typedef struct sukima_capacity_latency {
  uint32_t cpu_node;  ///< number of the node of the CPU
  uint32_t memory_node;  ///< number of the node of the memory
  double ns;  ///< time of a read that no cache has
} sukima_capacity_latency;

/// The measurements.
typedef struct sukima_capacity_profile {
  uint64_t machine;  ///< of sukima_capacity_machine() when it was measured
  uint64_t written;  ///< seconds since 1970
  double valid_seconds;  ///< this long after `written` it must be measured again
  double switch_ns;  ///< from one thread to another on the same CPU, the first going to sleep; 0: unknown
  double wake_ns;  ///< waking a sleeping thread on another CPU until it runs; 0: unknown
  const uint32_t* cpus;  ///< the CPUs that were measured, in ascending order
  size_t cpu_count;
  const sukima_capacity_pair* pairs;
  size_t pair_count;
  const sukima_capacity_latency* latencies;
  size_t latency_count;
} sukima_capacity_profile;

/// Why a profile is not to be relied on.
typedef enum sukima_capacity_profile_state {
  SUKIMA_CAPACITY_PROFILE_VALID,
  SUKIMA_CAPACITY_PROFILE_OLD,  ///< measured longer ago than it is valid
  SUKIMA_CAPACITY_PROFILE_OTHER_MACHINE  ///< other CPUs, another kernel or another hypervisor than now
} sukima_capacity_profile_state;

/// A number for this machine: made of the CPUs' model, the CPUs that are switched on, and the kernel's
/// release.
/// \param root as in sukima_capacity_options; NULL is the running machine
SUKIMA_CAPACITY_API uint64_t sukima_capacity_machine(const char* root);

/// The path of this user's profile: `SUKIMA_PROFILE`, else sukima/profile in `XDG_CACHE_HOME`, else
/// .cache/sukima/profile in `HOME`, else /var/cache/sukima/profile.
/// \param path gets the path, cut off if it does not fit
/// \param size of the memory for it
/// \return its whole length, as snprintf()
SUKIMA_CAPACITY_API size_t sukima_capacity_profile_path(char* path, size_t size);

/// Reads a profile.
/// \param path  NULL is the path of sukima_capacity_profile_path()
/// \param error gets a sentence if NULL is returned; may be NULL
/// \param error_size of the memory for it
/// \return to be given to sukima_capacity_profile_free(); NULL if there is none, or none that is well formed
SUKIMA_CAPACITY_API sukima_capacity_profile* sukima_capacity_profile_read(const char* path, char* error,
                                                                          size_t error_size);

/// Whether a profile holds for this machine now.
SUKIMA_CAPACITY_API sukima_capacity_profile_state
sukima_capacity_profile_check(const sukima_capacity_profile* profile);

/// Frees a profile that was read, or NULL.
SUKIMA_CAPACITY_API void sukima_capacity_profile_free(sukima_capacity_profile* profile);

/// Writes a profile as a whole: a reader sees the old file or the new one. Makes the folder if it is missing.
/// Lines that others have added to the file stay if it is of the same machine and not old.
/// \param path    NULL is the path of sukima_capacity_profile_path()
/// \param profile what was measured
/// \return 0, or an error number: EINVAL if a number in it cannot be read again
SUKIMA_CAPACITY_API int sukima_capacity_profile_write(const char* path,
                                                      const sukima_capacity_profile* profile);

/// The entry of two different CPUs; NULL if they were not measured.
/// \par Complexity linear in the number of pairs
SUKIMA_CAPACITY_API const sukima_capacity_pair* sukima_capacity_profile_pair(
    const sukima_capacity_profile* profile, uint32_t one, uint32_t other);

/// @}

#ifdef __cplusplus
}
#endif

#endif

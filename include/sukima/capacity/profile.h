// SPDX-License-Identifier: Apache-2.0
// The machine profile: measurements of this machine's CPUs, made once, in a file that every part reads.
#ifndef SUKIMA_CAPACITY_PROFILE_H
#define SUKIMA_CAPACITY_PROFILE_H

/// \file
/// Virtual machines hide which CPUs slow each other down, what a hand-over between them costs, and how long a
/// wake-up takes. `sukima calibrate` measures these facts and writes one file, which all parts read.
/// docs/capacity-reference.md has the format. These functions use `malloc`; otherwise they behave as those of
/// <sukima/capacity.h>.

#include <sukima/capacity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_capacity
/// @{

/// The largest number of CPUs, of pairs and of latencies in a profile.
#define SUKIMA_CAPACITY_PROFILE_MOST 524288

/// What was measured about two CPUs.
typedef struct sukima_capacity_pair {
  uint32_t first;  ///< number of a CPU
  uint32_t second;  ///< number of another CPU, larger than the first
  double slowdown;  ///< part of its speed that each loses while both compute: 0 to 1
  double handover_ns;  ///< until a running CPU sees a value that another running CPU has written
} sukima_capacity_pair;

/// How fast the CPUs of one memory node read memory of another node, or of the same.
typedef struct sukima_capacity_latency {
  uint32_t cpu_node;  ///< number of the node of the CPU
  uint32_t memory_node;  ///< number of the node of the memory
  double ns;  ///< time of a read that misses all caches
} sukima_capacity_latency;

/// The measurements.
typedef struct sukima_capacity_profile {
  uint64_t machine;  ///< sukima_capacity_machine() at the time of the measurements
  uint64_t written;  ///< time of the measurements, in seconds since 1970
  double valid_seconds;  ///< how long after `written` the profile is valid
  double switch_ns;  ///< time of a switch from a thread that goes to sleep to another on its CPU; 0: unknown
  double wake_ns;  ///< time from waking a thread on another CPU until it runs; 0: unknown
  const uint32_t* cpus;  ///< the CPUs that were measured, in ascending order
  size_t cpu_count;  ///< number of these CPUs
  const sukima_capacity_pair* pairs;  ///< the pairs of CPUs that were measured
  size_t pair_count;  ///< number of these pairs
  const sukima_capacity_latency* latencies;  ///< the pairs of memory nodes that were measured
  size_t latency_count;  ///< number of these pairs
} sukima_capacity_profile;

/// Whether a profile is valid, and why not.
typedef enum sukima_capacity_profile_state {
  SUKIMA_CAPACITY_PROFILE_VALID,  ///< valid
  SUKIMA_CAPACITY_PROFILE_OLD,  ///< older than `valid_seconds`
  SUKIMA_CAPACITY_PROFILE_OTHER_MACHINE  ///< sukima_capacity_machine() was another number then
} sukima_capacity_profile_state;

/// Returns a number that identifies this machine: a hash of the CPUs' model, the CPUs that are online, and
/// the kernel's release. The host of a virtual machine is not part of it. So after a virtual machine has
/// moved to another host, or after its vCPUs were bound to other CPUs, `sukima calibrate` must be run again.
/// \param root as in sukima_capacity_options; NULL is the running machine
SUKIMA_CAPACITY_API uint64_t sukima_capacity_machine(const char* root);

/// Writes the path of this user's profile: `SUKIMA_PROFILE`, else sukima/profile in `XDG_CACHE_HOME`, else
/// .cache/sukima/profile in `HOME`, else /var/cache/sukima/profile.
/// \param path gets the path, cut off if it does not fit
/// \param size of the memory for it
/// \return its whole length, as snprintf()
SUKIMA_CAPACITY_API size_t sukima_capacity_profile_path(char* path, size_t size);

/// Reads a profile.
/// \param path  NULL is the path of sukima_capacity_profile_path()
/// \param error gets a sentence if NULL is returned; may be NULL
/// \param error_size of the memory for it
/// \return the profile, to be passed to sukima_capacity_profile_free(); NULL if the file is missing or
///         malformed, or there is no memory
SUKIMA_CAPACITY_API sukima_capacity_profile* sukima_capacity_profile_read(const char* path, char* error,
                                                                          size_t error_size);

/// Checks whether a profile is valid for this machine now.
/// \param profile a profile that was read
SUKIMA_CAPACITY_API sukima_capacity_profile_state
sukima_capacity_profile_check(const sukima_capacity_profile* profile);

/// Frees a profile that was read, or NULL.
SUKIMA_CAPACITY_API void sukima_capacity_profile_free(sukima_capacity_profile* profile);

/// Writes a profile atomically: a reader sees the old file or the new one. Makes the folder if it is missing.
/// Lines that others have added to the file stay if the old profile is of the same machine and still valid.
/// \param path    NULL is the path of sukima_capacity_profile_path()
/// \param profile what was measured
/// \return 0, or an error number: EINVAL if a number of the profile is not one that a profile may have
SUKIMA_CAPACITY_API int sukima_capacity_profile_write(const char* path,
                                                      const sukima_capacity_profile* profile);

/// Returns the entry of two different CPUs, in any order; NULL if they were not measured.
/// \par Complexity linear in the number of pairs
SUKIMA_CAPACITY_API const sukima_capacity_pair* sukima_capacity_profile_pair(
    const sukima_capacity_profile* profile, uint32_t one, uint32_t other);

/// @}

#ifdef __cplusplus
}
#endif

#endif

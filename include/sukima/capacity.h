// SPDX-License-Identifier: Apache-2.0
// The number of CPUs that this process may use, with reasons: the plain C interface of sukima::capacity.
#ifndef SUKIMA_CAPACITY_H
#define SUKIMA_CAPACITY_H

/// \file
/// A process that sees 64 CPUs may be allowed 1.5 of them: by its affinity mask, by a cpuset, or by a CPU
/// time quota of its control group or of any group above it (cgroup version 1, version 2, or both at once).
/// This header returns the number that remains, and every limit with the file that it came from.
///
/// Two numbers are kept apart: `usable` is how much CPU time a second the process can get (a fraction, in
/// CPUs), `cap` is how many of its threads may run at the same moment (a whole number). Under a quota of 1.5
/// on 8 CPUs they are 1.5 and 8.
///
/// All functions may be called from any thread, keep `errno`, are not cancellation points, start no thread,
/// keep no file open between calls, and use no `malloc` and no stdio (only sukima_capacity_explain() uses
/// `malloc`). They call the kernel directly, so a library that replaces `sysconf` or `sched_getaffinity` may
/// call them. They leave unreadable files out of the numbers and record them as notes. No function aborts.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#if defined(__GNUC__)
#define SUKIMA_CAPACITY_API __attribute__((visibility("default")))
#else
#define SUKIMA_CAPACITY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_capacity
/// @{

/// CPUs with this number or a higher one are not counted. (Linux itself ends at 8192.)
#define SUKIMA_CAPACITY_MAX_CPUS 65536

/// The kind of a limit.
typedef enum sukima_capacity_kind {
  SUKIMA_CAPACITY_ONLINE,    ///< CPUs that are online
  SUKIMA_CAPACITY_AFFINITY,  ///< CPUs that the process's affinity mask allows
  SUKIMA_CAPACITY_CPUSET,    ///< CPUs that the cpuset of its control group allows
  SUKIMA_CAPACITY_QUOTA,     ///< CPU time of a control group in each period
  SUKIMA_CAPACITY_WEIGHT,    ///< share of a control group beside its siblings; limits nothing by itself
  SUKIMA_CAPACITY_OVERRIDE,  ///< the user's number (`SUKIMA_CPUS`); wins over all others
  // The following are not in the facts, but in the reports of an estimator: see <sukima/capacity/estimate.h>.
  SUKIMA_CAPACITY_HOST,  ///< CPUs that the host of this virtual machine advertises
  SUKIMA_CAPACITY_STEAL,  ///< CPUs that the hypervisor takes from this machine
  SUKIMA_CAPACITY_NEIGHBOUR,  ///< CPUs that a group or thread beside the process uses
  SUKIMA_CAPACITY_THROTTLING,  ///< part of the time in which a quota holds the process back
  SUKIMA_CAPACITY_WAITING,  ///< how many of its threads wait for CPUs that others use
  SUKIMA_CAPACITY_PRESSURE,  ///< part of the time in which some thread waits for a CPU
  SUKIMA_CAPACITY_CORE,  ///< cores that the process's CPUs belong to, if several CPUs share one
  SUKIMA_CAPACITY_NICE  ///< its weight from its nice value, or from its session's
} sukima_capacity_kind;

/// Selects the affinity mask that counts.
typedef enum sukima_capacity_affinity {
  SUKIMA_CAPACITY_OF_PROCESS,  ///< the main thread's, read again each time
  SUKIMA_CAPACITY_OF_CALLER,  ///< the calling thread's, read again each time
  /// The calling thread's mask when the handle was opened; if that was not narrower than the cpuset, the
  /// current cpuset. For runtimes that pin their threads later: their own pinning then does not count as a
  /// limit.
  SUKIMA_CAPACITY_AT_OPEN
} sukima_capacity_affinity;

/// The process and machine to read. All zero is the default: this process, the running machine, the
/// environment's override.
typedef struct sukima_capacity_options {
  /// Put before every path under /proc and /sys, to read a recorded tree; NULL or "" is the running machine.
  /// In a recorded tree, affinity and scheduling policy come from /proc/self/status and /proc/self/stat.
  const char* root;
  /// Text to use instead of the environment variable `SUKIMA_CPUS`; "" overrides nothing; NULL reads the
  /// variable.
  const char* override_text;
  /// The process to read; 0 is the caller's. For another process the environment is not read.
  pid_t pid;
  /// The affinity mask that counts; for another process always that process's.
  sukima_capacity_affinity affinity;
} sukima_capacity_options;

/// The result: numbers only.
typedef struct sukima_capacity_facts {
  double usable;  ///< CPUs' worth of time that the process may use: above 0, at most `cap`
  double quota;  ///< the smallest quota of its group and all visible groups above; infinite if none
  double weight;  ///< its own group's weight, 1.0 is the kernel's default (shares 1024, weight 100)
  uint64_t quota_period_us;  ///< period of that smallest quota in microseconds; 0 if there is none
  uint64_t generation;  ///< goes up whenever a refresh found any other field changed; starts at 1
  uint32_t cap;  ///< CPUs that its threads may run on at the same moment: at least 1
  uint32_t online;  ///< CPUs that are online; 0 if unknown
  uint32_t affinity;  ///< CPUs in the affinity mask; 0 if unknown
  uint32_t cpuset;  ///< CPUs in the effective cpuset; 0 if none is visible
  uint32_t note_count;  ///< how many things were ignored or could not be read
  uint32_t
      ancestors_hidden;  ///< 1 if groups above its own cannot be seen, whose limits are therefore unknown
  sukima_capacity_kind binding;  ///< the kind of the limit from which `usable` comes
} sukima_capacity_facts;

/// One limit, for people to read.
typedef struct sukima_capacity_limit {
  sukima_capacity_kind kind;  ///< what it is
  double value;  ///< in the unit of its kind; for a weight relative to the default; infinite if no limit
  uint64_t period_us;  ///< a quota's period in microseconds, otherwise 0
  uint32_t level;  ///< 0 is the process's own group, 1 the group above it, and so on; otherwise 0
  uint32_t is_binding;  ///< 1 for the limit from which `usable` comes
  const char* file;  ///< where it was read: a path, the name of a system call or of a variable
  const char* text;  ///< one sentence in English
  uint64_t periods;  ///< of a quota: periods since the group was made in which it wanted CPU; 0 is unknown
  uint64_t throttled_periods;  ///< of these, those in which the quota held it back
} sukima_capacity_limit;

/// A file or setting that was ignored.
typedef struct sukima_capacity_note {
  const char* file;  ///< its path or name
  const char* text;  ///< what was ignored, one sentence in English
} sukima_capacity_note;

/// The numbers, and the reasons for them. It belongs to the caller, does not change, and is one piece of
/// memory.
typedef struct sukima_capacity_report {
  sukima_capacity_facts facts;  ///< the numbers
  size_t limit_count;  ///< number of limits
  const sukima_capacity_limit*
      limits;  ///< online, affinity, cpuset, then each group from the process's upwards
  size_t note_count;  ///< number of notes
  const sukima_capacity_note* notes;  ///< what was ignored or could not be read
  const char* error;  ///< why the override was ignored; NULL if it is valid
} sukima_capacity_report;

/// The ways to turn a number of CPUs into a number of threads.
typedef enum sukima_capacity_rounding {
  SUKIMA_CAPACITY_CEILING,  ///< 1.4 gives 2: uses all of a quota, and is throttled at times
  SUKIMA_CAPACITY_FLOOR,  ///< 1.4 gives 1: is never throttled, leaves a part of a quota unused
  SUKIMA_CAPACITY_NEAREST  ///< 1.4 gives 1, 1.5 gives 2
} sukima_capacity_rounding;

/// The user's rounding policy. All zero is: ceiling, at least one thread, nothing reserved.
typedef struct sukima_capacity_policy {
  sukima_capacity_rounding rounding;  ///< how to round what is left after `reserve`
  uint32_t minimum;  ///< never fewer than this; 0 counts as 1
  double reserve;  ///< CPUs to leave to others, taken off first; negative and not-a-number count as 0
} sukima_capacity_policy;

/// An opened reader, which can read again at low cost.
typedef struct sukima_capacity sukima_capacity;

/// Reads everything once.
/// \param options what to read; NULL is the default
/// \param facts   is always filled; 1 CPU if there is no memory
/// \return 0, or an error number: EINVAL if the override is malformed (the facts are then those without it,
///         and the report's `error` explains it), ENAMETOOLONG if `root` is too long, ENOMEM
/// \par Complexity linear in the size of /proc/self/mountinfo and in the depth of the group; about 0.1 ms
SUKIMA_CAPACITY_API int sukima_capacity_read(const sukima_capacity_options* options,
                                             sukima_capacity_facts* facts);

/// Opens a reader. The environment is read here and never again.
/// \param options what to read; NULL is the default; copied
/// \return the handle, to be passed to sukima_capacity_close(); NULL if there is no memory (about 200 KiB of
///         address space) or `root` is too long. A malformed override is not a failure: see
///         sukima_capacity_error().
SUKIMA_CAPACITY_API sukima_capacity* sukima_capacity_open(const sukima_capacity_options* options);

/// Reads again what can have changed: affinity, cpuset, and the quota of every group. If the process was
/// moved to another group, or a file of its group has vanished, it reads everything again. It does not notice
/// a mount that only adds something. It never waits: while another thread is refreshing the same handle, it
/// returns the previous facts. The handle may be used after fork(); the child then reads its own limits.
/// \param handle an opened handle
/// \param facts  gets the facts; may be NULL
/// \return 1 if the facts differ from those of the previous refresh (or of the opening), else 0
/// \par Complexity linear in the depth of the group: four to six small files, and one more a level
SUKIMA_CAPACITY_API int sukima_capacity_refresh(sukima_capacity* handle, sukima_capacity_facts* facts);

/// Returns the facts of the latest refresh (or of the opening), without reading any file.
/// \param handle an opened handle
/// \param facts  gets the facts
/// \par Complexity constant, about 10 ns
SUKIMA_CAPACITY_API void sukima_capacity_latest(const sukima_capacity* handle, sukima_capacity_facts* facts);

/// Returns the reason why the override was ignored.
/// \param handle an opened handle
/// \return one sentence that names the variable, its value and what is accepted; valid until the handle is
///         closed; NULL if the override is valid
SUKIMA_CAPACITY_API const char* sukima_capacity_error(const sukima_capacity* handle);

/// Closes a handle. No other thread may be using it.
/// \param handle an opened handle, or NULL
SUKIMA_CAPACITY_API void sukima_capacity_close(sukima_capacity* handle);

/// Reads everything once and explains where each number comes from.
/// \param options what to read; NULL is the default
/// \return the report, to be passed to sukima_capacity_report_free(); NULL if there is no memory or `root` is
///         too long
/// \par Complexity as sukima_capacity_read()
SUKIMA_CAPACITY_API sukima_capacity_report* sukima_capacity_explain(const sukima_capacity_options* options);

/// Frees a report.
/// \param report a report, or NULL
SUKIMA_CAPACITY_API void sukima_capacity_report_free(sukima_capacity_report* report);

/// Returns the name of a kind of limit: "online", "affinity", "cpuset", "quota", "weight", "override",
/// "host", "steal", "neighbour", "throttling", "waiting", "pressure", "core", "nice"; "unknown" for other
/// values.
SUKIMA_CAPACITY_API const char* sukima_capacity_kind_name(sukima_capacity_kind kind);

/// Turns a number of CPUs into a number of threads by the user's policy.
/// \param cpus   a number of CPUs, such as `usable`; zero, negative and not-a-number give the minimum
/// \param policy NULL is the default policy
/// \return at least 1
SUKIMA_CAPACITY_API uint32_t sukima_capacity_threads(double cpus, const sukima_capacity_policy* policy);

/// Parses a number of CPUs as in `SUKIMA_CPUS`: digits with at most one decimal point, above 0, at most
/// SUKIMA_CAPACITY_MAX_CPUS; blanks around it are skipped. Does not depend on the locale.
/// \param text  the text
/// \param value gets the number; unchanged on failure; may be NULL
/// \return 0, or EINVAL
SUKIMA_CAPACITY_API int sukima_capacity_parse_cpus(const char* text, double* value);

/// Writes a number of CPUs in the units in which operators set it: "docker --cpus=1.5, limits.cpu 1500m,
/// CPUQuota=150%" (Docker and Podman, Kubernetes, systemd).
/// \param cpus   a quota, above 0 and finite; otherwise the text is empty
/// \param memory gets the text, ended by a zero; cut off if it does not fit
/// \param size   of the memory; 100 is enough
/// \return the length of the text
SUKIMA_CAPACITY_API size_t sukima_capacity_operator_units(double cpus, char* memory, size_t size);

/// @}

#ifdef __cplusplus
}
#endif

// The CPU that the neighbours leave within the limits.
#include <sukima/capacity/estimate.h>
// The places of threads and of memory.
#include <sukima/capacity/places.h>
// The measurements of the machine.
#include <sukima/capacity/profile.h>

#endif

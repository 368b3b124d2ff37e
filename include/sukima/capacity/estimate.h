// SPDX-License-Identifier: Apache-2.0
// The CPU that this process gets now, and the CPU that k threads would get beside the neighbours.
#ifndef SUKIMA_CAPACITY_ESTIMATE_H
#define SUKIMA_CAPACITY_ESTIMATE_H

/// \file
/// The facts of <sukima/capacity.h> are configured limits. This header estimates how much CPU the neighbours
/// and the hypervisor leave within these limits. It answers two different questions:
///
/// - What do the threads get *now*? The difference of two readings of a CPU clock, exact for its window.
/// - What would *k threads* get? If the neighbours' groups are visible, this is computed: CPU is shared by
///   weight from the root group down, a member that wants less than its share keeps what it uses, and the
///   rest is shared again. If they are hidden, as in most containers, the answer is an interval with a point
///   in it; an experiment narrows it.
///
/// An estimator keeps files open (at most SUKIMA_CAPACITY_MAX_FILES, all of them close-on-exec), because
/// reading an open file again costs a sixth of opening it. Its functions may be called from any thread, but
/// not by two threads at once; they keep `errno`, are not cancellation points, and start no thread.

#include <sukima/capacity.h>

#ifdef __cplusplus
extern "C" {
#endif

/// \addtogroup c_capacity
/// @{

/// The largest number of files that an estimator keeps open.
#define SUKIMA_CAPACITY_MAX_FILES 200

/// The basis of an estimate.
typedef enum sukima_capacity_basis {
  SUKIMA_CAPACITY_BASIS_FACTS,  ///< limits only: nothing has been measured yet
  SUKIMA_CAPACITY_BASIS_TREE,  ///< computed from the groups of all neighbours
  SUKIMA_CAPACITY_BASIS_BLIND,  ///< the neighbours' groups cannot be seen: an interval, and a guess in it
  SUKIMA_CAPACITY_BASIS_EXPERIMENT,  ///< measured in the last 10 s with this number of threads
  SUKIMA_CAPACITY_BASIS_HOST,  ///< what the virtual machine's host advertised is the narrowest limit
  SUKIMA_CAPACITY_BASIS_OVERRIDE,  ///< the user's number (`SUKIMA_CPUS`)
  /// The process blocks so often that fair sharing does not describe it. The numbers are still those of fair
  /// sharing; to know better, the process must measure its progress with different numbers of threads.
  SUKIMA_CAPACITY_BASIS_PROGRESS
} sukima_capacity_basis;

/// The CPU that a number of threads would get.
typedef struct sukima_capacity_estimate {
  double usable;  ///< CPU time a second, in CPUs: above 0, at most `threads` (but see the override)
  double low;  ///< lower end of the interval in which the true value most likely is
  double high;  ///< upper end of that interval; low <= usable <= high
  double threads;  ///< the number of always runnable threads for which the estimate holds
  sukima_capacity_basis basis;  ///< how the numbers were found
} sukima_capacity_estimate;

/// The measurements. Rates are of the long window (500 ms, or the next multiple of the quota's period)
/// unless stated otherwise; a rate that cannot be known here is not-a-number.
typedef struct sukima_capacity_load {
  double seconds;  ///< length of the window; 0 before the second sample: then nothing else is valid
  double now;  ///< CPU time a second that the process received, in CPUs
  double now_short;  ///< the same in the short window (200 ms, or one period)
  double wanted;  ///< how many of its threads ran or waited for a CPU, on average
  double waiting;  ///< how many of these waited for CPUs that others used (not because of a quota)
  double throttled;  ///< share of the time, 0 to 1, in which a quota held the process's group back
  double slice_seconds;  ///< how long its threads run, on average, until they block or are displaced
  double idle;  ///< unused CPUs of the machine
  double others;  ///< CPUs of the machine that others than this process used
  double running;  ///< runnable threads of the whole machine, this process's included
  double stolen;  ///< of each CPU-second that the machine's CPUs wanted, the part that the hypervisor
      ///< took, 0 to 1: the latest known value if the CPUs are idle now, and the result of
      ///< steal probes if that is more
  double pressure;  ///< share of the time in which some thread of the machine waited for a CPU
  double group_pressure;  ///< the same for the process's own group
  double host_cpus;  ///< what the host advertised; not-a-number if nothing, or nothing that is still valid
  double cost;  ///< CPU time a second that sampling takes, of the last 6 s
  uint64_t samples;  ///< how many samples have been taken
  uint32_t threads;  ///< threads of the process
  uint32_t cores;  ///< cores that the CPUs it may run on belong to; 0 is unknown
  uint32_t neighbours;  ///< groups and single threads beside it that used CPU
  uint32_t tree_visible;  ///< 1 if the groups from the root down to the process's can be seen
  int32_t nice;  ///< nice value of its main thread
  uint32_t autogroup;  ///< 1 if the kernel shares by session (only processes in the root group)
  uint32_t host_malformed;  ///< 1 if the host's latest message cannot be understood; it is ignored
} sukima_capacity_load;

/// An estimator for one process.
typedef struct sukima_capacity_estimator sukima_capacity_estimator;

/// Opens an estimator and reads the facts; samples are taken by sukima_capacity_estimator_sample(). The
/// environment is read here and never again.
/// \param options what to observe; NULL is the default; copied. docs/estimating.md names the files
///                through which a host advertises CPU.
/// \return to be passed to sukima_capacity_estimator_close(); NULL if there is no memory (about 2 MiB of
///         address space, of which only the used part takes memory) or `root` is too long. A malformed
///         override is not a failure: see sukima_capacity_estimator_error().
/// \par Complexity as sukima_capacity_read()
SUKIMA_CAPACITY_API sukima_capacity_estimator* sukima_capacity_estimator_open(
    const sukima_capacity_options* options);

/// Takes a sample. Call it ten times a second; with fewer than two calls a second the windows grow longer.
/// The facts are read again every second.
/// \param estimator an opened estimator
/// \param time_ns   the time of the sample in nanoseconds, for recorded trees; must not go back; 0 is now
/// \par Complexity about 20 us, and 0.4 us for each neighbour that uses CPU and each thread of the process;
///      the search for new neighbours, at most twice a second, is linear in the groups and threads beside it
SUKIMA_CAPACITY_API void sukima_capacity_estimator_sample(sukima_capacity_estimator* estimator,
                                                          uint64_t time_ns);

/// Returns the facts: at the latest sample, or up to a second before it.
/// \param estimator an opened estimator
/// \param facts     gets the facts
SUKIMA_CAPACITY_API void sukima_capacity_estimator_facts(const sukima_capacity_estimator* estimator,
                                                         sukima_capacity_facts* facts);

/// Returns the measurements up to the latest sample.
/// \param estimator an opened estimator
/// \param load      gets the measurements
SUKIMA_CAPACITY_API void sukima_capacity_estimator_load(const sukima_capacity_estimator* estimator,
                                                        sukima_capacity_load* load);

/// Estimates the CPU that `threads` always runnable threads of this process would get.
/// \param estimator an opened estimator with at least two samples; with one, the facts are the answer
/// \param threads   the number of threads; 0, negative or not-a-number asks about as many as may run at the
///                  same moment (`cap`)
/// \param estimate  gets the answer
/// \par Complexity quadratic at worst, usually linear, in the number of neighbours that use CPU: microseconds
/// \see D. Bertsekas, R. Gallager: Data Networks (1992), section 6.5: max-min fair sharing, here with weights
SUKIMA_CAPACITY_API void sukima_capacity_estimator_usable(sukima_capacity_estimator* estimator,
                                                          double threads, sukima_capacity_estimate* estimate);

/// Begins an experiment: the process runs `threads` always runnable threads from now on, to measure what they
/// get. Keep sampling ten times a second, and after at least 300 ms call
/// sukima_capacity_estimator_experiment_end(). The first 100 ms do not count, because the kernel needs them
/// to move the threads.
/// \param estimator an opened estimator
/// \param threads   the number of threads
SUKIMA_CAPACITY_API void sukima_capacity_estimator_experiment_begin(sukima_capacity_estimator* estimator,
                                                                    double threads);

/// Ends an experiment. Its result is used until it is 10 s old or the neighbours' use has changed by a fifth.
/// \param estimator the estimator of the experiment
/// \param estimate  gets what the threads of the experiment got; may be NULL
/// \return 0; EAGAIN if the experiment was too short (fewer than 200 ms counted); EINVAL if none is running
SUKIMA_CAPACITY_API int sukima_capacity_estimator_experiment_end(sukima_capacity_estimator* estimator,
                                                                 sukima_capacity_estimate* estimate);

/// Returns the cause of the largest loss of the requested number of threads: one of the limits (measured from
/// the CPUs that are online), the CPU that the host advertises, the hypervisor's steal, or the neighbours
/// together.
/// \param estimator an opened estimator
/// \param estimate  its latest answer
/// \return the kind of limit as in the facts, or SUKIMA_CAPACITY_HOST, _STEAL, _NEIGHBOUR, or _THROTTLING if
///         a group that cannot be seen seems to have a quota. If the estimate is not below the facts, their
///         `binding`
SUKIMA_CAPACITY_API sukima_capacity_kind sukima_capacity_estimator_cause(
    const sukima_capacity_estimator* estimator, const sukima_capacity_estimate* estimate);

/// Explains the estimates in words: the limits, and as far as they matter the CPU that the host advertised,
/// steal, the neighbours (the largest first), throttling, waiting, pressure, cores and nice values.
/// `is_binding` marks the cause of the largest loss, for as many threads as may run at the same moment; see
/// sukima_capacity_estimator_cause().
/// \param estimator an opened estimator
/// \return a report, to be passed to sukima_capacity_report_free(); NULL without memory. Its facts are
///         freshly read
SUKIMA_CAPACITY_API sukima_capacity_report* sukima_capacity_estimator_explain(
    sukima_capacity_estimator* estimator);

/// Returns the reason why the override was ignored, as sukima_capacity_error().
/// \param estimator an opened estimator
/// \return NULL if the override is valid
SUKIMA_CAPACITY_API const char* sukima_capacity_estimator_error(const sukima_capacity_estimator* estimator);

/// Closes an estimator. No other thread may be using it.
/// \param estimator an opened estimator, or NULL
SUKIMA_CAPACITY_API void sukima_capacity_estimator_close(sukima_capacity_estimator* estimator);

/// Opens an estimator, samples for a while (sleeping between the samples), and gives one answer.
/// \param options as in sukima_capacity_estimator_open()
/// \param threads as in sukima_capacity_estimator_usable()
/// \param seconds how long to measure: 0.5 to 1 is good; less than 0.2 is a guess
/// \param estimate gets the answer, in any case
/// \return 0, or as sukima_capacity_read()
SUKIMA_CAPACITY_API int sukima_capacity_estimate_once(const sukima_capacity_options* options, double threads,
                                                      double seconds, sukima_capacity_estimate* estimate);

/// Returns the CPU that the host of this virtual machine advertises now in /run/sukima/host, in CPUs for the
/// whole machine.
/// \param root as sukima_capacity_options::root; NULL: this machine
/// \return not-a-number if there is nothing that is still valid. Reads one small file, in microseconds, and
///         does not look at ports, which one process at a time can open
SUKIMA_CAPACITY_API double sukima_capacity_advertised(const char* root);

/// Returns the name of a basis: "facts", "tree", "blind", "experiment", "host", "override" or "progress";
/// "unknown" for other values.
SUKIMA_CAPACITY_API const char* sukima_capacity_basis_name(sukima_capacity_basis basis);

/// Measures unreported steal time: reads a clock every few microseconds, adds up the gaps, and subtracts the
/// time that this kernel gave to other threads. For guests whose steal time reads zero although CPU is taken
/// from them (VMware by default, emulators). Uses the whole CPU that the calling thread runs on: bind the
/// thread to each CPU in turn, or start a thread for each.
/// \param seconds how long; at least 0.2 for an error below 0.1 %
/// \param taken   gets the share of the time that was taken, 0 to 1; not-a-number if this kernel does not
///                count what it gave to others (no /proc/thread-self/schedstat)
/// \return 0, or EINVAL if `seconds` is not above 0 and at most 60
SUKIMA_CAPACITY_API int sukima_capacity_probe_steal(double seconds, double* taken);

/// Adds the result of a steal probe. For the next 30 s the mean of up to four latest probes counts as the
/// part of each CPU that the hypervisor takes, unless the reported steal time is larger.
/// \param estimator an opened estimator
/// \param taken     the mean of sukima_capacity_probe_steal() over the CPUs, 0 to 1; other values are ignored
SUKIMA_CAPACITY_API void sukima_capacity_estimator_add_steal_probe(sukima_capacity_estimator* estimator,
                                                                   double taken);

/// @}

#ifdef __cplusplus
}
#endif

#endif

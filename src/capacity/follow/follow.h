// SPDX-License-Identifier: Apache-2.0
// The groups and threads that an estimator follows, with their counters in the latest samples. Internal to
// the capacity part.
#ifndef SUKIMA_CAPACITY_FOLLOW_FOLLOW_H
#define SUKIMA_CAPACITY_FOLLOW_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <sukima/capacity.h>

#include "limits/reader.h"
#include "shared/schedstat.h"
#include "text/counters.h"

enum {
  cap_ring_size = 64,  // samples that are kept: 6.4 s at ten per second
  cap_level_count = 24,  // groups from the root to ours
  cap_group_count = 128,  // these, and groups beside them that use CPU
  cap_task_count = 384,  // threads that use CPU
  cap_patience = 5,          // samples after which threads of groups beside ours are read again
  cap_slow_count = 16,       // readings of the machine that are kept, half a second apart
  cap_own_task_count = 64,  // of these, our own threads that are followed although they use no CPU
  cap_binding_count = 16,  // different sets of CPUs to which neighbours are bound
  cap_candidate_count = 4096  // groups and threads of which only the last value is stored; a power of two
};

/// A group or thread of the latest search, with its counter at that time. It is followed once its counter
/// changes.
typedef struct cap_candidate {
  uint64_t key;  // 0: free
  uint64_t value;
} cap_candidate;

typedef struct cap_candidates {
  cap_candidate entries[cap_candidate_count];
} cap_candidates;

/// The set of CPUs to which a neighbour is bound: an index in `bindings`, or one of these values.
enum {
  cap_unbound = -1,         // all online CPUs
  cap_unknown_binding = -2  // unknown, or there are too many sets; counts as unbound
};

/// A control group on the path from the root to ours, or one beside this path.
typedef struct cap_group {
  uint64_t key;  // hash of its directory; 0: this place is free
  uint32_t level;  // 0 is the root
  bool on_path;  // our group, or a group above it
  bool has_usage;  // the kernel counts its use; otherwise the sum over its threads is used
  bool is_unreadable;  // its quota or weight is set, but could not be read or parsed
  bool has_stat;  // `descriptor` is that of cpu.stat, which also contains throttling
  int descriptor;  // of the file with its use; -1: none
  int stat_descriptor;  // of cpu.stat if that is another file; -1: none
  double weight;  // 1.0 is the default
  double quota;  // in CPUs, infinite if there is none
  uint64_t period_us;
  uint64_t since;  // number of the first sample for which it has values
  uint64_t search;  // number of the latest search that found it
  int binding;  // the binding of its members if these cannot be seen
  char name[96];  // its last component, truncated if it is long
  cap_group_stat values[cap_ring_size];
} cap_group;

/// A thread that uses CPU: one of ours, one in our group or a group above, or one in a group beside those.
typedef struct cap_task {
  uint32_t number;  // its thread number; 0: this place is free
  int group;  // index of its group; for a group deeper below a neighbour, that neighbour
  bool own;  // it belongs to the observed process
  int descriptor;  // of its schedstat; -1: the file is opened each time
  int binding;
  char name[16];  // as in /proc/PID/stat
  uint64_t session;  // number of its autogroup; 0: none
  double session_weight;
  double weight;
  uint64_t since;
  uint64_t search;
  cap_schedstat values[cap_ring_size];
} cap_task;

/// The counters of the process and the machine in one sample.
typedef struct cap_moment {
  uint64_t time_ns;
  uint64_t own_ns;  // CPU time of the process
  uint64_t running;
  uint64_t spent_ns;  // the estimator's own CPU time
} cap_moment;

/// The counters of the machine. They are read twice per second, because the kernel sums all interrupts for
/// /proc/stat.
typedef struct cap_slow_moment {
  uint64_t time_ns;
  cap_machine_stat machine;
  uint64_t pressure_us;
  uint64_t group_pressure_us;
} cap_slow_moment;

/// All that an estimator follows. Sample number s is at index s % cap_ring_size.
typedef struct cap_followed {
  uint64_t sample;  // number of the latest sample; the first is 1
  cap_moment moments[cap_ring_size];
  uint64_t slow_sample;  // number of the latest reading of the machine; the first is 1
  cap_slow_moment slow[cap_slow_count];
  bool has_running;
  bool has_stat;
  bool has_pressure;
  bool has_group_pressure;
  bool has_tasks;  // the schedstat files of our own threads can be read
  int stat_descriptor;
  int running_descriptor;
  int pressure_descriptor;
  int group_pressure_descriptor;
  int open_files;
  clockid_t own_clock;
  bool has_own_clock;

  // The tree
  bool path_visible;  // the groups from the root to ours are visible,
  bool tree_visible;  // and their limits can be read
  bool v2;
  bool usage_fits;  // the groups of the controller cpuacct are those of the controller cpu
  uint32_t path_length;  // number of groups on the path
  int path[cap_level_count];  // their indices in `groups`
  bool autogroup;  // the kernel divides CPU by session
  uint64_t own_session;  // number of our autogroup; 0: we are in a control group
  double own_session_weight;
  double own_weight;  // from our nice value and scheduling class
  int own_nice;

  // State of the search for neighbours
  uint64_t search;  // number of the latest search
  uint64_t search_sample;  // the sample at which it was made
  uint64_t search_cost_ns;
  uint64_t next_search_ns;
  cap_candidates candidates[2];  // of this search and the previous one, alternating
  uint32_t own_count;
  uint32_t own_numbers[cap_candidate_count];  // numbers of our threads, sorted
  uint32_t thread_count;  // of the process, including those that are not in own_numbers

  // The CPUs to which the neighbours are bound, as the latest search found
  uint32_t binding_count;
  cap_cpu_set bindings[cap_binding_count];
  cap_cpu_set asked_binding;  // work memory

  // From these indices on, all entries are free. Visiting them would cost more than reading all files.
  int group_end;
  int task_end;
  cap_group groups[cap_group_count];
  cap_task tasks[cap_task_count];
  char line_memory[16384];
  char path_memory[cap_path_size];
  char usage_memory[cap_path_size];
  _Alignas(8) char entry_memory[4][4096];
} cap_followed;

/// Resets all members to empty, without open files.
void cap_follow_clear(cap_followed* followed);

/// Whether the indices and counts of what is followed fit each other, for assertions. O(groups + threads).
bool cap_follow_is_valid(const cap_followed* followed);

/// Opens the files that stay open for any tree. \pre the reader has read its facts
void cap_follow_open(cap_followed* followed, cap_reader* reader);

void cap_follow_close(cap_followed* followed);

/// Reads all counters as sample number followed->sample + 1 at this time.
void cap_follow_sample(cap_followed* followed, cap_reader* reader, uint64_t time_ns);

/// Finds groups and threads that are not followed yet, and drops those that have ended or are idle.
void cap_find_neighbours(cap_followed* followed, cap_reader* reader);

/// Reads again on which CPUs the neighbours' threads may run.
void cap_read_bindings(cap_followed* followed, cap_reader* reader);

/// The binding of a group whose threads cannot be seen, from its cpuset (version 2 only).
int cap_group_binding(cap_followed* followed, cap_reader* reader, const char* directory);

/// The number of the sample that is nearest to `window_ns` before the latest one, but not before sample
/// `since`; the latest sample itself if there is no such sample.
uint64_t cap_follow_back(const cap_followed* followed, uint64_t window_ns, uint64_t since);

/// The seconds between a sample and the latest one.
double cap_follow_seconds(const cap_followed* followed, uint64_t from);

/// The latest moment, and the moment of a given sample.
cap_moment* cap_follow_now(cap_followed* followed);
const cap_moment* cap_follow_at(const cap_followed* followed, uint64_t sample);

/// The change of the machine's counters in approximately this window.
typedef struct cap_machine_change {
  double seconds;  // 0: it was read only once
  cap_machine_stat ticks;
  double pressure;  // parts of the time
  double group_pressure;
} cap_machine_change;

cap_machine_change cap_follow_machine(const cap_followed* followed, uint64_t window_ns);

/// The rate of a counter in nanoseconds between two values, of which `old` is from sample `from`; 0 if the
/// counter went back.
double cap_follow_rate(const cap_followed* followed, uint64_t from, uint64_t old, uint64_t new);

/// The CPU that the process uses.
double cap_own_use(const cap_followed* followed, uint64_t window_ns);

/// The activity of a thread in a window: parts of the time, and how often per second it was put on a CPU.
typedef struct cap_task_rates {
  double run;
  double wait;
  double slices;
} cap_task_rates;

cap_task_rates cap_task_rates_in(const cap_followed* followed, const cap_task* task, uint64_t window_ns);

/// The CPU that a group uses, from its counter or from its threads' counters.
double cap_group_use(const cap_followed* followed, const cap_group* group, uint64_t window_ns);

/// The CPU that a thread uses, and the same with the time that it waited: at most 1.
double cap_task_use(const cap_followed* followed, const cap_task* task, uint64_t window_ns);
double cap_task_wanted(const cap_followed* followed, const cap_task* task, uint64_t window_ns);

/// The CPU that other processes' threads directly in a group of the path use (`level` 0 is the root);
/// not-a-number if unknown.
double cap_direct_use(const cap_followed* followed, uint32_t level, uint64_t window_ns);

#endif

// SPDX-License-Identifier: Apache-2.0
// What an estimator watches: groups and threads, with the counters of the last samples. Internal to the
// capacity part.
#ifndef SUKIMA_CAPACITY_WATCH_H
#define SUKIMA_CAPACITY_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <sukima/capacity.h>

#include "counters.h"
#include "reader.h"
#include "shared/schedstat.h"

enum {
  sukima_ring_size = 64,  // samples that are kept: 6.4 s at ten a second
  sukima_level_count = 24,  // groups from the root down to ours
  sukima_group_count = 128,  // these, and the groups beside them that use CPU
  sukima_task_count = 384,  // threads that use CPU
  sukima_patience = 5,          // samples after which threads of groups beside ours are read again
  sukima_slow_count = 16,       // readings of the machine that are kept: half a second apart
  sukima_own_task_count = 64,  // of these, our own that are watched though they do not use any
  sukima_candidate_count = 4096  // groups and threads of which only the last value is kept; a power of two
};

/// Something that existed when we last looked, and its counter then: whose counter moved gets watched.
typedef struct sukima_candidate {
  uint64_t key;  // 0: free
  uint64_t value;
} sukima_candidate;

typedef struct sukima_candidates {
  uint32_t count;
  sukima_candidate entries[sukima_candidate_count];
} sukima_candidates;

/// A control group on the way from the root to ours, or one beside this way.
typedef struct sukima_group {
  uint64_t key;  // hash of its directory; 0 is a free place
  uint32_t level;  // of the group itself: 0 is the root
  bool on_path;  // ours, or above ours
  bool has_usage;  // the kernel sums its use up; otherwise its threads' use counts
  bool has_stat;  // descriptor is that of cpu.stat, which tells throttling, too
  int descriptor;  // of the file with its use, -1: none
  int stat_descriptor;  // of cpu.stat where that is another file, -1: none
  double weight;  // 1.0 is the default
  double quota;  // in CPUs, infinite if none
  uint64_t period_us;
  uint64_t since;  // number of the first sample that it has values of
  uint64_t scan;  // number of the scan that found it last
  char name[96];  // its last component, cut off if it is long
  sukima_group_stat values[sukima_ring_size];
} sukima_group;

/// A thread that uses CPU: one of ours, one in a group of ours or above, or one in a group beside those.
typedef struct sukima_task {
  uint32_t number;  // its thread number; 0 is a free place
  int group;  // index of the group; for one deeper below a neighbour, that neighbour
  bool own;  // of the process that we look at
  int descriptor;  // of its schedstat, -1: it is opened each time
  uint64_t session;  // number of its autogroup, 0 if it is in none
  double session_weight;
  double weight;
  uint64_t since;
  uint64_t scan;
  cap_schedstat values[sukima_ring_size];
} sukima_task;

/// What was read of the process and the machine in one sample.
typedef struct sukima_moment {
  uint64_t time_ns;
  uint64_t own_ns;  // CPU time of the process
  uint64_t running;
  uint64_t spent_ns;  // the estimator's own CPU time
} sukima_moment;

/// What was read of the machine: twice a second, because the kernel adds up all interrupts for /proc/stat.
typedef struct sukima_slow_moment {
  uint64_t time_ns;
  sukima_machine_stat machine;
  uint64_t pressure_us;
  uint64_t group_pressure_us;
} sukima_slow_moment;

/// All that is watched. Sample number s stands at index s % sukima_ring_size.
typedef struct sukima_watch {
  uint64_t sample;  // number of the latest sample; the first is 1
  sukima_moment moments[sukima_ring_size];
  uint64_t slow_sample;  // number of the latest reading of the machine; the first is 1
  sukima_slow_moment slow[sukima_slow_count];
  bool has_running;
  bool has_stat;
  bool has_pressure;
  bool has_group_pressure;
  bool has_tasks;  // our own threads' schedstat can be read
  bool tasks_in_group;  // those of others can: their group is visible, and it lists them
  int stat_descriptor;
  int running_descriptor;
  int pressure_descriptor;
  int group_pressure_descriptor;
  int open_files;
  clockid_t own_clock;
  bool has_own_clock;

  // The tree
  bool tree_visible;
  bool v2;
  bool usage_fits;  // the groups of the controller cpuacct are those of the controller cpu
  uint32_t path_length;  // number of groups on the path
  int path[sukima_level_count];  // their indices in groups
  bool autogroup;  // the kernel shares by session
  uint64_t own_session;  // our autogroup's number; 0: we are in a group
  double own_session_weight;
  double own_weight;  // by our nice value
  int own_nice;

  // Looking for neighbours
  uint64_t scan;  // number of the latest
  uint64_t scan_sample;  // the sample it was made at
  uint64_t scan_cost_ns;
  uint64_t next_scan_ns;
  double explained;  // CPUs of foreign threads in groups of ours that we knew of then
  sukima_candidates candidates[2];  // of this scan and of the one before: by turns
  uint32_t own_count;
  uint32_t own_numbers[sukima_candidate_count];  // our threads, sorted
  uint32_t thread_count;  // of the process, also those beyond own_numbers

  // Behind these indices nothing is in use: looking there would cost more than all that is read.
  int group_end;
  int task_end;
  sukima_group groups[sukima_group_count];
  sukima_task tasks[sukima_task_count];
  char line_memory[16384];
  char path_memory[sukima_path_size];
  char usage_memory[sukima_path_size];
  _Alignas(8) char entry_memory[4][4096];
} sukima_watch;

/// Makes everything empty; nothing is open.
void sukima_watch_clear(sukima_watch* watch);

/// Opens the files that stay open whatever the tree is. The reader has read its facts before.
void sukima_watch_open(sukima_watch* watch, sukima_reader* reader);

void sukima_watch_close(sukima_watch* watch);

/// Reads all counters: sample number watch->sample + 1, at this time.
void sukima_watch_sample(sukima_watch* watch, sukima_reader* reader, uint64_t time_ns);

/// Looks for groups and threads that were not known, and forgets those that are gone or idle.
void sukima_watch_scan(sukima_watch* watch, sukima_reader* reader);

/// The number of the sample that is nearest to `window_ns` before the latest one, not before sample `since`.
/// The latest one itself if there is none.
uint64_t sukima_watch_back(const sukima_watch* watch, uint64_t window_ns, uint64_t since);

/// The seconds between a sample and the latest one.
double sukima_watch_seconds(const sukima_watch* watch, uint64_t from);

/// The latest moment, and that of another sample.
sukima_moment* sukima_watch_now(sukima_watch* watch);
const sukima_moment* sukima_watch_at(const sukima_watch* watch, uint64_t sample);

/// What changed in the machine in about this window.
typedef struct sukima_machine_change {
  double seconds;  // 0: it was read once only
  sukima_machine_stat ticks;
  double pressure;  // parts of the time
  double group_pressure;
} sukima_machine_change;

sukima_machine_change sukima_watch_machine(const sukima_watch* watch, uint64_t window_ns);

/// The rate of a counter of nanoseconds between two values, the older of sample `from`; 0 if it went back.
double sukima_watch_rate(const sukima_watch* watch, uint64_t from, uint64_t old, uint64_t new);

/// CPU that the process uses.
double sukima_own_use(const sukima_watch* watch, uint64_t window_ns);

/// What a thread did in a window: parts of the time, and how often a second it was put on a CPU.
typedef struct sukima_task_rates {
  double run;
  double wait;
  double slices;
} sukima_task_rates;

sukima_task_rates sukima_task_rates_in(const sukima_watch* watch, const sukima_task* task,
                                       uint64_t window_ns);

/// CPU that a group uses, from its counter or from its threads'.
double sukima_group_use(const sukima_watch* watch, const sukima_group* group, uint64_t window_ns);

/// CPU that a thread uses, and the same with the time that it waited: at most 1.
double sukima_task_use(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns);
double sukima_task_wanted(const sukima_watch* watch, const sukima_task* task, uint64_t window_ns);

/// CPU that foreign threads which stand directly in a group on the path use (`level` 0 is the root), or
/// not-a-number if that is not known.
double sukima_direct_use(const sukima_watch* watch, uint32_t level, uint64_t window_ns);

#endif

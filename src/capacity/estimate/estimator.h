// SPDX-License-Identifier: Apache-2.0
// The estimator's state, and its parts. Internal to the capacity part.
#ifndef SUKIMA_CAPACITY_ESTIMATE_ESTIMATOR_H
#define SUKIMA_CAPACITY_ESTIMATE_ESTIMATOR_H

#include <stdbool.h>
#include <stdint.h>

#include <sukima/capacity.h>

#include "estimate/fair_share.h"
#include "estimate/host.h"
#include "follow/follow.h"
#include "limits/reader.h"

enum { cap_share_count = cap_group_count + 2 * cap_task_count + 4, cap_experiment_count = 4 };

/// The window for measurements that are noisy or come in ticks of 10 ms, and for neighbours whose use changes
/// more slowly than a sample lasts.
static const uint64_t slow_window_ns = 2000000000;

/// The result of an experiment with a number of threads.
typedef struct cap_experiment {
  double threads;  // 0: no experiment
  double got;
  double others;  // the use by the rest of the machine at that time
  uint64_t time_ns;
} cap_experiment;

/// The number of states of the neighbours that come and go. The part of the states in which a neighbour wants
/// CPU equals the part of the time in which it does.
enum { cap_state_count = 32 };

/// The demand of a neighbour's thread.
typedef struct cap_demand {
  double use;  // mean use of CPU
  double wanted;  // mean use, with the time that it waited
  double demand;  // CPU that it wants in the states in which it wants any
  uint32_t states;  // bit s: it wants CPU in state s
} cap_demand;

/// The demands of all neighbours in a window, and in one state of it.
typedef struct cap_demands {
  bool has_bursts;  // some come and go, so there is more than one state
  uint64_t sample;  // the sample and the search for which is_intermittent was computed
  uint64_t search;
  bool is_intermittent[cap_task_count];  // the thread comes and goes more slowly than a sample
  cap_demand tasks[cap_task_count];
  double group_use[cap_group_count];
  double task_demand[cap_task_count];  // in the present state
  double group_demand[cap_group_count];  // in the present state
} cap_demands;

/// The input of a computation of our CPU.
typedef struct cap_question {
  double threads;  // the number of our threads
  uint64_t window_ns;  // the window over which the neighbours' use is measured
  bool has_backlog;  // neighbours want what they use and wait for; otherwise only what they use
  bool has_bursts;  // neighbours that come and go want CPU in a part of the time; otherwise the mean counts
  double cpus;  // CPUs of the machine, or of the part in question
  double each;  // CPU that one CPU gives to a thread: less than 1 if the hypervisor takes a part
  bool is_partial;  // only neighbours that are bound to a part of the machine count:
  uint32_t within;  // those bound to the sets with these indices,
  bool unknown_within;  // and those whose binding is unknown
} cap_question;

struct sukima_capacity_estimator {
  cap_reader reader;
  cap_followed followed;
  cap_host host;
  sukima_capacity_facts facts;
  sukima_capacity_load load;
  uint32_t group_searches;  // the reader's number of searches when the tree was found
  uint64_t next_facts_ns;
  uint64_t long_ns;  // the windows
  uint64_t short_ns;
  uint64_t stolen_seen_ns;  // the last time at which steal time was known; 0: never
  double steal_time;  // the part of each CPU second that is reported as steal time
  double probed_steal;  // the part that steal probes found; 0: none, or too long ago
  uint32_t steal_probes;  // the number of probes in that mean
  uint64_t probed_steal_seen_ns;  // time of the latest probe; 0: the next sample sets the time
  uint64_t spent_ns;  // the estimator's own CPU time
  uint64_t sampler;  // number of the thread that took the last sample; 0: in a recorded tree
  cap_experiment experiments[cap_experiment_count];
  cap_experiment running;  // the present one
  cap_share shares[cap_share_count];
  cap_demands demands;
  cap_cpu_set part;  // a part of the machine: work memory
};

/// Whether a thread that runs or waits for a CPU for this part of the time never blocks.
static inline bool cap_wants_always(double part) { return part >= 0.9; }

/// Computes estimator->load from the counters of the followed groups and threads.
void cap_measure(sukima_capacity_estimator* estimator);

/// Computes load->stolen, and corrects the measured use of CPU for it. \pre the use has been measured
void cap_measure_steal(sukima_capacity_estimator* estimator);

/// The number of cores with a CPU on which the process may run. \pre the reader has just combined its sets
uint32_t cap_count_cores(cap_reader* reader);

/// Computes estimator->demands for the window in `asked`.
void cap_find_demands(sukima_capacity_estimator* estimator, const cap_question* asked);

/// Computes the demands in one state, 0 to cap_state_count - 1.
void cap_find_demands_in_state(sukima_capacity_estimator* estimator, const cap_question* asked,
                               unsigned state);

/// Whether a neighbour with this binding is bound to the part of the machine in question.
bool cap_is_within(const cap_question* asked, int binding);

/// Our CPU, computed from the root of the visible groups downward, with the demands that were computed last.
double cap_share_of_demands(sukima_capacity_estimator* estimator, const cap_question* asked);

/// The same after computing the demands again.
double cap_share_in_tree(sukima_capacity_estimator* estimator, const cap_question* asked);

/// Whether a quota seems to throttle a hidden group: our threads wait although CPUs are idle.
bool cap_has_hidden_quota(const sukima_capacity_estimator* estimator);

/// The CPUs that programs in hidden groups use; 0 if that is negligible.
double cap_unseen_use(const sukima_capacity_estimator* estimator);

/// The CPUs that the machine really has: reduced by steal time, and limited to what the host advertises.
double cap_machine_cpus(const sukima_capacity_estimator* estimator);

#endif

// SPDX-License-Identifier: Apache-2.0
// The estimator's state, and the parts that it is made of. Internal to the capacity part.
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

/// Window for figures that are noisy or come in ticks of 10 ms, and for neighbours whose use changes more
/// slowly than a sample lasts.
static const uint64_t slow_window_ns = 2000000000;

/// The result of an experiment with a number of threads.
typedef struct cap_experiment {
  double threads;  // 0: none
  double got;
  double others;  // what the rest of the machine used then
  uint64_t time_ns;
} cap_experiment;

/// States of the neighbours that come and go: each of these wants CPU in as large a part of the states as of
/// the time.
enum { cap_state_count = 32 };

/// The demand of a thread beside us.
typedef struct cap_demand {
  double use;  // CPU that it uses, on average
  double wanted;  // the same with the time that it waited
  double demand;  // CPU that it wants in the states in which it wants any
  uint32_t states;  // bit s: it wants CPU in state s
} cap_demand;

/// The demands of all neighbours in a window, and in one state of it.
typedef struct cap_demands {
  bool has_bursts;  // some come and go: there is more than one state
  uint64_t sample;  // of which the following is known
  uint64_t search;
  bool is_intermittent[cap_task_count];  // comes and goes more slowly than a sample
  cap_demand tasks[cap_task_count];
  double group_use[cap_group_count];
  double task_demand[cap_task_count];  // in the present state
  double group_demand[cap_group_count];  // likewise
} cap_demands;

/// The question that a computation answers.
typedef struct cap_question {
  double threads;  // that we have
  uint64_t window_ns;  // in which the neighbours' use counts
  bool has_backlog;  // neighbours want what they use and what they wait for; otherwise what they use
  bool has_bursts;  // neighbours that come and go want CPU in a part of the time, otherwise their mean use
  double cpus;  // of the machine, or of the part of it that the question is about
  double each;  // what one CPU gives to a thread: less than 1 if the hypervisor takes a part
  bool is_partial;  // only neighbours that are bound to a part of the machine count:
  uint32_t within;  // to the sets with these indices,
  bool unknown_within;  // and those of which it is not known
} cap_question;

struct sukima_capacity_estimator {
  cap_reader reader;
  cap_followed followed;
  cap_host host;
  sukima_capacity_facts facts;
  sukima_capacity_load load;
  uint32_t group_searches;  // of the reader when the tree was found
  uint64_t next_facts_ns;
  uint64_t long_ns;  // the windows
  uint64_t short_ns;
  uint64_t stolen_seen_ns;  // when steal time was known last; 0: never
  double steal_time;  // the part of each CPU-second that is reported as steal time
  double probed_steal;  // the part that steal probes found; 0: none, or too long ago
  uint32_t steal_probes;  // so many of them are in that mean
  uint64_t probed_steal_seen_ns;  // when; 0: between two samples, the next of which sets it
  uint64_t spent_ns;  // the estimator's own CPU time
  cap_experiment experiments[cap_experiment_count];
  cap_experiment running;  // the present one
  cap_share shares[cap_share_count];
  cap_demands demands;
  cap_cpu_set part;  // of the machine: work memory
};

/// A thread that runs or waits for a CPU in this part of the time never blocks.
static inline bool cap_wants_always(double part) { return part >= 0.9; }

/// Computes estimator->load from the counters that are followed.
void cap_measure(sukima_capacity_estimator* estimator);

/// Computes load->stolen, and corrects the measured use of CPU for it. \pre the use was measured
void cap_measure_steal(sukima_capacity_estimator* estimator);

/// The CPUs that the process may run on, as cores. The reader has just combined its sets.
uint32_t cap_count_cores(cap_reader* reader);

/// Computes estimator->demands for the question's window.
void cap_find_demands(sukima_capacity_estimator* estimator, const cap_question* asked);

/// Computes the demands in one state, 0 to cap_state_count - 1.
void cap_find_demands_in_state(sukima_capacity_estimator* estimator, const cap_question* asked,
                               unsigned state);

/// Whether the neighbour is bound to the part of the machine that the question is about.
bool cap_is_within(const cap_question* asked, int binding);

/// Our CPU, computed from the root of the visible groups down, with the latest demands found.
double cap_share_of_demands(sukima_capacity_estimator* estimator, const cap_question* asked);

/// The same with new demands.
double cap_share_in_tree(sukima_capacity_estimator* estimator, const cap_question* asked);

/// Whether a hidden group seems to be held back by a quota: our threads wait although CPUs are idle.
bool cap_has_hidden_quota(const sukima_capacity_estimator* estimator);

/// CPUs used by programs in hidden groups; 0 if that is hardly anything.
double cap_unseen_use(const sukima_capacity_estimator* estimator);

/// CPUs that the machine really has: reduced by steal, and to what the host advertises.
double cap_machine_cpus(const sukima_capacity_estimator* estimator);

#endif

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

/// What a number of threads got in an experiment.
typedef struct cap_experiment {
  double threads;  // 0: none
  double got;
  double others;  // what the rest of the machine used then
  uint64_t time_ns;
} cap_experiment;

struct sukima_capacity_estimator {
  cap_reader reader;
  cap_followed followed;
  cap_host host;
  sukima_capacity_facts facts;
  sukima_capacity_load load;
  uint32_t group_searches;  // of the reader when the tree was found
  uint64_t next_facts_ns;
  uint64_t long_ns;   // the windows
  uint64_t short_ns;
  uint64_t stolen_seen_ns;  // when steal time was known last; 0: never
  double steal_time;        // the part of each CPU-second that is reported as steal time
  double probed_steal;              // the part that steal probes found; 0: none, or too long ago
  uint32_t steal_probes;      // so many of them are in that mean
  uint64_t probed_steal_seen_ns;    // when; 0: between two samples, the next of which sets it
  uint64_t spent_ns;        // the estimator's own CPU time
  cap_experiment experiments[cap_experiment_count];
  cap_experiment running;  // the present one
  cap_share shares[cap_share_count];
};

/// Computes estimator->load from the counters that are followed.
void cap_measure(sukima_capacity_estimator* estimator);

/// The CPUs that the process may run on, as cores. The reader has just combined its sets.
uint32_t cap_count_cores(cap_reader* reader);

/// CPUs that the machine really has: reduced by steal, and to what the host advertises.
double cap_machine_cpus(const sukima_capacity_estimator* estimator);

#endif

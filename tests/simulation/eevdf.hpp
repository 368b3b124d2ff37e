// SPDX-License-Identifier: Apache-2.0
// The scheduling rule of Linux since 6.6: the earliest eligible virtual deadline first. Source:
// `kernel/sched/fair.c` of Linux 6.18.
//
// A vCPU's rank is its virtual time. It is eligible if that time is at most the mean of its queue. Of the
// eligible vCPUs the one with the earliest deadline runs next, until a tick finds it past its deadline. Then
// it gets a new deadline, one slice later. A vCPU that sleeps keeps its distance from the mean (PLACE_LAG),
// but it stays in its queue while it is ahead of the mean (DELAY_DEQUEUE). A vCPU that wakes preempts if it
// is eligible and has the earlier deadline; docs/simulation.md has the measurement.
//
// Not simulated: groups of vCPUs that share a queue. Each vCPU has the weight of its guest. With balance
// scheduling all vCPUs are in one queue.
#pragma once

#include "order.hpp"

#include <memory>

namespace sukima::simulation {

std::unique_ptr<order> make_eevdf_order(const scheduling& how);

}  // namespace sukima::simulation

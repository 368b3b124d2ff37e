// SPDX-License-Identifier: Apache-2.0
// The units that carry the messages of each stream in a configuration.
#pragma once

#include "shared/prediction.hpp"

namespace sukima::objects::model {

/// Returns a number of CPUs as a whole number: at least 1; a small fraction above a whole number is dropped.
unsigned whole_cpus(double cpus);

/// Whether all ends of the stream are in one group. Under `simulated` all objects are one group.
bool is_within(const stream& one, const configuration& how);

/// Returns the unit that carries the stream's messages.
unit carrier_of(const stream& one, const configuration& how);

/// Returns the number of groups: 1 under `simulated`, the number of objects in models without groups.
std::size_t group_count(const configuration& how, std::size_t objects);

}  // namespace sukima::objects::model

// SPDX-License-Identifier: Apache-2.0
// Describes the machine on which figures were measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sukima::lab {

/// The description of a machine at a moment: pairs of a name and a value (cpu, cpus, memory, kernel, date,
/// …).
using machine_facts = std::vector<std::pair<std::string, std::string>>;

/// Describes this machine now.
machine_facts describe_machine();

/// Returns the description on one line.
std::string one_line(const machine_facts& facts);

/// Returns the CPUs that this process may use, rounded up, at least 1. Throws usage_error if SUKIMA_CPUS is
/// malformed.
int usable_cpus();

}  // namespace sukima::lab

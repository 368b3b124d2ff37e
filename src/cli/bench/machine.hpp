// SPDX-License-Identifier: Apache-2.0
// Describes the machine that figures come from.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sukima::cli::bench {

/// What describes this machine and moment, as pairs of a name and a value: cpu, cpus, memory, kernel, date, …
std::vector<std::pair<std::string, std::string>> describe_machine();

/// The description on one line.
std::string machine_line();

/// CPUs that this process may use, rounded up, at least 1. Throws usage_error if SUKIMA_CPUS is malformed.
int usable_cpus();

}  // namespace sukima::cli::bench

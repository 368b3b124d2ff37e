// SPDX-License-Identifier: Apache-2.0
// Which CPUs share a core and a memory node, according to hwloc.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli {

/// One CPU, with the kernel's number.
struct cpu_place {
  unsigned cpu;
  unsigned core;  ///< CPUs with the same number share a core
  unsigned node;  ///< NUMA node
};

/// Returns the places of all CPUs of this machine that are online, in the machine's order; empty if hwloc
/// does not know them.
/// \param synthetic a description such as "numa:2 core:4 pu:2" to use instead of the machine; "": the machine
std::vector<cpu_place> read_topology(const std::string& synthetic = {});

/// Chooses `count` CPUs out of `allowed`, from as few memory nodes as possible and from different cores where
/// possible. Returns all of `allowed` if it has no more than that.
std::set<unsigned> choose_cpus(const std::vector<cpu_place>& machine, const std::set<unsigned>& allowed,
                               unsigned count);

/// Returns the CPUs of the kernel's affinity mask of a process; 0: this process.
/// \throws std::system_error
std::set<unsigned> allowed_cpus(int process = 0);

/// Lets this process run on these CPUs only.
/// \throws std::system_error
void pin_to(const std::set<unsigned>& cpus);

/// "0-3,8"
std::string cpu_list_text(const std::set<unsigned>& cpus);

/// Parses the format of cpu_list_text, with at least one CPU and in any order.
/// \return nothing: the text has another format, or a number is too large for this library
std::optional<std::set<unsigned>> read_cpu_list(std::string_view text);

}  // namespace sukima::cli

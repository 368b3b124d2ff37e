// SPDX-License-Identifier: Apache-2.0
// Which CPUs share a core and a memory node, according to hwloc.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sukima::cli {

/// One CPU, as the kernel numbers it.
struct cpu_place {
  unsigned cpu;
  unsigned core;  ///< CPUs with the same number share a core
  unsigned node;  ///< NUMA node
};

/// The places of all CPUs of this machine that are online, in the machine's order; empty if hwloc does not
/// know them.
/// \param synthetic a description such as "numa:2 core:4 pu:2" to use instead of the machine; "" is the
///     machine
std::vector<cpu_place> read_topology(const std::string& synthetic = {});

/// `count` CPUs out of `allowed`: of as few memory nodes as hold them, and of different cores as far as
/// possible. All of `allowed` if there are no more.
std::set<unsigned> choose_cpus(const std::vector<cpu_place>& machine, const std::set<unsigned>& allowed,
                               unsigned count);

/// The CPUs of the affinity mask of a process, 0: of this one, as the kernel has it.
/// \throws std::system_error
std::set<unsigned> allowed_cpus(int process = 0);

/// Lets this process run on these CPUs only.
/// \throws std::system_error
void pin_to(const std::set<unsigned>& cpus);

/// "0-3,8"
std::string cpu_list_text(const std::set<unsigned>& cpus);

/// Reads what cpu_list_text writes, with at least one CPU; in any order.
/// \return nothing: it is no such list, or a number is too large for this library
std::optional<std::set<unsigned>> read_cpu_list(std::string_view text);

}  // namespace sukima::cli

// SPDX-License-Identifier: Apache-2.0
// Problems with the surroundings of a program, and how to solve them.
#pragma once

#include <sukima/capacity.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "capacity/topology.hpp"

namespace sukima::cli::probe {

/// The facts from which the warnings are derived.
struct surroundings {
  sukima_capacity_facts facts{};
  double usable = 1;                ///< CPUs, by the estimate
  unsigned threads = 1;             ///< the number that `sukima run` starts
  std::vector<cpu_place> machine;   ///< empty: unknown
  std::set<unsigned> allowed;       ///< CPUs of the affinity mask; empty: unknown
  std::set<unsigned> memory_nodes;  ///< nodes that memory may come from; empty: unknown
  /// Value of an environment variable of the process; nothing: not set, or unknown.
  std::function<std::optional<std::string>(const std::string&)> variable;
};

struct warning {
  std::string name;    ///< one word for programs, such as "affinity-below-quota"
  std::string text;    ///< the problem, one sentence
  std::string advice;  ///< what to do, one sentence
};

std::vector<warning> warnings_for(const surroundings& place);

/// Returns the surroundings of a process; 0: of this one.
surroundings surroundings_of(pid_t process, const sukima_capacity_facts& facts);

}  // namespace sukima::cli::probe

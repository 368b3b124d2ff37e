// SPDX-License-Identifier: Apache-2.0
// What is wrong with the place that a program runs in, and what to do about it.
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

/// All that warnings are made of.
struct situation {
  sukima_capacity_facts facts{};
  double usable = 1;                ///< CPUs, after all that is known
  std::vector<cpu_place> machine;   ///< empty: unknown
  std::set<unsigned> allowed;       ///< CPUs of the affinity mask; empty: unknown
  std::set<unsigned> memory_nodes;  ///< that memory may come from; empty: unknown
  /// Value of an environment variable of the process; nothing: not set, or unknown.
  std::function<std::optional<std::string>(const std::string&)> variable;
};

struct warning {
  std::string name;    ///< one word for programs, such as "affinity-below-quota"
  std::string text;    ///< what is wrong, one sentence
  std::string advice;  ///< what to do, one sentence
};

std::vector<warning> warnings_on(const situation& place);

/// The situation of a process, 0: of this one.
situation look_at(pid_t process, const sukima_capacity_facts& facts);

}  // namespace sukima::cli::probe

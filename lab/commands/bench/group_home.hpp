// SPDX-License-Identifier: Apache-2.0
// The control group that holds the groups of all runs.
#pragma once

#include <memory>
#include <string>

#include <process/shared/control_group.hpp>

namespace sukima::cli::bench {

struct group_home {
  std::unique_ptr<process::cpu_group> group;
  std::string obstacle;  ///< why there is none, as the end of a sentence; empty: it is there
};

/// Makes the group where one is allowed, and tries it: with a group in it that has a quota and a process.
/// Removes what benchmarks that were killed have left there.
group_home make_group_home();

}  // namespace sukima::cli::bench

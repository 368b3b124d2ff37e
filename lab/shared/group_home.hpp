// SPDX-License-Identifier: Apache-2.0
// The control group that holds the groups of all runs.
#pragma once

#include <memory>
#include <string>

#include "shared/cpu_group.hpp"

namespace sukima::lab {

struct group_home {
  std::unique_ptr<cpu_group> group;
  std::string obstacle;  ///< reason for a missing group, as the end of a sentence; empty if the group exists
};

/// Makes the group in the first place where that is allowed and where a group below it can have a quota and a
/// process. Removes groups that killed measurements left there.
group_home make_group_home();

}  // namespace sukima::lab

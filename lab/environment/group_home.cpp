// SPDX-License-Identifier: Apache-2.0
// Finds a place for control groups and tries it; see group_home.hpp.
#include "shared/group_home.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include <base/shared/child.hpp>

namespace sukima::lab {

group_home make_group_home() {
  std::string reason = "no CPU controller of control groups is mounted and handed down to this group";
  bool first = true;
  for (const group_parent& place : find_group_parents()) {
    remove_leftover_groups(place);
    try {
      auto home = std::make_unique<cpu_group>(place.directory, group_name(getpid()), place.version);
      home->allow_groups_below();
      const cpu_group trial(home->directory(), "trial", home->version());
      trial.set_quota(1);
      process::child_request request;
      request.arguments = {"/bin/sh", "-c", ":"};
      request.cpu_group = trial.processes().string();
      process::run_child(request);
      return {std::move(home), {}};
    } catch (const std::system_error& error) {
      if (first) reason = error.what();
      first = false;
    }
  }
  return {nullptr, fmt::format("no groups for CPU time: {}", reason)};
}

}  // namespace sukima::lab

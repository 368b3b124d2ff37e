// SPDX-License-Identifier: Apache-2.0
// How a node is started on the launcher's own machine.
#pragma once

#include "launch/child.hpp"
#include "launch/meeting.hpp"
#include "shared/launch.hpp"

#include <string>

namespace sukima::cluster {

class local_start {
 public:
  /// \param request      outlives this
  /// \param report_mark  for the reports of the programs
  /// \param ended        the file of the nodes that have ended; null: none
  /// \throws std::system_error, launch_error if no port is free that the request allows
  local_start(const launch_request& request, std::string token, std::string report_mark,
              const ended_nodes* ended);

  /// Returns how to start a node's program, but for its output and its signals.
  child_start node(unsigned number) const;

 private:
  const launch_request& request_;
  const std::string token_;
  const std::string report_mark_;
  const ended_nodes* const ended_;
  const meeting_place place_;
};

}  // namespace sukima::cluster

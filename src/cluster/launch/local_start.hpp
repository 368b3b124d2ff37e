// SPDX-License-Identifier: Apache-2.0
// Starts a node on the launcher's own machine.
#pragma once

#include "launch/child.hpp"
#include "launch/meeting.hpp"
#include "shared/launch.hpp"

#include <string>

namespace sukima::cluster {

class local_start {
 public:
  /// \param request      must outlive this object
  /// \param report_mark  the mark of the programs' reports
  /// \param ended        the file of the nodes that have ended; null: none
  /// \throws std::system_error no socket can be opened
  /// \throws launch_error none of the requested ports is free
  local_start(const launch_request& request, std::string token, std::string report_mark,
              const ended_nodes* ended);

  /// Returns how to start the program of a node, except its output and its signals.
  child_start node(unsigned number) const;

 private:
  const launch_request& request_;
  const std::string token_;
  const std::string report_mark_;
  const ended_nodes* const ended_;
  const meeting_place place_;
};

}  // namespace sukima::cluster

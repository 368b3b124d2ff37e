// SPDX-License-Identifier: Apache-2.0
// All parts of a runtime that code may use without owning them (runtime_core.hpp): for entry, start and end.
#pragma once

#include "join/join_parts.hpp"

#include <utility>

namespace sukima::detail {

class decision_log;
class lifecycle;
class monitor;
class runtime_entries;
class worker_controller;
class worker_threads;

struct runtime_parts : join_parts {
  worker_threads& threads;
  runtime_entries& entries;
  lifecycle& cycle;
  worker_controller& controller;
  monitor& monitor_thread;
  decision_log& decisions;

 protected:
  /// \param lower  the arguments of the layer below
  template <class... Lower>
  explicit runtime_parts(worker_threads& threads_part, runtime_entries& entries_part, lifecycle& cycle_part,
                         worker_controller& controller_part, monitor& monitor_thread_part,
                         decision_log& decisions_part, Lower&&... lower)
      : join_parts(std::forward<Lower>(lower)...),
        threads(threads_part),
        entries(entries_part),
        cycle(cycle_part),
        controller(controller_part),
        monitor_thread(monitor_thread_part),
        decisions(decisions_part) {}
};

}  // namespace sukima::detail

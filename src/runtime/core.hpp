// SPDX-License-Identifier: Apache-2.0
// The runtime that workers share: it owns the parts, and what they do is theirs.
#pragma once

#include "assert.hpp"
#include "cancel/abort.hpp"
#include "cancel/suspensions.hpp"
#include "choice/poll.hpp"
#include "control/blocking_compensation.hpp"
#include "control/cpu_shortage.hpp"
#include "control/decision_log.hpp"
#include "control/monitor.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "fiber/fiber.hpp"
#include "fiber/suspend.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "join/join.hpp"
#include "lifecycle.hpp"
#include "observe/trace.hpp"
#include "park/park.hpp"
#include "park/wait_policy.hpp"
#include "place/hints.hpp"
#include "remote/remote_interface.hpp"
#include "rest/rest_mark.hpp"
#include "settings.hpp"
#include "steal/injector.hpp"
#include "steal/splittable_fibers.hpp"
#include "steal/steal.hpp"
#include "stress.hpp"
#include "tuning.hpp"
#include "worker.hpp"

#include <sukima/detail/ambient.hpp>
#include <sukima/runtime.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

struct runtime_core {
  /// \param most_workers background threads and one entering thread; what the settings left open is decided
  /// \param capacity     where it has been read already; else null
  runtime_core(const settings& s, unsigned most_workers, capacity_handle capacity);
  ~runtime_core();
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;

  const settings chosen;
  tuned_ticks tuned;  ///< not changed once threads run
  /// Thieves or a node ask workers: with settings::published_tasks 0, or once a node is attached.
  /// no partner: a worker that reads the old value is asked from its next search on
  std::atomic<bool> workers_are_asked;
  const std::uint64_t request_interval;  ///< settings::request_interval_us in ticks
  const unsigned worker_limit;  ///< background threads + one entering thread
  const std::uint64_t serial;  ///< differs from that of every other runtime of the process

  [[no_unique_address]] rest_events rest;
  fiber_pool fibers{*this, chosen.stack, chosen.choices};
  fiber_pool bound_fibers{*this, tuning::bound_stack, chosen.choices};  ///< small ones, of executors
  worker_table workers{*this};
  lifecycle life{*this};
  parking park{*this};
  injector_queue injector{*this};
  launched_futures launched{*this};
  splittable_fibers splittable{*this};
  cancellable_suspensions suspensions{*this};
  parked_fibers parked;
  remote_interface remote{*this};
  placement_hints hints{*this};
  decision_log decisions{serial};
  cpu_shortage shortage{*this};
  worker_placement placement{*this};
  blocking_compensation blocking{*this};
  worker_controller controller{*this};
  monitor monitor_thread{*this};
};

}  // namespace sukima::detail

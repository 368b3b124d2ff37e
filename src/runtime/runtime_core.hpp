// SPDX-License-Identifier: Apache-2.0
// The rooms of a runtime: through them, code that has a fiber or a worker finds the parts of its runtime.
//
// This header names each part and defines none. A file that uses a part includes the header of that part, and
// scripts/check-includes.py allows only the headers of the file's own layer and of the layers below it. So a
// file may have a reference to a part and yet be unable to use it. The parts themselves receive the parts
// that they use in their constructors. One class owns all of them (whole_runtime.hpp).
#pragma once

#include "constants.hpp"
#include "end_state.hpp"
#include "invariants/rest_mark.hpp"
#include "worker_target.hpp"

#include <sukima/settings.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

class assigned_cpus;
class cancellable_suspensions;
class compensation;
class cpu_pressure;
class decision_log;
class fiber_pool;
class future_source;
class injector_queue;
class launched_futures;
class lifecycle;
class monitor;
class node_events;
class parked_fibers;
class parking;
class place_events;
class runtime_entries;
class splittable_fibers;
class worker_controller;
class worker_table;
class worker_threads;

struct root_task;

struct runtime_rooms {
  fiber_pool& fibers;
  fiber_pool& bound_fibers;  ///< small ones, of executors
  worker_table& workers;
  worker_threads& threads;
  runtime_entries& entries;
  lifecycle& cycle;
  parking& park;
  injector_queue& injector;
  launched_futures& launched;
  future_source& unbegun;  ///< the same object, by the interface for idle workers
  splittable_fibers& splittable;
  cancellable_suspensions& suspensions;
  parked_fibers& parked;
  node_events& remote;
  place_events& hints;
  decision_log& decisions;
  cpu_pressure& shortage;
  assigned_cpus& placement;
  compensation& blocking;
  worker_controller& controller;
  monitor& monitor_thread;
};

/// The values that the settings and the machine have determined for a runtime, and its rooms.
struct runtime_core : runtime_rooms {
  /// \param most_workers  background threads and one entering thread. The constructor decides what the
  /// settings left open
  runtime_core(const settings& s, unsigned most_workers, const runtime_rooms& rooms);
  virtual ~runtime_core() = default;
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;

  const settings chosen;
  tuned_ticks tuned;  ///< not changed once threads run
  /// Whether thieves or a node ask workers for tasks: with settings::published_tasks 0, or once a node is
  /// attached.
  /// no partner: a worker that reads the old value is asked from its next search on
  std::atomic<bool> workers_are_asked;
  const std::uint64_t request_interval;  ///< settings::request_interval_us in ticks
  const unsigned worker_limit;  ///< background threads + one entering thread
  const std::uint64_t serial;  ///< differs from that of every other runtime of the process
  lifetime life;
  worker_target target;  ///< how many workers may run now
  [[no_unique_address]] rest_events rest;
};

/// The calling thread becomes a worker of the runtime during the call (entries.cpp). \throws as
/// runtime_entries::enter
void enter(runtime_core& r, root_task& root);

}  // namespace sukima::detail

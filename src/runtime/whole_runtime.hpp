// SPDX-License-Identifier: Apache-2.0
// The complete runtime that workers share: the class that owns all parts. Only code that makes a runtime
// includes this header (scripts/check-includes.py has the list). All other code reaches the parts that its
// layer may use (runtime_core.hpp).
#pragma once

#include "cancel/suspensions.hpp"
#include "control/blocking_compensation.hpp"
#include "control/capacity_handle.hpp"
#include "control/cpu_shortage.hpp"
#include "control/decision_log.hpp"
#include "control/monitor.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "control/worker_threads.hpp"
#include "entries.hpp"
#include "fiber/fiber.hpp"
#include "future/future.hpp"
#include "join/join.hpp"
#include "lifecycle.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "remote/remote_interface.hpp"
#include "runtime_parts.hpp"
#include "steal/injector.hpp"
#include "steal/splittable_fibers.hpp"
#include "worker.hpp"

namespace sukima::detail {

class whole_runtime final : public runtime_parts {
 public:
  /// \param most_workers as runtime_core
  /// \param capacity     the capacity, if it has been read already; otherwise null
  whole_runtime(const settings& s, unsigned most_workers, capacity_handle capacity);
  ~whole_runtime() override;
  whole_runtime(const whole_runtime&) = delete;
  whole_runtime& operator=(const whole_runtime&) = delete;

 private:
  fiber_pool fibers_{*this, chosen, chosen.stack};
  fiber_pool bound_fibers_{*this, chosen, tuning::bound_stack};
  worker_table workers_{worker_origin{*this, chosen, serial, rest}};
  worker_threads threads_{workers_, background_main};
  runtime_entries entries_{serial, tuned, workers_, life, park_, monitor_thread_, placement_, hints_};
  lifecycle cycle_{workers_, threads_, controller_, monitor_thread_, launched_, remote_, life, entries_};
  parking park_{chosen, tuned, workers_, life, launched_, shortage_, placement_, remote_};
  injector_queue injector_{chosen, park_, hints_};
  launched_futures launched_{chosen, workers_, park_, hints_,
                             abort_listeners{workers_, suspensions_, remote_}};
  splittable_fibers splittable_{chosen};
  cancellable_suspensions suspensions_;
  parked_fibers parked_;
  remote_interface remote_{chosen, workers_, park_, injector_, workers_are_asked};
  placement_hints hints_{chosen, tuned, workers_, launched_, injector_, shortage_, placement_};
  decision_log decisions_{serial};
  cpu_shortage shortage_{workers_, placement_, controller_, decisions_, serial};
  worker_placement placement_{chosen, workers_, target, park_, shortage_, decisions_};
  blocking_compensation blocking_{controller_, target, monitor_thread_};
  worker_controller controller_{chosen, worker_limit, workers_,  threads_,
                                target, life,         blocking_, decisions_};
  monitor monitor_thread_{chosen, workers_, park_, blocking_, controller_, shortage_, placement_, hints_};
};

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// Settings of a runtime, and the environment variables that set them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sukima {
/// \addtogroup runtime
/// @{

/// How a thread waits at a wait point.
enum class wait_policy {
  adaptive,  ///< searches for about as long as a wake-up costs, then sleeps
  block,     ///< sleeps at once
  spin,      ///< never sleeps
  pause,     ///< never sleeps; executes the CPU's pause instruction at each turn
  yield,     ///< never sleeps; calls sched_yield at each turn
  condvar,   ///< sleeps at once, on a mutex and a condition variable instead of a futex: for comparison
  inherit,  ///< sleeps at once; the awaited worker inherits the waiting thread's priority, if higher
};

/// The points at which a thread of the runtime can wait. docs/waiting.md lists what ends each wait.
enum class wait_point {
  idle,  ///< for work
  result,  ///< for the end of a task that was stolen, at its join, if there is no other work
  reply,  ///< steal protocol `request`: for the reply of the victim that was asked
  refusal,  ///< for that reply when it is no longer wanted
  start,  ///< a surplus worker: until it may run
  lock,  ///< for the short lock around the injector queue
};
inline constexpr unsigned wait_points = 6;

/// Whether a worker stays on one CPU.
enum class pin_policy {
  adaptive,  ///< each on one of its own while CPU is short and there is a worker for each CPU, else on none
  none,  ///< wherever the kernel puts it
  cpu,  ///< worker i on the i-th CPU of the process's affinity mask; threads that enter are left alone
};

/// How an idle worker chooses its first victim.
enum class victim_policy {
  random,
  last,  ///< the worker that gave it its last task, while there is more; else at random
  weighted,  ///< with probabilities in proportion to what the workers' tasks have set by `set_weight`
};

/// The effect of hints that say where to compute (`sukima::on`).
enum class placement_policy {
  off,  ///< hints have no effect, and functions that return places are not called
  prefer,  ///< idle workers take first the work that should run near them
  exchange,  ///< also, two workers that run each other's work exchange it
  /// As prefer, and a future that is launched with a hint waits in a queue of its place, from which only
  /// workers of that place take. It needs unbounded space: for comparison only (docs/futures.md).
  queue,
};

/// Settings of a runtime. Each has an environment variable, named in brackets, that `from_environment` reads.
struct settings {
  /// Workers, the entering thread included [SUKIMA_WORKERS, 1 … 1024]; 0: as many as there are usable CPUs.
  unsigned workers = 0;
  /// At all wait points that `wait_at` does not name [SUKIMA_WAIT: a policy, or several parts such as
  /// adaptive,reply=spin,lock=pause; policies: adaptive, block, spin, pause, yield, condvar, inherit; points
  /// as in wait_point].
  wait_policy wait = wait_policy::adaptive;
  /// Policies of single wait points.
  std::array<std::optional<wait_policy>, wait_points> wait_at{};
  wait_policy policy_at(wait_point point) const noexcept {
    return wait_at[static_cast<unsigned>(point)].value_or(wait);
  }
  /// Tasks that each worker keeps published ahead of demand, 1 … 8; 0: none, thieves ask one victim and wait
  /// for its reply [SUKIMA_STEAL: publish:K, request, indolent:T].
  unsigned published_tasks = 3;
  /// With `published_tasks` 0: no worker is asked again before this many microseconds have passed since it
  /// last replied, 1 … 10000; 0: as soon as a worker wants a task [SUKIMA_STEAL=indolent:T].
  unsigned request_interval_us = 0;
  /// Nanoseconds of work below a call for which its sequential clone runs, 1 … 1000000000; 0: never. Up to 16
  /// times as many while no other worker wants work (docs/clones.md)
  /// [SUKIMA_CLONES: auto, off, or a time such as 5us, 20us or 1ms].
  unsigned clones_ns = 20'000;
  /// [SUKIMA_VICTIM: random, last, weighted]
  victim_policy victim = victim_policy::random;
  /// [SUKIMA_PIN: adaptive, none, cpu]
  pin_policy pin = pin_policy::adaptive;
  /// [SUKIMA_PLACEMENT: off, prefer, exchange, queue]
  placement_policy placement = placement_policy::exchange;
  /// Nanoseconds for which work runs outside its place before its worker looks for a worker to exchange it
  /// with, 0 … 64000000 [SUKIMA_HINT_THRESHOLD: 0, or a time such as 16us or 1ms]. Shorter work does not
  /// move.
  unsigned hint_threshold_ns = 16'000;
  /// Bytes of address space of a fiber's C stack [SUKIMA_STACK, 16K … 64G, suffixes K, M, G]. Up to 64K
  /// fibers are *small*: 100,000 of them fit into a gigabyte, forks on them cost more.
  std::size_t stack = std::size_t{256} << 20;
  /// Bytes of address space for a fiber's pending forks [SUKIMA_CHOICES, 16K … 64M].
  std::size_t choices = std::size_t{64} << 20;
  /// If this many fibers are parked at joins, waiting workers take only tasks that end such a wait
  /// [SUKIMA_FIBERS, 1 … 1000000].
  std::size_t fibers = 4096;

  /// Adapt the number of workers to the CPUs that are usable: the worker controller reads affinity, cpusets
  /// and CPU quotas a few times a second, and surplus workers sleep. `workers` is then the most that run
  /// [SUKIMA_ELASTIC: on or off].
  bool elastic = true;
  /// With `elastic`: run only as many workers as can use the CPU that visible neighbours leave
  /// [SUKIMA_ELASTIC=neighbours]. This leaves more CPU to other programs; the program may end later, because
  /// it takes half a second to notice that a neighbour has ended.
  bool neighbours = false;

  /// Called by each of the runtime's own threads when it starts, before it runs any task, and when it ends,
  /// after its last one; with the number that `worker_id` has for it. For what belongs to a thread: its name,
  /// its priority, a device, a connection, the attachment to a virtual machine (as TBB's
  /// task_scheduler_observer and rayon's start_handler).
  ///
  /// Threads start when the runtime does, and later where more workers are wanted; surplus workers sleep and
  /// do not end. All have ended when `shutdown` or the destructor returns; those of the default runtime never
  /// do. Threads that enter by `run` are the program's own: what they need can be done around `run`. The
  /// functions must not throw (that ends the program) nor use the runtime, and are called by several threads
  /// at the same time.
  std::function<void(int worker)> on_worker_start;
  std::function<void(int worker)> on_worker_end;

  /// The defaults, changed by the environment.
  /// \throws bad_setting naming the variable, the value and what is accepted
  static settings from_environment();
  /// Checks the ranges. \throws bad_setting
  void check() const;
  /// One line for people: "workers=2 wait=adaptive …".
  std::string text() const;
};

/// @}
}  // namespace sukima

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

/// The ways in which a thread waits at a wait point.
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
/// The number of wait points.
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
  exchange,  ///< as prefer, and two workers that run work for each other's place exchange it
  /// As prefer, and a future that is launched with a hint waits in a queue of its place, from which only
  /// workers of that place take. It needs unbounded space: for comparison only (docs/futures.md).
  queue,
};

/// Settings of a runtime. Each has an environment variable, named in brackets, that `from_environment` reads.
struct settings {
  /// The largest accepted number of workers.
  static constexpr unsigned most_workers = 1024;
  /// Workers, the entering thread included [SUKIMA_WORKERS, 1 … 1024]; 0: as many as there are usable CPUs.
  unsigned workers = 0;
  /// The policy at all wait points that `wait_at` does not name [SUKIMA_WAIT: a policy, or several parts such
  /// as adaptive,reply=spin,lock=pause; policies: adaptive, block, spin, pause, yield, condvar, inherit;
  /// points as in wait_point].
  wait_policy wait = wait_policy::adaptive;
  /// Policies of single wait points.
  std::array<std::optional<wait_policy>, wait_points> wait_at{};
  /// Returns the policy in force at a wait point.
  wait_policy policy_at(wait_point point) const noexcept {
    return wait_at[static_cast<unsigned>(point)].value_or(wait);
  }
  /// How many tasks each worker keeps published before any thief asks, 1 … 8. 0: none; a thief asks one
  /// victim and waits for its reply [SUKIMA_STEAL: publish:K, request, indolent:T].
  unsigned published_tasks = 3;
  /// With `published_tasks` 0: how many microseconds after its last reply a worker may be asked again, 1 …
  /// 10000. 0: at once [SUKIMA_STEAL=indolent:T].
  unsigned request_interval_us = 0;
  /// A call whose work takes fewer nanoseconds than this runs as its sequential clone, 1 … 1000000000; 0:
  /// never. The limit is up to 16 times as high while no other worker wants work (docs/clones.md)
  /// [SUKIMA_CLONES: auto, off, or a time such as 5us, 20us or 1ms].
  unsigned clones_ns = 20'000;
  /// How idle workers choose their first victim [SUKIMA_VICTIM: random, last, weighted].
  victim_policy victim = victim_policy::random;
  /// Whether workers stay on one CPU [SUKIMA_PIN: adaptive, none, cpu].
  pin_policy pin = pin_policy::adaptive;
  /// The effect of hints where to compute [SUKIMA_PLACEMENT: off, prefer, exchange, queue].
  placement_policy placement = placement_policy::exchange;
  /// After how many nanoseconds outside its place work is offered to another worker, 0 … 64000000
  /// [SUKIMA_HINT_THRESHOLD: 0, or a time such as 16us or 1ms]. Shorter work does not move.
  unsigned hint_threshold_ns = 16'000;
  /// Bytes of address space of a fiber's C stack [SUKIMA_STACK, 16K … 64G, suffixes K, M, G]. Fibers with up
  /// to 64K are *small*: 100,000 of them fit into a gigabyte, but their forks cost more.
  std::size_t stack = std::size_t{256} << 20;
  /// Bytes of address space for a fiber's pending forks [SUKIMA_CHOICES, 16K … 64M].
  std::size_t choices = std::size_t{64} << 20;
  /// If this many fibers are parked at joins, waiting workers take only tasks that end such a wait
  /// [SUKIMA_FIBERS, 1 … 1000000].
  std::size_t fibers = 4096;

  /// Whether the number of workers follows the usable CPUs: the worker controller reads affinity, cpusets and
  /// CPU quotas a few times a second, and surplus workers sleep. `workers` is then the largest number
  /// [SUKIMA_ELASTIC: on or off].
  bool elastic = true;
  /// With `elastic`: whether only as many workers run as can use the CPU that visible other programs leave
  /// [SUKIMA_ELASTIC=neighbours]. The others then get more CPU. This program may end later, because it takes
  /// half a second to notice that another one has ended.
  bool neighbours = false;

  /// A function that each of the runtime's own threads calls when it starts, before its first task. The
  /// argument is the worker's `worker_id`. Use it and `on_worker_end` for the state of a thread: its name,
  /// its priority, a device, a connection, the attachment to a virtual machine. TBB's task_scheduler_observer
  /// and rayon's start_handler have the same purpose.
  ///
  /// Threads start with the runtime, and later when more workers are needed. Surplus workers sleep and do not
  /// end. All threads have ended when `shutdown` or the destructor returns; the default runtime's never end.
  /// Threads that enter by `run` are the program's own, so the functions are not called for them.
  ///
  /// Several threads call the functions at the same time. The functions must not use the runtime, and must
  /// not throw: an exception ends the program.
  std::function<void(int worker)> on_worker_start{};
  /// A function that each of the runtime's own threads calls when it ends, after its last task; see
  /// `on_worker_start`.
  std::function<void(int worker)> on_worker_end{};

  /// Returns the defaults, changed by the environment.
  /// \throws bad_setting; its text names the variable, the value and the accepted values
  static settings from_environment();
  /// Checks that each setting is in its range. \throws bad_setting
  void check() const;
  /// Returns the settings as one line for people: "workers=2 wait=adaptive …". \throws std::bad_alloc
  std::string text() const;
};

/// @}
}  // namespace sukima

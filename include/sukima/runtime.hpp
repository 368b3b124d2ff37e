// SPDX-License-Identifier: Apache-2.0
// Runtimes: the workers that run tasks, and their settings.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/errors.hpp>
#include <sukima/settings.hpp>
#include <sukima/statistics.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sukima {

namespace detail {
struct runtime_core;
class rest_check;
class remote_access;
class default_slot;
}  // namespace detail

class runtime;

namespace detail {
/// Calls f with the default runtime, which is not replaced and freed during the call. f must not enter it.
/// \throws as the constructor of `runtime`, if there is none yet; what f throws
void use_default_runtime(const std::function<void(runtime&)>& f);
/// Ends the default runtime, if there is one, and starts another with this number of workers.
/// \returns false, with nothing changed, if a thread is inside it or about to enter, if something that was
///          launched there has not ended, or if a node is attached to it
/// \throws as the constructor of `runtime`; there is no default runtime then, and its next use starts one
bool renew_default_runtime(unsigned workers);

}  // namespace detail

/// \addtogroup runtime
/// @{

/// A decision that a runtime made by itself.
struct decision {
  std::chrono::steady_clock::time_point when{};  ///< the time of the decision
  /// The setting that changed. "workers": how many may run; "spinning": whether idle workers search before
  /// they sleep (0 or 1); "assigned_cpu": whether each worker is pinned to a CPU of its own (0 or 1).
  std::string setting{};
  unsigned before = 0;  ///< value before the decision
  unsigned after = 0;  ///< value after it
  std::string reason{};  ///< one sentence
};

/// A set of workers that run forks. A program need not make one: calls without a runtime use the default one,
/// which starts at its first use. Several runtimes may exist. Any number of ordinary threads may use one at
/// the same time, and workers of one may enter another.
class runtime {
 public:
  /// Starts the workers, in less than a millisecond.
  /// \throws bad_setting a setting, or the environment variable that gives it, has a value that is not
  /// accepted
  /// \throws std::system_error no memory for a fiber. If threads cannot be started, fewer workers run, and
  /// `decisions` records that
  explicit runtime(const settings& chosen = settings::from_environment());
  /// Waits until all calls of `run` have returned, then ends the workers.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  /// Calls f on this thread, which is a worker during the call, and returns the result of f. Other workers
  /// may take forks of f. On a worker of this runtime f becomes a part of the running computation.
  /// \param f takes a context, or nothing
  /// \throws what f throws; usage_error in a child process that enters its parent's runtime after fork()
  template <class F, class Checks = detail::checks>
    requires detail::callable_with<F>
  detail::result_of<F> run(F&& f) {
    auto body = [&](context c) -> decltype(auto) { return detail::call(c, std::forward<F>(f)); };
    detail::root_of<decltype(body)> root(body);
    enter(root);
    return root.take();
  }

  /// Waits until all calls of `run` have returned, then ends the workers. Later calls of `run` throw
  /// usage_error. Several threads may call it at once: each call returns when the workers have ended.
  /// \throws usage_error on one of its own workers
  void shutdown();

  /// Returns the largest number of workers that the runtime uses at a time, the calling thread included.
  unsigned workers() const noexcept;
  /// Limits the number of workers that run from now on. Any thread may call this at any time. Surplus workers
  /// stop at their next poll and continue when the limit is raised or removed. Threads that enter always run.
  /// If a thread cannot be started, fewer workers run, and `decisions` records that; the next call tries
  /// again.
  /// \param most 0 removes the limit
  /// \throws usage_error after fork() in a child process, which has none of the workers
  void limit_workers(unsigned most);
  /// Returns the number of workers that may run now. It changes while the program runs, and is less than
  /// `workers` if affinity, cpusets or quotas leave less CPU (see settings::elastic).
  unsigned workers_now() const noexcept;
  /// Returns what the runtime has decided by itself since its start, the oldest decision first, each with its
  /// reason: at least the latest 5,000.
  /// \throws usage_error after fork() in a child process
  std::vector<decision> decisions() const {
    std::vector<decision> made;
    visit_decisions([](void* to, const decision& d) { static_cast<decltype(made)*>(to)->push_back(d); },
                    &made);
    return made;
  }
  /// Returns the counts since the start. Any thread. \throws std::bad_alloc
  struct statistics statistics() const;
  /// Returns the settings in force. The reference is valid as long as the runtime.
  const settings& chosen() const noexcept;

 private:
  friend class detail::rest_check;
  friend class detail::remote_access;
  friend class detail::default_slot;
  void enter(detail::root_task& root);
  /// Calls `add` with each decision. The vector that decisions() returns is made by the program, because
  /// _GLIBCXX_DEBUG changes its layout there and not in the library.
  void visit_decisions(void (*add)(void* to, const decision&), void* to) const;
  std::unique_ptr<detail::runtime_core> core_;
};

/// Returns the runtime that calls without one use, and starts it at the first call. The reference is valid
/// until the end of the process, unless `sukima_workers_set` replaces the runtime.
/// \throws as the constructor
runtime& default_runtime();

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup runtime
/// @{

/// Calls default_runtime().run(f). On a worker of any runtime f becomes a part of the running computation.
/// \param f takes a context, or nothing
/// \returns what f returns
/// \throws as default_runtime() and runtime::run
template <class F>
  requires detail::callable_with<F>
detail::result_of<F> run(F&& f) {
  auto body = [&](context c) -> detail::result_of<F> { return detail::call(c, std::forward<F>(f)); };
  return detail::with_context(body);
}

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace sukima {
/// \addtogroup runtime
/// @{

/// Returns the number of the worker that runs this code, from 0; −1 on an ordinary thread. The code may run
/// on another worker after a fork or a join.
int worker_id() noexcept;

/// Sets how much work thieves can take from the caller. With SUKIMA_VICTIM=weighted, idle workers try this
/// worker first with a probability in proportion to it. The weight holds for the fiber that runs the calling
/// task, until it is changed or the fiber ends; a new fiber has 1. No effect on an ordinary thread.
/// \param weight 0 or less, and NaN: 0; more than 1e9: 1e9
void set_weight(double weight) noexcept;

/// @}
}  // namespace sukima

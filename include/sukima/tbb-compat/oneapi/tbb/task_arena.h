// SPDX-License-Identifier: Apache-2.0
// tbb::task_arena and tbb::this_task_arena on Sukima's runtimes.
#pragma once

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/control.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::detail::tbb {

/// Tasks for which no code waits. An exception of such a task ends the program.
class loose_tasks {
 public:
  template <class F> static void enqueue(F&& f, arena& where) {
    auto tasks = group();
    auto ends_at_exception = [f = std::decay_t<F>(std::forward<F>(f))]() noexcept { f(); };
    tasks->add(
        std::make_unique<function_task<decltype(ends_at_exception)>>(tasks, std::move(ends_at_exception)),
        where);
  }
  /// The same for a task of a group.
  static void enqueue(::tbb::task_handle&& h, arena& where) { group()->add(handle_access::take(h), where); }

 private:
  /// Makes a list for one task, because a common list would bind all tasks to one arena.
  static std::shared_ptr<group_tasks> group() {
    static ::tbb::task_group_context& of =
        *new ::tbb::task_group_context(::tbb::task_group_context::isolated);
    return std::make_shared<group_tasks>(context_access::state(of), &of);
  }
};

struct arena_access;

/// Calls f on this thread as a part of an arena. \returns what f returns \throws what f throws
template <class F> std::invoke_result_t<F&> execute_in(arena& where, F& f) {
  running_state inside = running();
  inside.where = where.as_running();
  const outside_call noted;
  const auto body = [&]() -> std::invoke_result_t<F&> {
    return thread_bound([&]() -> std::invoke_result_t<F&> {
      const running_scope scope(inside);
      return f();
    });
  };
  return where.on().run(body);
}

}  // namespace sukima::detail::tbb

namespace tbb {

/// A number of workers for the tasks that are started in it.
class task_arena {
 public:
  static constexpr int automatic = -1;
  static constexpr int not_initialized = -2;
  enum class priority : int { low = 1, normal = 2, high = 3 };

  /// The wishes of an arena. Sukima places work by itself, so only max_concurrency has an effect.
  struct constraints {
    constraints(numa_node_id id = automatic, int most = automatic)  // NOLINT(google-explicit-constructor)
        : numa_id(id), max_concurrency(most) {}
    constraints& set_numa_id(numa_node_id id) {
      numa_id = id;
      return *this;
    }
    constraints& set_max_concurrency(int most) {
      max_concurrency = most;
      return *this;
    }
    constraints& set_core_type(core_type_id id) {
      core_type = id;
      return *this;
    }
    constraints& set_max_threads_per_core(int threads) {
      max_threads_per_core = threads;
      return *this;
    }
    numa_node_id numa_id = automatic;
    int max_concurrency = automatic;
    core_type_id core_type = automatic;
    int max_threads_per_core = automatic;
  };
  using attach = ::tbb::attach;

  task_arena(int max_concurrency = automatic,  // NOLINT(google-explicit-constructor)
             unsigned reserved_for_masters = 1, priority p = priority::normal)
      : concurrency_(max_concurrency) {
    static_cast<void>(reserved_for_masters);
    static_cast<void>(p);
  }
  task_arena(constraints wanted,  // NOLINT(google-explicit-constructor)
             unsigned reserved_for_masters = 1, priority p = priority::normal)
      : task_arena(wanted.max_concurrency, reserved_for_masters, p) {}
  /// The arena of the caller.
  explicit task_arena(attach) { attach_here(); }
  /// A new arena with the same settings.
  task_arena(const task_arena& other) : concurrency_(other.concurrency_) {}
  task_arena& operator=(const task_arena&) = delete;
  ~task_arena() { terminate(); }

  void initialize() { static_cast<void>(get()); }
  void initialize(int max_concurrency, unsigned = 1, priority = priority::normal) {
    if (is_active()) return;
    concurrency_ = max_concurrency;
    initialize();
  }
  void initialize(constraints wanted, unsigned reserved = 1, priority p = priority::normal) {
    initialize(wanted.max_concurrency, reserved, p);
  }
  void initialize(attach) {
    if (!is_active()) attach_here();
  }
  /// Releases the arena. Enqueued tasks still run.
  void terminate() {
    const std::lock_guard hold(lock_);
    if (where_ != nullptr && owns_) ::sukima::detail::tbb::controls().give_back(*where_);
    where_ = nullptr;
  }
  bool is_active() const {
    const std::lock_guard hold(lock_);
    return where_ != nullptr;
  }

  /// Calls f on this thread, in the arena.
  template <class F> auto execute(F&& f) -> std::invoke_result_t<F&> {
    return ::sukima::detail::tbb::execute_in(get(), f);
  }
  /// Lets a worker of the arena call f later.
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, task_handle>)
  void enqueue(F&& f) {
    ::sukima::detail::tbb::loose_tasks::enqueue(std::forward<F>(f), get());
  }
  void enqueue(task_handle&& h) { ::sukima::detail::tbb::loose_tasks::enqueue(std::move(h), get()); }
  template <class F> void enqueue(F&& f, task_group& group) { enqueue(group.defer(std::forward<F>(f))); }
  task_group_status wait_for(task_group& group) {
    return execute([&] { return group.wait(); });
  }
  int max_concurrency() const {
    const std::lock_guard hold(lock_);
    if (where_ != nullptr) return where_->concurrency();
    return concurrency_ > 0 ? concurrency_ : info::default_concurrency();
  }

 private:
  friend struct ::sukima::detail::tbb::arena_access;
  using arena = ::sukima::detail::tbb::arena;

  void attach_here() {
    const std::lock_guard hold(lock_);
    where_ = &::sukima::detail::tbb::arena_here();
    owns_ = false;
  }
  arena& get() {
    const std::lock_guard hold(lock_);
    if (where_ == nullptr) {
      owns_ = concurrency_ > 0;
      where_ = owns_ ? &::sukima::detail::tbb::controls().take_arena(static_cast<unsigned>(concurrency_))
                     : &::sukima::detail::tbb::default_arena();
    }
    return *where_;
  }

  mutable std::mutex lock_;  // guards the other members
  int concurrency_ = automatic;
  arena* where_ = nullptr;
  bool owns_ = false;
};

}  // namespace tbb

namespace sukima::detail::tbb {
struct arena_access {
  /// Returns the arena; null for the default one.
  static arena* get(::tbb::task_arena& a) { return a.get().as_running(); }
};
}  // namespace sukima::detail::tbb

namespace tbb {

/// Makes an arena for each NUMA node.
inline std::vector<task_arena> create_numa_task_arenas(task_arena::constraints other = {},
                                                       unsigned reserved_slots = 0) {
  std::vector<task_arena> all;
  for (const numa_node_id node : info::numa_nodes())
    all.emplace_back(task_arena::constraints(other).set_numa_id(node), reserved_slots);
  return all;
}

namespace this_task_arena {

/// Returns the number of the worker that runs the caller; task_arena::not_initialized outside all arenas.
inline int current_thread_index() {
  const int id = ::sukima::worker_id();
  return id >= 0 ? id : task_arena::not_initialized;
}
inline int max_concurrency() { return ::sukima::detail::tbb::arena_here().concurrency_now(); }

/// Calls f. A wait in f runs only tasks for which it waits, as every wait does here.
template <class F> auto isolate(F&& f) -> std::invoke_result_t<F&> { return f(); }

template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, task_handle>)
void enqueue(F&& f) {
  ::sukima::detail::tbb::loose_tasks::enqueue(std::forward<F>(f), ::sukima::detail::tbb::arena_here());
}
inline void enqueue(task_handle&& h) {
  ::sukima::detail::tbb::loose_tasks::enqueue(std::move(h), ::sukima::detail::tbb::arena_here());
}
template <class F> void enqueue(F&& f, task_group& group) { enqueue(group.defer(std::forward<F>(f))); }

}  // namespace this_task_arena

namespace info {
inline int default_concurrency(const task_arena::constraints& wanted) {
  return wanted.max_concurrency > 0 ? wanted.max_concurrency : default_concurrency();
}
}  // namespace info

}  // namespace tbb

// SPDX-License-Identifier: Apache-2.0
// Arenas of the TBB headers: each is a runtime, and the groups that have tasks for its workers.
#pragma once

#include <sukima/detail/pool.hpp>
#include <sukima/detail/tbb/running.hpp>
#include <sukima/runtime.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace sukima::detail::tbb {

class arena;

/// An object with tasks that any worker may take.
class task_source {
 public:
  task_source() = default;
  task_source(const task_source&) = delete;
  task_source& operator=(const task_source&) = delete;
  virtual ~task_source() = default;
  /// Runs the oldest task, if there is one. If the source has more tasks, it first goes back into the queue.
  /// A source without tasks leaves the queue until it calls `arena::offer` again.
  virtual void run_oldest(context c, arena& where, const std::shared_ptr<task_source>& self) noexcept = 0;
};

/// A runtime, and the groups that have tasks in it.
///
/// Groups wait in a queue. *Drainers*, which are tasks of the runtime's pool, run the tasks of the groups.
/// There are at most as many drainers as workers. A drainer that ends checks the queue once more after it is
/// no longer counted, because a group may have come before that and started no drainer of its own.
class arena {
 public:
  explicit arena(runtime& on) : runtime_(on) {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() = default;

  runtime& on() const noexcept { return runtime_; }
  int concurrency() const noexcept { return static_cast<int>(runtime_.workers()); }
  /// The same, but counts the pool's thread if it runs tasks beside the only worker, the caller of `execute`.
  int concurrency_now() const noexcept {
    return concurrency() == 1 && drainers_.load(std::memory_order_seq_cst) > 0 ? 2 : concurrency();
  }

  /// The value for running_state: null for the default arena.
  arena* as_running() noexcept;

  /// Adds a group that has tasks. \param first  in front of the others, for a drainer that gives it back
  void offer(std::shared_ptr<task_source> source, bool first = false) {
    {
      const std::lock_guard hold(lock_);
      if (first)
        sources_.push_front(std::move(source));
      else
        sources_.push_back(std::move(source));
    }
    call_drainer();
  }
  /// Called when a group in the queue has one more task.
  void call_drainer() noexcept {
    if (drainers_.load(std::memory_order_seq_cst) >= concurrency()) return;
    auto* const item = new (std::nothrow) drainer(*this);
    if (item == nullptr) return;  // the waiting threads run the tasks
    drainers_.fetch_add(1, std::memory_order_seq_cst);
    pool().push(*item);
  }

  /// While an object of this class exists, the calling task waits, so one more drainer may run.
  class pause {
   public:
    explicit pause(arena& of) noexcept : of_(of) {
      of_.drainers_.fetch_sub(1, std::memory_order_seq_cst);
      if (of_.has_sources()) of_.call_drainer();
    }
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;
    ~pause() { of_.drainers_.fetch_add(1, std::memory_order_seq_cst); }

   private:
    arena& of_;
  };

 private:
  struct drainer : execution::detail::work_item {
    arena& of;
    explicit drainer(arena& a) noexcept
        : work_item{[](work_item* self) noexcept {
            const std::unique_ptr<drainer> own(static_cast<drainer*>(self));
            own->of.drain();
          }},
          of(a) {}
  };

  execution::detail::pool_core& pool() {
    std::call_once(pool_made_, [this] { pool_ = std::make_unique<execution::detail::pool_core>(runtime_); });
    return *pool_;
  }
  bool has_sources() noexcept {
    const std::lock_guard hold(lock_);
    return !sources_.empty();
  }
  std::shared_ptr<task_source> next() noexcept {
    const std::lock_guard hold(lock_);
    if (sources_.empty()) return nullptr;
    std::shared_ptr<task_source> first = std::move(sources_.front());
    sources_.pop_front();
    return first;
  }
  void drain() noexcept {
    with_context([this](context c) {
      do {
        while (const std::shared_ptr<task_source> source = next()) source->run_oldest(c, *this, source);
        drainers_.fetch_sub(1, std::memory_order_seq_cst);
      } while (has_sources() && (drainers_.fetch_add(1, std::memory_order_seq_cst), true));
    });
  }

  runtime& runtime_;
  std::mutex lock_;  // protects sources_
  std::deque<std::shared_ptr<task_source>> sources_;
  std::atomic<int> drainers_{0};  ///< pairs with: call_drainer, drain
  std::once_flag pool_made_;
  std::unique_ptr<execution::detail::pool_core> pool_;
};

/// The arena of code that runs in no other arena. Its runtime is the default one, and it is never freed.
inline arena& default_arena() {
  static arena& only = *new arena(default_runtime());
  return only;
}
inline arena* arena::as_running() noexcept { return this == &default_arena() ? nullptr : this; }
/// The arena in which the calling thread runs.
inline arena& arena_here() {
  arena* const here = running().where;
  return here != nullptr ? *here : default_arena();
}

}  // namespace sukima::detail::tbb

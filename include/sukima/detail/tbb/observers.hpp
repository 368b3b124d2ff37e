// SPDX-License-Identifier: Apache-2.0
// The observers of tbb::task_scheduler_observer. They are called when a thread begins or ends tasks of an
// arena.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace sukima::detail::tbb {

class arena;

/// Receives the events of one arena's threads.
class thread_observer {
 public:
  explicit thread_observer(const arena* where) noexcept : where_(where) {}
  thread_observer(const thread_observer&) = delete;
  thread_observer& operator=(const thread_observer&) = delete;
  virtual ~thread_observer() = default;
  virtual void enters(bool is_worker) = 0;
  virtual void leaves(bool is_worker) = 0;
  /// Null: the default arena.
  const arena* where() const noexcept { return where_; }

 private:
  const arena* where_;
};

/// All observers. A thread holds the lock while it calls them, so a removed observer is not in use.
class observer_list {
 public:
  /// A check without the lock: most programs have no observers.
  bool is_empty() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  void add(thread_observer& o) {
    const std::lock_guard hold(lock_);
    all_.push_back(&o);
    count_.store(all_.size(), std::memory_order_relaxed);
  }
  void remove(thread_observer& o) noexcept {
    const std::lock_guard hold(lock_);
    std::erase(all_, &o);
    count_.store(all_.size(), std::memory_order_relaxed);
  }
  /// Calls the observers of an arena. \returns the observers that were called
  std::vector<thread_observer*> enter(const arena* where, bool is_worker) {
    std::vector<thread_observer*> called;
    const std::shared_lock hold(lock_);
    for (thread_observer* const o : all_)
      if (o->where() == where) {
        o->enters(is_worker);
        called.push_back(o);
      }
    return called;
  }
  /// Calls those of the given observers that are still registered.
  void leave(const std::vector<thread_observer*>& called, bool is_worker) {
    const std::shared_lock hold(lock_);
    for (thread_observer* const o : called)
      if (std::find(all_.begin(), all_.end(), o) != all_.end()) o->leaves(is_worker);
  }

 private:
  std::shared_mutex lock_;  // protects all_
  std::vector<thread_observer*> all_;
  std::atomic<std::size_t> count_{0};  ///< no partner: a thread that enters later sees it
};
/// Never freed: threads may run tasks until the end of the program.
inline observer_list& observers() {
  static observer_list& only = *new observer_list;
  return only;
}

}  // namespace sukima::detail::tbb

// SPDX-License-Identifier: Apache-2.0
// tbb::task_scheduler_observer: is called when threads begin and end to run tasks.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <sukima/detail/tbb/observers.hpp>

#include <atomic>

namespace tbb {

class task_scheduler_observer {
 public:
  /// Observes the arena of the caller.
  task_scheduler_observer() : task_scheduler_observer(::sukima::detail::tbb::running().where) {}
  explicit task_scheduler_observer(task_arena& of)
      : task_scheduler_observer(::sukima::detail::tbb::arena_access::get(of)) {}
  task_scheduler_observer(const task_scheduler_observer&) = delete;
  task_scheduler_observer& operator=(const task_scheduler_observer&) = delete;
  virtual ~task_scheduler_observer() { observe(false); }

  /// Begins or ends the observation. If `on` is false, waits until no call of the functions below is in
  /// progress, so these functions must not call it.
  void observe(bool on = true) {
    if (observes_.exchange(on) == on) return;
    if (on)
      ::sukima::detail::tbb::observers().add(calls_);
    else
      ::sukima::detail::tbb::observers().remove(calls_);
  }
  bool is_observing() const { return observes_.load(); }

  /// A thread begins to run tasks. \param is_worker  false: the thread is the program's own
  virtual void on_scheduler_entry([[maybe_unused]] bool is_worker) {}
  /// A thread stops running tasks. \param is_worker  as above
  virtual void on_scheduler_exit([[maybe_unused]] bool is_worker) {}

 private:
  class forwarder final : public ::sukima::detail::tbb::thread_observer {
   public:
    forwarder(task_scheduler_observer& to, const ::sukima::detail::tbb::arena* where)
        : thread_observer(where), to_(to) {}
    void enters(bool is_worker) override { to_.on_scheduler_entry(is_worker); }
    void leaves(bool is_worker) override { to_.on_scheduler_exit(is_worker); }

   private:
    task_scheduler_observer& to_;
  };
  explicit task_scheduler_observer(const ::sukima::detail::tbb::arena* where) : calls_(*this, where) {}

  forwarder calls_;
  std::atomic<bool> observes_{false};
};

}  // namespace tbb

// SPDX-License-Identifier: Apache-2.0
// The tasks of a tbb::task_group: a list of the waiting tasks, and a count of the tasks that have not ended.
#pragma once

#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/running.hpp>
#include <sukima/errors.hpp>
#include <sukima/suspend.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

namespace sukima::detail::tbb {

class group_tasks;

/// A task of a group. The group counts it as not ended from its creation until its destruction.
class group_task {
 public:
  explicit group_task(std::shared_ptr<group_tasks> of);
  group_task(const group_task&) = delete;
  group_task& operator=(const group_task&) = delete;
  /// Derived classes destroy the task's function before.
  virtual ~group_task();
  /// Calls the function. \returns a task to run next, or null \throws the function's exception
  virtual std::unique_ptr<group_task> call() = 0;

  const std::shared_ptr<group_tasks>& group() const noexcept { return group_; }

 private:
  friend class group_tasks;
  std::shared_ptr<group_tasks> group_;
  group_task* older_ = nullptr;
  group_task* newer_ = nullptr;
};

using task_owner = std::unique_ptr<group_task>;

/// Tasks that are waited for together.
class group_tasks : public task_source, public std::enable_shared_from_this<group_tasks> {
 public:
  /// \param state     keeps the exceptions and the cancellation
  /// \param program   the task_group_context of the program
  group_tasks(group_state& state, void* program) noexcept : state_(state), program_(program) { state.hold(); }
  ~group_tasks() override { state_.let_go(); }

  group_state& state() noexcept { return state_; }
  /// Whether all its tasks have ended.
  bool is_done() noexcept {
    const std::lock_guard hold(lock_);
    return open_ == 0;
  }

  /// Adds a task, which may belong to another group. From now on a worker of the arena, or a thread that
  /// waits for this group, may run it.
  void add(task_owner task, arena& where) {
    waiter* woken = nullptr;
    bool offers = false;
    {
      const std::lock_guard hold(lock_);
      group_task* const t = task.release();
      t->older_ = newest_;
      (newest_ != nullptr ? newest_->newer_ : oldest_) = t;
      newest_ = t;
      woken = std::exchange(waiters_, nullptr);
      offers = std::exchange(offered_to_, &where) != &where;
    }
    resume(woken);
    if (offers)
      where.offer(shared_from_this());
    else
      where.call_drainer();
  }

  /// Runs tasks of the group, the newest first, until all have ended.
  /// \throws usage_error if it would wait for the task that calls it
  void work_until_done(context c, arena& where) {
    for (;;) {
      if (task_owner task = take_newest()) {
        run(c, std::move(task), where);
        continue;
      }
      if (is_done()) return;
      if (runs_here())
        throw_error(usage_error(
            "sukima: a task of a tbb::task_group waits for that group, which would wait for itself; let code "
            "outside the group wait, or use another group for the tasks that this one needs"));
      const arena::pause one_more_drainer(where);
      waiter me;
      suspend(c, [&](resumer r) {
        const std::lock_guard hold(lock_);
        if (open_ == 0 || newest_ != nullptr) {
          r.resume();
          return;
        }
        me = {r, waiters_};
        waiters_ = &me;
      });
    }
  }

  void run_oldest(context c, arena& where, const std::shared_ptr<task_source>& source) noexcept override {
    task_owner task;
    bool more = false;
    {
      const std::lock_guard hold(lock_);
      task = unlink(oldest_);
      more = oldest_ != nullptr;
      if (!more && offered_to_ == &where) offered_to_ = nullptr;
    }
    if (more) where.offer(source, true);
    if (task) run(c, std::move(task), where);
  }

  /// Runs a task here, and then the tasks that it returns to be run next.
  static void run(context c, task_owner task, arena& where) noexcept {
    while (task) {
      group_tasks& group = *task->group_;
      task_owner next;
      if (!group.state_.is_cancelled())
        run_body(c, running_state{&group.state_, group.program_, where.as_running(), &group},
                 [&] { next = task->call(); });
      task = std::move(next);
    }
  }

 private:
  friend class group_task;
  /// A fiber that waits. The object is in the fiber's frame.
  struct waiter {
    resumer fiber;
    waiter* next = nullptr;
  };

  /// Whether the calling code is a part of one of the group's tasks. Linear in the depth of tasks and
  /// algorithms.
  bool runs_here() const noexcept {
    const running_state* s = &running();
    while (s != nullptr && s->tasks != this) s = s->around;
    return s != nullptr;
  }
  static void resume(waiter* w) {
    while (w != nullptr) {
      const resumer fiber = w->fiber;
      w = w->next;
      fiber.resume();
    }
  }
  task_owner take_newest() noexcept {
    const std::lock_guard hold(lock_);
    return unlink(newest_);
  }
  /// \pre the lock is held. \param t  null: does nothing
  task_owner unlink(group_task* t) noexcept {
    if (t == nullptr) return nullptr;
    (t->older_ != nullptr ? t->older_->newer_ : oldest_) = t->newer_;
    (t->newer_ != nullptr ? t->newer_->older_ : newest_) = t->older_;
    t->older_ = t->newer_ = nullptr;
    return task_owner(t);
  }
  void begin() noexcept {
    const std::lock_guard hold(lock_);
    ++open_;
  }
  void end() noexcept {
    waiter* woken = nullptr;
    {
      const std::lock_guard hold(lock_);
      if (--open_ == 0) woken = std::exchange(waiters_, nullptr);
    }
    resume(woken);
  }

  group_state& state_;
  void* program_;
  std::mutex lock_;  // protects the members below
  group_task* oldest_ = nullptr;
  group_task* newest_ = nullptr;
  std::size_t open_ = 0;
  waiter* waiters_ = nullptr;
  arena* offered_to_ = nullptr;  ///< the arena whose queue may have this group
};

inline group_task::group_task(std::shared_ptr<group_tasks> of) : group_(std::move(of)) { group_->begin(); }
inline group_task::~group_task() { group_->end(); }

}  // namespace sukima::detail::tbb

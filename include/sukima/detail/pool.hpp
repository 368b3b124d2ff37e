// SPDX-License-Identifier: Apache-2.0
// The queue and the thread of a pool (execution.hpp).
#pragma once

#include <sukima/context.hpp>
#include <sukima/runtime.hpp>
#include <sukima/task_group.hpp>

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

namespace sukima::execution::detail {

/// Work in a pool's queue: the base of an operation, so that queueing allocates nothing.
struct work_item {
  void (*run)(work_item*) noexcept;
  work_item* next = nullptr;
};

/// A pool: a queue, and a thread that enters the runtime while the queue has work.
///
/// *Drainers* take work from the queue and run it until the queue is empty. They are the thread itself, and
/// children of a task group that exists while the thread is inside the runtime. `group_` is that group until
/// the last drainer has ended. A push adds one more drainer, and may do so from any thread: the group cannot
/// end before the drainers, which end under the same lock.
class pool_core {
 public:
  explicit pool_core(runtime& on) : runtime_(on), thread_([this] { serve(); }) {}
  pool_core(const pool_core&) = delete;
  pool_core& operator=(const pool_core&) = delete;
  ~pool_core() {
    {
      const std::lock_guard hold(lock_);
      closing_ = true;
      wake_.notify_one();
    }
    thread_.join();
  }

  void push(work_item& item) noexcept {
    const std::lock_guard hold(lock_);
    (newest_ != nullptr ? newest_->next : oldest_) = &item;
    newest_ = &item;
    if (group_ == nullptr)
      wake_.notify_one();
    else
      add_drainer();
  }

 private:
  static constexpr std::size_t most_drainers = 512;  // beyond about 1000, a task group's run() runs the child

  void serve() {
    for (;;) {
      {
        std::unique_lock hold(lock_);
        wake_.wait(hold, [this] { return closing_ || oldest_ != nullptr; });
        if (oldest_ == nullptr) return;
      }
      runtime_.run([this](context c) {
        task_group group(c);
        {
          const std::lock_guard hold(lock_);
          group_ = &group;
          drainers_ = 1;
          for (const work_item* more = oldest_; more != nullptr; more = more->next) add_drainer();
        }
        sukima::detail::call(c, [this] { drain(); });
        group.wait(c);
      });
    }
  }

  /// \pre the lock is held, and there is a group. Without memory for another drainer, the others do its work.
  void add_drainer() noexcept {
    if (drainers_ == most_drainers) return;
    try {
      group_->run([this] { drain(); });
      ++drainers_;
    } catch (...) {  // NOLINT(bugprone-empty-catch)
    }
  }

  void drain() noexcept {
    std::unique_lock hold(lock_);
    while (work_item* const item = oldest_) {
      oldest_ = item->next;
      if (oldest_ == nullptr) newest_ = nullptr;
      hold.unlock();
      item->run(item);
      hold.lock();
    }
    if (--drainers_ == 0) group_ = nullptr;
  }

  runtime& runtime_;
  std::mutex lock_;  // protects the members below
  std::condition_variable wake_;
  work_item* oldest_ = nullptr;
  work_item* newest_ = nullptr;
  task_group* group_ = nullptr;
  std::size_t drainers_ = 0;
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace sukima::execution::detail

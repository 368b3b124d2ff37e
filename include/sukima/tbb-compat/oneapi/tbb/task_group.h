// SPDX-License-Identifier: Apache-2.0
// tbb::task_group and its contexts on Sukima's workers.
#pragma once

#include <oneapi/tbb/profiling.h>
#include <sukima/detail/tbb/errors.hpp>
#include <sukima/detail/tbb/group_tasks.hpp>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/task_group_context.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tbb {

class task_group;
class task_handle;

/// Thrown by the destructor of a group if the program has not waited for its tasks.
class missing_wait : public std::exception {
 public:
  const char* what() const noexcept override { return "wait() is not called on the structured_task_group"; }
};

enum task_group_status { not_complete, complete, canceled };

}  // namespace tbb

namespace sukima::detail::tbb {

struct handle_access;

/// A task that calls a function. The function is const, because TBB calls it as const.
template <class F> struct function_task final : group_task {
  const F f;
  template <class G>
  function_task(std::shared_ptr<group_tasks> of, G&& g) : group_task(std::move(of)), f(std::forward<G>(g)) {}
  std::unique_ptr<group_task> call() override;
};

}  // namespace sukima::detail::tbb

namespace tbb {

/// A task that has not been submitted. Its group cannot end before it is run or dropped.
class task_handle {
 public:
  task_handle() = default;
  task_handle(task_handle&&) = default;
  task_handle& operator=(task_handle&&) = default;
  explicit operator bool() const noexcept { return task_ != nullptr; }
  friend bool operator==(const task_handle& h, std::nullptr_t) noexcept { return h.task_ == nullptr; }

 private:
  friend struct ::sukima::detail::tbb::handle_access;
  explicit task_handle(::sukima::detail::tbb::task_owner t) noexcept : task_(std::move(t)) {}
  ::sukima::detail::tbb::task_owner task_;
};

}  // namespace tbb

namespace sukima::detail::tbb {

struct handle_access {
  static ::tbb::task_handle make(task_owner t) noexcept { return ::tbb::task_handle(std::move(t)); }
  static task_owner take(::tbb::task_handle& h) noexcept { return std::move(h.task_); }
  static std::shared_ptr<group_tasks> group(const ::tbb::task_handle& h) noexcept { return h.task_->group(); }
};

template <class F> std::unique_ptr<group_task> function_task<F>::call() {
  if constexpr (std::is_same_v<std::invoke_result_t<const F&>, ::tbb::task_handle>) {
    ::tbb::task_handle next = f();
    return handle_access::take(next);
  } else {
    static_cast<void>(f());
    return nullptr;
  }
}

}  // namespace sukima::detail::tbb

namespace tbb {

/// A group of tasks, for which a program waits together. Any thread may add tasks and wait.
class task_group {
 public:
  task_group() : own_(std::in_place), context_(*own_) { make_tasks(); }
  explicit task_group(task_group_context& context) : context_(context) { make_tasks(); }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() noexcept(false) {
    if (tasks_->is_done()) return;
    const bool unwinds = std::uncaught_exceptions() > 0;
    context_.cancel_group_execution();
    work();
    if (!unwinds) ::sukima::detail::tbb::throw_error(missing_wait());
  }

  template <class F> void run(F&& f) {
    bind();
    add(std::make_unique<::sukima::detail::tbb::function_task<std::decay_t<F>>>(tasks_, std::forward<F>(f)));
  }
  /// \pre the handle is of this group, and not empty
  void run(task_handle&& h) {
    bind();
    add(::sukima::detail::tbb::handle_access::take(h));
  }
  /// Makes a task for `run`, or for `task_arena::enqueue`.
  template <class F> [[nodiscard]] task_handle defer(F&& f) {
    bind();
    return ::sukima::detail::tbb::handle_access::make(
        std::make_unique<::sukima::detail::tbb::function_task<std::decay_t<F>>>(tasks_, std::forward<F>(f)));
  }

  /// Waits until no task is left.
  /// \throws the first exception of a task; sukima::usage_error in a task of this group
  task_group_status wait() {
    work();
    return end_of_wait();
  }
  /// Runs f here as a task of the group, and waits.
  template <class F> task_group_status run_and_wait(const F& f) {
    bind();
    struct reference final : ::sukima::detail::tbb::group_task {
      const F& f;
      reference(std::shared_ptr<::sukima::detail::tbb::group_tasks> of, const F& g)
          : group_task(std::move(of)), f(g) {}
      std::unique_ptr<group_task> call() override {
        f();
        return nullptr;
      }
    };
    work(std::make_unique<reference>(tasks_, f));
    return end_of_wait();
  }
  task_group_status run_and_wait(task_handle&& h) {
    bind();
    work(::sukima::detail::tbb::handle_access::take(h));
    return end_of_wait();
  }

  void cancel() { context_.cancel_group_execution(); }

 private:
  using task_owner = ::sukima::detail::tbb::task_owner;

  void make_tasks() {
    tasks_ = std::make_shared<::sukima::detail::tbb::group_tasks>(
        ::sukima::detail::tbb::context_access::state(context_), &context_);
  }
  void bind() noexcept { tasks_->state().bind_to(::sukima::detail::tbb::running().group); }
  void add(task_owner task) { tasks_->add(std::move(task), ::sukima::detail::tbb::arena_here()); }
  void work(task_owner first = nullptr) {
    if (first == nullptr && tasks_->is_done()) return;
    ::sukima::detail::tbb::arena& where = ::sukima::detail::tbb::arena_here();
    ::sukima::detail::tbb::enter([&](::sukima::context c) {
      ::sukima::detail::tbb::group_tasks::run(c, std::move(first), where);
      tasks_->work_until_done(c, where);
    });
  }
  task_group_status end_of_wait() {
    const bool was_canceled = context_.is_group_execution_cancelled();
    const std::exception_ptr error = tasks_->state().error();
    if (was_canceled) context_.reset();
    if (error) std::rethrow_exception(error);
    return was_canceled ? canceled : complete;
  }

  std::optional<task_group_context> own_;
  task_group_context& context_;
  std::shared_ptr<::sukima::detail::tbb::group_tasks> tasks_;
};

/// A group whose waits run only its own tasks. Here the waits of every group do so.
class isolated_task_group : public task_group {};

}  // namespace tbb

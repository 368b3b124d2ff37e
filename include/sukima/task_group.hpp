// SPDX-License-Identifier: Apache-2.0
// task_group: any number of functions that may run at the same time and may add more of them.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/ambient.hpp>
#include <sukima/detail/choice_point.hpp>
#include <sukima/detail/group.hpp>
#include <sukima/detail/placed.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace sukima {
/// \addtogroup groups
/// @{

/// A group of functions, its *children*, that may run at the same time. Use it if their number is not known
/// beforehand: work lists, graphs, events. If the number is known, fork2 and the loops are much cheaper (a
/// child costs 0.1 to 0.4 µs, a fork a nanosecond) and give results.
///
/// A group belongs to a block of a function and to the fiber that made it. Its children may begin at once, on
/// idle workers; `wait` runs the others, the newest first. All code inside the group's block, children
/// included, may call `run` and `cancel` from any worker. Several fibers may call `wait` at once; each call
/// returns when no child is left.
///
/// If a child throws, the others are cancelled, as by `cancel`: those that have not begun are dropped, the
/// rest stop at their next poll. The first exception leaves `wait`.
///
/// Children may wait for each other by `suspend`, with any number of workers: a worker without other work
/// begins the next child, however many children are suspended. They may also wait in this way for a branch or
/// an iteration outside the group.
///
/// Inside the body of a search, only the body itself may use the workspace: children need a copy of the parts
/// that they read. The reason is that the workspace changes for a moment each time work is split off from an
/// older search.
///
/// Memory: at most about a thousand children wait to be run. A worker that adds more runs each of them
/// itself, inside `run`. So a child must not wait for something that the caller of `run` does afterwards.
class task_group {
 public:
  /// A group within a function that has a context. This constructor changes `c`: functions called after this
  /// line must get `c`, not an older copy of it.
  /// \throws std::bad_alloc; usage_error outside a runtime
  template <class Checks = detail::checks>
  explicit task_group(context& c)
      : own_(&c),
        scope_((detail::check_context(c, "sukima::task_group"), c.top)),
        core_(detail::make_group(scope_)) {
    c.top += detail::choice_point_alignment;
  }
  /// A group within a function without a context, called by sukima::run or as a task.
  /// \throws std::bad_alloc; usage_error outside a runtime, or if the calling function has a context and did
  ///         not pass it on: pass it to the group
  task_group() : scope_(detail::take_ambient_scope()) {
    try {
      core_ = detail::make_group(scope_);
    } catch (...) {
      detail::give_ambient_scope(scope_);
      throw;
    }
  }
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  /// Cancels the children that have not ended, and waits until they have. An exception that no `wait` has
  /// rethrown is lost. To finish all children, call `wait`. Must run in the fiber that made the group.
  ~task_group() {
    detail::end_group(core_);
    if (own_ != nullptr)
      own_->top = scope_;
    else
      detail::give_ambient_scope(scope_);
  }

  /// Adds a child. May be called on any worker, and on an ordinary thread while some child has not ended, so
  /// that `wait` cannot return.
  /// \param f  is moved into the child and called once, with a context if it takes one. Its result is ignored
  /// \throws std::bad_alloc; what moving f throws; `aborted` where the caller itself is aborted
  /// \par Complexity constant, 0.1 to 0.4 µs; or the time of f itself, if too many children wait already
  template <class F, class Checks = detail::checks>
    requires detail::callable_with<std::decay_t<F>&&>
  void run(F&& f) {
    add(std::forward<F>(f), detail::inherited_place);
  }
  /// The same with a context: if too many children wait, f may run here without a fiber of its own.
  template <class F, class Checks = detail::checks>
    requires detail::callable_with<std::decay_t<F>&&>
  void run(context c, F&& f) {
    detail::check_context(c, "sukima::task_group::run");
    add(c, std::forward<F>(f), detail::inherited_place);
  }
  /// The same with a hint that f should run in a place. Without a hint f inherits the place of the code that
  /// adds it.
  /// \param f    as above
  /// \param hint on(P): a place, or a function that returns one. The function is called at once, unless hints
  ///             are switched off. If it throws, f is not added
  template <class F, class P, class Checks = detail::checks>
    requires detail::callable_with<std::decay_t<F>&&>
  void run(F&& f, detail::place_hint<P> hint) {
    add(std::forward<F>(f), place_for(hint));
  }
  /// The same with a context and a hint.
  template <class F, class P, class Checks = detail::checks>
    requires detail::callable_with<std::decay_t<F>&&>
  void run(context c, F&& f, detail::place_hint<P> hint) {
    detail::check_context(c, "sukima::task_group::run");
    add(c, std::forward<F>(f), place_for(hint));
  }

  /// Runs children until none is left, including those that are added during the call. The group may be used
  /// again afterwards.
  /// \returns true if all ended by themselves, false if the group was cancelled
  /// \throws the exception of the first child that threw (one call of `wait` throws it); `aborted` if the
  ///         caller itself is aborted; usage_error on a thread that is not in the group's runtime, or in a
  ///         child of this group, which would wait for itself
  /// \note If code around the wait, but inside the group's block, is aborted, the waiting fiber leaves only
  ///       when the group has ended.
  template <class Checks = detail::checks> bool wait(context c) {
    detail::check_context(c, "sukima::task_group::wait");
    return detail::wait_group(*core_, c);
  }
  /// The same without a context.
  bool wait() {
    detail::require_fiber("sukima: a task group can be waited for only inside a runtime");
    return detail::with_context([&](context c) { return detail::wait_group(*core_, c); });
  }

  /// Drops the children that have not begun, and stops the others at their next poll. Children that are added
  /// before the next `wait` has returned are dropped, too. Any thread.
  void cancel() noexcept { detail::cancel_group(*core_); }
  /// Whether the group was cancelled, by `cancel` or by an exception, since the last `wait`.
  bool cancelled() const noexcept { return detail::group_is_cancelled(*core_); }

 private:
  template <class P> sukima_place place_for(detail::place_hint<P>& hint) const {
    static_assert(
        detail::place_source<P>,
        "at a task group sukima::on takes a place, or a function without arguments that returns one");
    return detail::group_follows_hints(*core_) ? detail::requested_place(hint.where)
                                               : detail::inherited_place;
  }
  template <class F> auto make_child(F&& f, sukima_place place) {
    auto child = std::make_unique<detail::group_child_of<std::decay_t<F>>>(std::forward<F>(f));
    child->place = place;
    return child;
  }
  template <class F> void add(F&& f, sukima_place place) {
    auto child = make_child(std::forward<F>(f), place);
    if (detail::add_child(*core_, child.get())) {
      static_cast<void>(child.release());
      return;
    }
    try {
      detail::with_context([&](context c) { detail::run_child(*core_, child.release(), c); });
    } catch (...) {
      if (child != nullptr) detail::drop_child(*core_, child.release());
      throw;
    }
  }
  template <class F> void add(context c, F&& f, sukima_place place) {
    auto child = make_child(std::forward<F>(f), place);
    if (detail::add_child(*core_, child.get()))
      static_cast<void>(child.release());
    else
      detail::run_child(*core_, child.release(), c);
  }

  context* own_ = nullptr;
  char* scope_;
  detail::group_core* core_ = nullptr;
};

/// @}
}  // namespace sukima

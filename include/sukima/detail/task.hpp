// SPDX-License-Identifier: Apache-2.0
// A task: work that was split off from a choice point, until its owner has joined it.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/atomics.hpp>
#include <sukima/detail/choice_point.hpp>

#include <exception>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <variant>

namespace sukima::detail {

struct worker;

/// The place of a task that was not split off with a hint of its own: that of its choice point's frame.
inline constexpr std::uint16_t inherited_place = 0xffff;

/// The value of a word with a choice point's address if there is none. Younger choice points have higher
/// addresses.
inline constexpr std::uintptr_t no_choice_point = ~std::uintptr_t{0};

/// The header of every task. The fiber that splits it off writes the header before the task is published (the
/// publishing store is a release). Then the fiber that runs the task writes it. The owner reads it after
/// `joining` has become done (acquire).
struct task {
  void (*run)(task*, context) = nullptr;  ///< runs it in the segment that starts at the context; may throw
  void (*destroy)(task*) noexcept = nullptr;  ///< destroys and frees the whole object
  const choice_point_kind* kind = nullptr;  ///< of the choice point it was split off from
  task* older = nullptr;  ///< the child split off from the same choice point before it
  task* queued = nullptr;  ///< the next one in the injector queue
  task* parent = nullptr;  ///< the task that the owner was running
  fiber* owner = nullptr;  ///< the fiber it was split off from; null for a root
  choice_point* origin =
      nullptr;  ///< the choice point there; null: a call without a context, anywhere in that segment
  char* owner_segment = nullptr;  ///< beginning of the segment that the owner was running
  std::uint32_t depth = 0;  ///< number of ancestors
  std::uint32_t slot = 0;  ///< the slot in which it was published
  /// Set if it must stop at its next poll.
  /// pairs with: is_task_concerned in abort.hpp; is_descendant_concerned in abort.cpp; stop_children in
  /// jump.cpp; finish_waiting in group_core.cpp; cancel_group in group.cpp; cancel in remote.cpp
  atomic<bool> cancelled{false};
  /// Set if it was split off during stack unwinding: no abort from outside stops it before its owner joins it
  /// outside any unwinding.
  /// pairs with: is_descendant_concerned, unmask in abort.cpp
  atomic<bool> cancellation_masked{false};
  bool shielded = false;  ///< split off below a shield: no abort from outside the shield stops it (abort.hpp)
  bool aborted = false;  ///< it ended early because it or an ancestor was cancelled
  bool jumps = false;  ///< runs code that no exception may pass (jump.hpp)
  /// Set if it cannot be encoded as bytes; it is then not offered to a node again (remote.hpp). The code that
  /// splits it off sets this value, because with an initializer here gcc inlines less of forks.
  bool stays;
  std::uint16_t place = inherited_place;  ///< where it should run, once it was split off; a hint (placed.hpp)
  std::exception_ptr error;  ///< it ended by this exception
  /// 0: not done, no waiter; 1: done; otherwise the worker or fiber that waits for it (join.hpp).
  /// pairs with: complete, complete_given_away in complete.cpp; after_park in await.cpp; is_done in
  /// joining.hpp; register_at in find_work.cpp
  atomic<std::uintptr_t> joining{0};
  /// The worker that began it. no partner: a hint for thieves
  std::atomic<worker*> runner{nullptr};

  // Of the segment in which it runs (abort.hpp).
  /// The oldest choice point that an abort concerns. Lowered by CAS, reset by the fiber that runs the task.
  /// pairs with: lower_abort, clear_abort, is_reached, is_concerned in abort.cpp
  atomic<std::uintptr_t> abort_to{no_choice_point};
  /// The same for aborts that begin below the segment's shield.
  /// pairs with: lower_abort, clear_abort, is_reached, is_concerned in abort.cpp
  atomic<std::uintptr_t> shielded_abort_to{no_choice_point};
  /// The beginning of the shield, written by the fiber that runs the task.
  /// pairs with: abort_word, raise_shield, lower_shield in abort.cpp
  atomic<std::uintptr_t> shield{no_choice_point};
};

/// void results become std::monostate inside the library.
template <class T> using stored = std::conditional_t<std::is_void_v<T>, std::monostate, std::remove_cv_t<T>>;

/// Memory for a result that needs no default constructor.
template <class T> class result_slot {
 public:
  result_slot() noexcept {}
  result_slot(const result_slot&) = delete;
  result_slot& operator=(const result_slot&) = delete;
  ~result_slot() {
    if (full_) std::destroy_at(std::addressof(value_));
  }
  void clear() noexcept {
    if (std::exchange(full_, false)) std::destroy_at(std::addressof(value_));
  }
  template <class F, class... Arguments> void fill(F&& f, Arguments&&... arguments) {
    if constexpr (std::is_void_v<std::invoke_result_t<F, Arguments...>>) {
      std::forward<F>(f)(std::forward<Arguments>(arguments)...);
      ::new (static_cast<void*>(std::addressof(value_))) T();
    } else {
      ::new (static_cast<void*>(std::addressof(value_)))
          T(std::forward<F>(f)(std::forward<Arguments>(arguments)...));
    }
    full_ = true;
  }
  T& get() noexcept { return value_; }

 private:
  union {
    T value_;
  };
  bool full_ = false;
};

/// A result that is a reference.
template <class T>
  requires std::is_reference_v<T>
class result_slot<T> {
 public:
  template <class F, class... Arguments> void fill(F&& f, Arguments&&... arguments) {
    auto&& found = std::forward<F>(f)(std::forward<Arguments>(arguments)...);
    address_ = std::addressof(found);
  }
  std::remove_reference_t<T>& get() noexcept { return *address_; }
  void clear() noexcept {}

 private:
  std::remove_reference_t<T>* address_ = nullptr;
};

/// The `destroy` of a task type that was made by plain `new`.
template <class Task> void delete_task(task* t) noexcept { delete static_cast<Task*>(t); }

/// A slow path of fork2, called at a poll with the choice point still in place. Serves pending requests. If
/// the choice point's child was taken, waits for it and returns it finished. Null: no other worker has it,
/// and the owner runs the second branch itself.
/// \throws aborted, or the child's exception; the choice point then has no children any more
[[gnu::cold, gnu::noinline]] task* join_child(choice_point* point);
/// Called inside the handler of an exception that left the first branch. Aborts and awaits the children,
/// destroys the captures, and continues with the exception that takes precedence.
[[gnu::cold, gnu::noinline, noreturn]] void leave_by_exception(choice_point* r);
/// The same, but returns: for frames with undo actions of their own. \returns the exception that replaces the
/// one in flight, or null
[[gnu::cold, gnu::noinline]] std::exception_ptr abandon(choice_point* point);
/// Waits for all children of a loop's choice point, after the loop's own iterations are done. The list,
/// newest first, is then in the order of the iterations. \throws as join_child
[[gnu::cold, gnu::noinline]] task* join_children(choice_point* point);
/// For a loop that has done its own iterations. Takes back those of its newest child, if no worker began
/// them, so that the loop continues with them. This is cheaper than running the child as a task, which would
/// be split again. \returns false: the loop has ended
[[gnu::cold, gnu::noinline]] bool reclaim_child(choice_point* r) noexcept;

[[gnu::always_inline]] inline bool was_split(const choice_point* r) noexcept {
  return (r->word & split_mark) != 0;
}
inline task* newest_child(const choice_point* r) noexcept {
  return reinterpret_cast<task*>(r->word & ~split_mark);
}
inline const choice_point_kind* kind_of(const choice_point* r) noexcept {
  return was_split(r) ? newest_child(r)->kind : reinterpret_cast<const choice_point_kind*>(r->word);
}

/// Links a new child to its choice point. Called by `split`.
inline void link_child(choice_point* r, task* t) noexcept {
  t->kind = kind_of(r);
  t->older = was_split(r) ? newest_child(r) : nullptr;
  t->origin = r;
  r->word = reinterpret_cast<std::uintptr_t>(t) | split_mark;
}
/// Unlinks the newest child from its choice point.
inline void unlink_child(choice_point* r, task* t) noexcept {
  r->word = t->older ? reinterpret_cast<std::uintptr_t>(t->older) | split_mark
                     : reinterpret_cast<std::uintptr_t>(t->kind);
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// The parts of futures: the cell with the result, and the choice point of a future of a block. Launched
// futures: launched.hpp. Protocol: src/runtime/future/future.hpp.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/fork.hpp>
#include <sukima/detail/placed.hpp>
#include <sukima/errors.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sukima::detail {

struct future_waiter;
struct future_task;
class future_cell;
struct future_point;
bool begin_future(future_task& t) noexcept;
void cancel_future(future_point& point) noexcept;

/// How a future has ended.
enum class future_end : std::uintptr_t { value = 1, error = 3, cancelled = 5 };

/// The result cell's state: the end of a future, which is written once, and the list of fibers and threads
/// that wait for it.
class future_cell {
 public:
  future_cell() noexcept = default;
  future_cell(const future_cell&) = delete;
  future_cell& operator=(const future_cell&) = delete;

  bool is_done() const noexcept { return (state_.load(std::memory_order_acquire) & done) != 0; }
  future_end how() const noexcept { return static_cast<future_end>(state_.load(std::memory_order_acquire)); }

  /// Ends the future and wakes all waiters. Does nothing if the future has ended already, for example because
  /// it was cancelled. The cell is not touched afterwards, because a waiter may destroy it.
  void end(future_end how) noexcept {
    std::uintptr_t untouched = 0;
    if (!state_.compare_exchange_strong(untouched, static_cast<std::uintptr_t>(how),
                                        std::memory_order_acq_rel, std::memory_order_acquire)) [[unlikely]]
      end_with_waiters(how);
  }

  /// The same on the fiber of a future of a block, if that fiber has computed the result itself. It needs no
  /// locked instruction if no other thread has claimed the state. A task that was split off inside the block
  /// needs no claim: its choice point keeps `point` below the limit until it is joined.
  void end_in_place(future_end how, const choice_point* point) noexcept {
    if (untouched(point) && gate_of(point).ends_plainly && state_.load(std::memory_order_relaxed) == 0)
        [[likely]] {
      ending_.store(true, std::memory_order_relaxed);
      light_fence();
      if (!claimed_.load(std::memory_order_relaxed)) [[likely]] {
        state_.store(static_cast<std::uintptr_t>(how), std::memory_order_release);
        return;
      }
    }
    end(how);
  }

  /// Stores the handled exception. Out of line, so that code without exceptions saves no registers for it.
  [[gnu::cold, gnu::noinline]] void keep_error() noexcept { error = std::current_exception(); }

  /// Written before end(future_end::error) by the thread that runs the future; read after is_done().
  std::exception_ptr error;
  /// 0: no fiber has begun it. With `in_place`: its own fiber runs it, and its choice points begin at this
  /// address. Otherwise: the task that runs it. Sequentially consistent: a task writes this and then reads
  /// the state; a cancellation writes the state and then reads this. So one of the two sees the other.
  /// pairs with: begin_in_place, begin_future, cancel_future; is_within in block.cpp
  atomic<std::uintptr_t> runs_as{0};
  static constexpr std::uintptr_t in_place = 1;

  /// Records that the expression runs in its own fiber. Relaxed: only tasks that are split off from it later
  /// must see this.
  void begin_in_place(const char* top) noexcept {
    runs_as.store(reinterpret_cast<std::uintptr_t>(top) | in_place, std::memory_order_relaxed);
  }

 private:
  friend class future_waiting;
  static constexpr std::uintptr_t done = 1;
  static constexpr std::uintptr_t locked = 2;
  friend bool begin_future(future_task&) noexcept;
  friend void cancel_future(future_point&) noexcept;
  [[gnu::cold]] void end_with_waiters(future_end how) noexcept;

  /// 0: no waiters; odd: a future_end; otherwise the list of waiters, perhaps `locked`. The end is a release,
  /// so that an acquiring reader sees the result.
  /// pairs with: is_done, how, end, end_in_place, end_with_waiters, begin_future, cancel_future
  atomic<std::uintptr_t> state_{0};
  // For futures of a block. The fiber writes `ending_`, executes a light fence, and reads `claimed_`. Another
  // thread writes `claimed_`, executes a heavy fence, and reads `ending_`. So one of the two sees the other.
  // The fiber ends an unclaimed future by a plain store. Other threads change no state that is ending.
  atomic<bool> claimed_{false};  ///< pairs with: end_in_place; claim in src/runtime/future/waiting.cpp
  atomic<bool> ending_{false};  ///< pairs with: end_in_place; claim in src/runtime/future/waiting.cpp
};

/// Throws for a future that has ended without a value. \throws the error, or cancelled
[[noreturn, gnu::cold]] void throw_end(const future_cell& cell);

template <class T> struct future_value : future_cell {
  result_slot<stored<T>> value;

  /// Returns the value. \pre is_done() \throws the future's exception; cancelled
  auto& get() {
    if (how() != future_end::value) [[unlikely]]
      detail::throw_end(*this);
    return value.get();
  }
  /// Destroys the value or exception. \pre no code reads it later
  void clear() noexcept {
    value.clear();
    error = nullptr;
  }
};

/// The result of `take`: the value itself. \pre is_done() \throws as get
template <class T> T moved_out(future_value<T>& cell) {
  if constexpr (std::is_void_v<T>)
    static_cast<void>(cell.get());
  else if constexpr (std::is_lvalue_reference_v<T>)
    return cell.get();
  else
    return std::move(cell.get());
}

/// The result of touch: a reference to the value, which stays where it is.
template <class T> struct touched_type {
  using type = const T&;
};
template <class T> struct touched_type<T&> {
  using type = T&;
};
template <> struct touched_type<void> {
  using type = void;
};
template <class T> using touched = typename touched_type<T>::type;

/// Runs the expression of a future and stores its result. \throws aborted, after the end of the future
/// \returns how the caller must end the future. The caller ends it after the handler, when the cell's
/// reference is the only one, so that the exception is destroyed with the cell
template <class T, class Run>
[[nodiscard, gnu::always_inline]] inline future_end run_future(future_value<T>& cell, Run&& run) {
  try {
    cell.value.fill(std::forward<Run>(run));
  } catch (const aborted&) {
    cell.end(future_end::cancelled);
    throw;
  } catch (...) {
    cell.keep_error();
    return future_end::error;
  }
  return future_end::value;
}

/// Whether two addresses of choice stacks have the same gate.
[[gnu::always_inline]] inline bool share_gate(const void* a, const void* b) noexcept {
  return (reinterpret_cast<std::uintptr_t>(a) ^ reinterpret_cast<std::uintptr_t>(b)) < choice_span;
}

/// The choice point of a future of a block.
struct future_point : choice_point {
  future_cell* cell;
};

struct future_kind : choice_point_kind {
  /// Runs the expression here and now, above that context. \throws aborted
  void (*run_here)(future_point*, context);
  const choice_point_kind* spent;  ///< the kind that the choice point gets before that
};

/// The task of a future of a block. `run` calls begin_future first, and end_future_task last.
struct future_task : task {
  future_cell* cell;
};
/// \returns false if the future was cancelled before; the expression must not run then
bool begin_future(future_task& t) noexcept;
/// Ends the task after its expression. An exception of the fiber's callbacks during the expression counts as
/// the expression's.
void end_future_task(future_task& t) noexcept;
/// Ends a task that was aborted before it began.
void drop_future_task(task& t) noexcept;

/// Decides whether the caller must run the future's expression here and now, because the running fiber owns
/// this choice point and may run it. Otherwise waits until the future has ended.
/// \param top of the caller's context; null: the ambient one
/// \throws usage_error outside a runtime, or in the future's own expression; aborted
[[nodiscard]] bool touch_future(char* top, future_point* point);
/// Ends the future with its block. \pre all work above the choice point has ended
/// \param fails  by an exception: drops an expression that has not begun, and cancels a running one
/// \returns true if no fiber has begun the expression: the caller must run it, and then call this again
[[nodiscard]] bool end_future(future_point* point, bool fails) noexcept;
/// Ends the future for all touches, and stops its expression if another fiber runs it.
void cancel_future(future_point& point) noexcept;

/// The place for a future's choice point in code without a context: the ambient top, which moves up by
/// `size`. \throws usage_error if there is no ambient context
char* take_ambient_room(std::size_t size);

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// \tparam F the expression: a callable
template <class T, class F> struct future_operations {
  static_assert(alignof(F) <= choice_point_alignment,
                "the captures of a sukima::future may be aligned to 16 bytes at most");
  struct alignas(choice_point_alignment) point_type : future_point {
    F f;
    point_type(std::uintptr_t kind_word, future_cell& of, F&& expression)
        : future_point{{kind_word}, &of}, f(std::move(expression)) {}
  };
  struct task_type : future_task {
    F* f;
  };

  static bool open(const choice_point* r) noexcept { return !was_split(r); }
  static task* split(choice_point* untyped) {
    auto* const point = static_cast<point_type*>(untyped);
    std::uint16_t place = inherited_place;
    if constexpr (std::is_base_of_v<with_place, F>)
      if (gate_of(untyped).follows_hints) place = point->f.place();
    auto* t = new task_type;
    t->cell = point->cell;
    t->f = &point->f;
    t->place = place;
    t->run = [](task* self, context c) {
      auto* const me = static_cast<task_type*>(self);
      if (!begin_future(*me)) return;
      auto& cell = *static_cast<future_value<T>*>(me->cell);
      try {
        cell.value.fill([&]() -> decltype(auto) { return detail::call(c, std::move(*me->f)); });
      } catch (const aborted&) {
        cell.end(future_end::cancelled);
        throw;
      } catch (...) {
        cell.error = std::current_exception();
      }
      end_future_task(*me);
    };
    t->destroy = delete_task<task_type>;
    link_child(untyped, t);
    return t;
  }
  static void reclaim(choice_point* r, task* t) noexcept {
    unlink_child(r, t);
    t->destroy(t);
  }
  static void destroy(choice_point* r) noexcept { std::destroy_at(&static_cast<point_type*>(r)->f); }

  static void run_here(future_point* untyped, context c) {
    auto* const point = static_cast<point_type*>(untyped);
    auto& cell = *static_cast<future_value<T>*>(untyped->cell);
    untyped->word =
        reinterpret_cast<std::uintptr_t>(&spent);  // its captures are now destroyed, or about to be
    cell.begin_in_place(c.top);
    const future_end how = detail::run_future(cell, [&]() -> decltype(auto) {
      struct end_captures {
        point_type* point;
        ~end_captures() { destroy(point); }
      };
      F f = [&] {
        const end_captures at_end{point};
        return F(std::move(point->f));
      }();
      return detail::call(c, std::move(f));
    });
    cell.end_in_place(how, point);
  }

  static constexpr choice_point_kind spent = closed_kind(sizeof(point_type));
  static constexpr future_kind kind{{sizeof(point_type), open, split, reclaim, nullptr, nullptr, nullptr,
                                     destroy, nullptr, nullptr, false, true},
                                    run_here,
                                    &spent};

  static future_point* push(char* at, future_value<T>& cell, F&& f) {
    auto* const made = ::new (static_cast<void*>(at)) point_type(
        reinterpret_cast<std::uintptr_t>(static_cast<const choice_point_kind*>(&kind)), cell, std::move(f));
    detail::poll(made);
    return made;
  }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

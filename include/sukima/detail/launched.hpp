// SPDX-License-Identifier: Apache-2.0
// The parts of launched futures: their handles' references, their task, and the shared state of a promise.
// Protocol: src/runtime/future/future.hpp.
#pragma once

#include <sukima/detail/future.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace sukima {
template <class T> class shared_future;
}  // namespace sukima

namespace sukima::detail {

struct runtime_core;

/// The state of a launched future that begins after others have ended (src/runtime/future/dependent.cpp).
enum class dependence : unsigned char { none, waits, begins, dropped };

enum class freed : bool { all, result };

/// A future that outlives the block that made it. Its task waits in the runtime's list of launched futures
/// until an idle worker, or a fiber that touches the future, takes it.
struct launched : task {
  /// Uses memory that the calling thread has kept, if possible (src/runtime/future/memory.cpp).
  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size) noexcept;
  static void* operator new(std::size_t size, std::align_val_t alignment) {
    return ::operator new(size, alignment);
  }
  static void operator delete(void* memory, std::size_t /*size*/, std::align_val_t alignment) noexcept {
    ::operator delete(memory, alignment);
  }
  runtime_core* runtime = nullptr;  ///< null: no expression computes it, but a promise gives the result
  future_cell* cell = nullptr;  ///< of the same object
  launched* before = nullptr;  ///< neighbour in the list, protected by its lock
  launched* after = nullptr;
  void (*discard)(launched*) noexcept = nullptr;  ///< destroys the expression, which will not run any more
  /// Frees the whole object, or destroys only its result, which no code can read any more.
  void (*free)(launched*, freed what) noexcept = nullptr;
  /// Set until a fiber begins it. The thread that clears this may begin it, or drop it.
  /// pairs with: begin_once in src/runtime/future/future.hpp; enlist in src/runtime/future/launched.cpp
  atomic<bool> unbegun{false};
  bool is_waiting = false;  ///< it is in a list of futures that have not begun; protected by its lock
  /// The place in whose queue it waits (placement_policy::queue), from its launch on; any: it is in no queue.
  sukima_place queue = SUKIMA_PLACE_ANY;
  /// pairs with: add_dependent, begin, take_dependent in src/runtime/future/dependent.cpp
  std::atomic<dependence> stage{dependence::none};
  launched* closing = nullptr;  ///< the next future that the end of the runtime cancels
  /// One for each handle, and for the promise. In the upper half `own_reference` for each reference of the
  /// library: one of the runtime until the end; one of the record of its sources until all of them have
  /// ended. The last drop sees the writes of all others before theirs.
  /// pairs with: hold_launched, drop_handle; hold_for_library, drop_own_reference, add in
  /// src/runtime/future/launched.cpp
  std::atomic<std::uint64_t> references{1};
  static constexpr std::uint64_t own_reference = std::uint64_t{1} << 32;
};

/// Passes the future to the running fiber's runtime, or else to the default one.
/// \throws usage_error if that was shut down; the exceptions of starting the default one
void launch_task(launched& t);
/// The same, but it begins once `needed` of the sources have ended. \throws as launch_task; std::bad_alloc
void launch_after(launched& dependent, std::span<launched* const> sources, std::size_t needed);
/// Behaviour of a caller outside the future's runtime until the future has ended.
enum class touching : bool { waits, helps };
/// Waits until the future has ended. A fiber of its runtime runs it, if no worker has begun it.
/// \param top  as for touch_future
/// \throws usage_error in the future's own expression; aborted
void touch_launched(char* top, launched& t, touching how = touching::waits);
void cancel_launched(launched& t) noexcept;
/// Called when there was no memory for a future with a hint. If such futures wait in queues without a bound,
/// ends the program with a message that says how many wait for which place. Otherwise does nothing.
void no_memory_to_launch() noexcept;
/// Whether hints are followed in the runtime that launch_task would use.
bool launch_follows_hints();
inline void hold_launched(launched& t) noexcept { t.references.fetch_add(1, std::memory_order_relaxed); }
/// Drops the last handle of a future to which the library still refers. Its result ends with this handle, not
/// a moment later. Without a handle no other thread can make one, so the result is this thread's alone, if
/// the expression has ended: a cancelled one may still run. \returns as drop_handle
[[gnu::cold]] bool drop_last_handle(launched& t) noexcept;
/// \returns true if this was the last reference: the caller must free the object. The only reference is not
/// counted down, because no other thread has a reference from which it could make another.
inline bool drop_handle(launched& t) noexcept {
  std::uint64_t seen = t.references.load(std::memory_order_acquire);
  for (;;) {
    if (seen == 1) return true;
    if (static_cast<std::uint32_t>(seen) == 1) return drop_last_handle(t);
    if (t.references.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                           std::memory_order_acquire))
      return false;
  }
}
inline void release_launched(launched* t) noexcept {
  if (t != nullptr && drop_handle(*t)) t->free(t, freed::all);
}

/// The future that owns the object to which another future's result refers. A future of a reference keeps the
/// owner itself and not its own source, so a long chain of them keeps one future.
class kept_future {
 public:
  kept_future() = default;
  kept_future(const kept_future&) = delete;
  kept_future& operator=(const kept_future&) = delete;
  ~kept_future() { release_launched(kept_); }
  void keep(launched* kept) noexcept {
    if (kept != nullptr) hold_launched(*kept);
    kept_ = kept;
  }
  launched* get() const noexcept { return kept_; }

 private:
  launched* kept_ = nullptr;
};
struct no_kept_future {};

template <class T> struct launched_value : launched {
  [[no_unique_address]] std::conditional_t<std::is_reference_v<T>, kept_future, no_kept_future> refers_to;
  future_value<T> result;

  /// The function `free` of a derived class.
  template <class Whole> static void free_as(launched* self, freed what) noexcept {
    auto* const me = static_cast<Whole*>(self);
    if (what == freed::all)
      delete me;
    else
      me->result.clear();
  }
};

/// The shared state of a promise and its future.
template <class T> struct promised : launched_value<T> {
  std::atomic<bool> is_set{false};
  promised() noexcept {
    this->cell = &this->result;
    this->free = this->template free_as<promised>;
  }
};
/// \throws usage_error if the state is null
inline void require_promise(const launched* state) {
  if (state == nullptr)
    throw usage_error("sukima: a promise that was moved from has no future and takes no result");
}

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

template <class T, class F> struct launched_call : launched_value<T> {
  std::optional<F> f;
  explicit launched_call(F&& expression) : f(std::move(expression)) {
    this->cell = &this->result;
    this->run = [](task* self, context c) {
      auto* const me = static_cast<launched_call*>(self);
      if (me->result.is_done()) return;  // cancelled
      me->result.end(detail::run_future(me->result, [&]() -> decltype(auto) {
        struct end_captures {  // also if the move throws
          std::optional<F>& f;
          ~end_captures() { f.reset(); }
        };
        F own = [&] {
          const end_captures at_end{me->f};
          return F(std::move(*me->f));
        }();
        return detail::call(c, std::move(own));
      }));
    };
    this->discard = [](launched* self) noexcept { static_cast<launched_call*>(self)->f.reset(); };
    this->free = this->template free_as<launched_call>;
  }
};

/// The expression of a continuation.
template <class T, class F> struct continuation {
  shared_future<T> source;
  F f;
  decltype(auto) operator()(context c) {
    if constexpr (std::is_void_v<T>) {
      source.touch(c);  // throws, if it has ended without a value
      return detail::call(c, std::move(f));
    } else {
      return detail::call(c, std::move(f), source.touch(c));
    }
  }
};
/// The expression of a continuation that returns a reference, and the future to whose value this may refer.
template <class T, class F> struct referring_continuation : continuation<T, F> {
  launched* refers_to;  ///< null: none is known
};
/// A launched call of such an expression. It keeps that future, also after its captures have been destroyed.
template <class T, class Expression> struct referring_call : launched_call<T, Expression> {
  explicit referring_call(Expression&& expression) : launched_call<T, Expression>(std::move(expression)) {
    this->refers_to.keep(this->f->refers_to);
    this->free = this->template free_as<referring_call>;
  }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

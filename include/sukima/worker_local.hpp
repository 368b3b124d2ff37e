// SPDX-License-Identifier: Apache-2.0
// worker_local<T>: one T for each worker, made at the worker's first request.
#pragma once

#include <sukima/detail/worker_slots.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace sukima {
/// \addtogroup runtime
/// @{

/// One T for each worker of a runtime that asks for one: counters, buffers, partial sums. Use parallel_reduce
/// for reductions whose order matters. Use this class for data that is too large or too irregular to be
/// passed from task to task.
///
/// Code may move to another worker when it forks, joins, loops, waits or suspends. So:
/// - a reference from `local` may be used until the fiber next does one of these, and must be requested again
///   afterwards;
/// - other fibers of the same worker use the same T, so between such calls a T must be in a state that
///   others can continue from;
/// - code under `sukima::thread_bound` keeps its worker, and so its T; but code that its own forks run may
///   use that T as well.
///
/// `combine`, `for_each`, `size` and `clear` use all of the Ts: no call of `local` may run at the same time.
/// Until `clear`, only the workers of one runtime may use an object.
template <class T> class worker_local {
 public:
  /// Makes each T by T().
  worker_local()
    requires std::default_initializable<T>
      : factory_([] { return T(); }) {}
  /// Makes each T by factory(), which may be called by several workers at the same time.
  template <class Factory>
    requires(!std::same_as<std::decay_t<Factory>, worker_local> &&
             std::is_invocable_r_v<T, const std::decay_t<Factory>&> &&
             std::copy_constructible<std::decay_t<Factory>>)
  explicit worker_local(Factory&& factory) : factory_(std::forward<Factory>(factory)) {}
  worker_local(const worker_local&) = delete;
  worker_local& operator=(const worker_local&) = delete;
  ~worker_local() = default;

  /// Returns the running worker's T, and makes it at the worker's first call.
  /// \returns a reference that is valid until the fiber may move, see above
  /// \throws usage_error outside a runtime, or in a second one; what the factory throws; std::bad_alloc
  /// \par Complexity a few nanoseconds, after the first call on this worker
  T& local() {
    if (void* found = slots_.find()) return static_cast<holder*>(found)->value;
    auto fresh = std::make_unique<holder>(factory_);  // may fork, and so move the fiber
    // Another fiber may have been here on the worker that this one has come to.
    void* const there = slots_.insert(fresh.get());
    if (there == fresh.get()) static_cast<void>(fresh.release());
    return static_cast<holder*>(there)->value;
  }

  /// Calls f with each T, in no particular order, on the calling thread. \throws what f throws
  template <class F>
    requires std::invocable<F&, T&>
  void for_each(F&& f) {
    slots_.for_each([&](void* t) { std::invoke(f, static_cast<holder*>(t)->value); });
  }

  /// Combines all Ts: operation(operation(t1, t2), t3) … The operation should be associative and commutative,
  /// because the distribution of work among workers is random.
  /// \returns the result; a copy if there is only one T; a new T of the factory if there is none
  /// \throws what the operation, a copy or the factory throws
  template <class Operation>
    requires std::copy_constructible<T> && std::is_invocable_r_v<T, Operation&, T, const T&>
  T combine(Operation operation) {
    std::optional<T> sum;
    for_each([&](const T& t) {
      if (!sum) {
        sum.emplace(t);
      } else {
        T next = std::invoke(operation, std::move(*sum), t);
        sum.emplace(std::move(next));
      }
    });
    if (!sum) return factory_();
    return std::move(*sum);
  }

  /// Returns the number of Ts that exist.
  std::size_t size() const noexcept { return slots_.size(); }

  /// Destroys all Ts. Afterwards the workers of another runtime may use the object.
  void clear() noexcept { slots_.clear(); }

 private:
  /// A T on cache lines of its own, because its neighbours in memory belong to other workers.
  struct alignas(alignof(T) > 128 ? alignof(T) : 128) holder {
    T value;
    explicit holder(const std::function<T()>& factory) : value(factory()) {}
  };

  std::function<T()> factory_;
  detail::worker_slots slots_{[](void* t) noexcept { delete static_cast<holder*>(t); }};
};

/// @}
}  // namespace sukima

// SPDX-License-Identifier: Apache-2.0
// Search over one workspace per worker: apply a choice, go deeper, undo it.
#pragma once

#include <sukima/cancel.hpp>
#include <sukima/detail/by_reference.hpp>
#include <sukima/detail/search.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace sukima {
template <class Value> class first_solution;
}  // namespace sukima

namespace sukima::detail {

/// Lets search_first make a first_solution and take its value.
struct solution_access {
  template <class Value> static first_solution<Value> make(canceller cancel) {
    return first_solution<Value>(std::move(cancel));
  }
  template <class Value> static std::optional<Value> take(first_solution<Value>& solution) {
    return std::move(solution.value_);
  }
};

/// A hint of a search. In the place of `combine` it shows that the search was given no first result.
template <class T>
concept search_hint = is_guard<std::remove_cvref_t<T>> || is_split<std::remove_cvref_t<T>>;
template <class T>
concept no_search_hint = !search_hint<T>;

}  // namespace sukima::detail

namespace SUKIMA_NAMESPACE {
/// \addtogroup searches
/// @{

/// Tries every choice: applies it to the workspace, calls the body, and undoes it. Combines the results of
/// the bodies. This is Tascell's temporary backtracking (docs/protocols.md): Hiraishi, Yasugi, Umatani,
/// Yuasa, PPoPP 2009.
///
/// A worker never copies its workspace on its own path. Only when another worker is idle, the fiber
/// backtracks to the oldest search that has choices left (undoing what is applied above it), copies the
/// workspace for the thief, and replays by applying the same choices again.
///
/// A search in parallel code polls before its first choice, after each choice that was accepted, and after
/// each 16th in a row that `apply` refused.
/// \param c         the caller's own context
/// \param workspace copyable; one for each worker at a time
/// \param choices   a range that exists and does not change during the call. Either it is random-access
///                  (`std::views::iota(0, n)` for the integers below n), or a forward range whose iterators
///                  are one trivially copyable word each, such as `set_bits`. The runtime may copy such an
///                  iterator and increment it at any time, which must not throw. To give choices away it
///                  steps through the rest of the range, and `sukima::split` gets numbers that count from the
///                  choice in progress, number 0. A condition may end the range (`std::views::take_while`):
///                  parallel code looks for the end first, and a sequential clone tests the condition before
///                  each choice
/// \param apply apply(workspace, choice). It may return bool: false means that the choice is not possible and
///                  nothing was changed. It must be deterministic, so a test against a bound that other
///                  workers change, such as `best_solution::promising`, belongs at the beginning of the body.
///                  A function that takes the workspace by value would change a copy, so it does not compile
///                  unless the workspace is a pointer; the same holds for `undo`
/// \param undo      undo(workspace, choice) restores the state before `apply`. If it throws while the
///                  fiber backtracks or replays, the exception leaves at the next join of that fiber; during
///                  another exception it ends the program
/// \param body      body(workspace, choice) or body(context, workspace, choice). `apply`, `undo`, `body` and
///                  `combine` may be pointers to member functions
/// \param init      first operand of the first `combine`; need not be neutral
/// \param combine   associative; results are combined in the order of the choices
/// \param hints     `sukima::guard`, `sukima::split`, each at most once
/// \returns the combined result; `init` if there is no possible choice
/// \throws what a callback throws, after the undo actions have run, innermost first; `aborted` as for fork2;
///         `replay_error` if, when the search is replayed, `apply` rejects a choice that it had accepted. The
///         next join of the fiber throws it. Steps that were not applied again are not undone, and until then
///         the workspace is that of an older choice
/// \par Complexity one apply, body and undo for each choice; one workspace copy for each piece given away
template <detail::context_type C, class Workspace, std::ranges::forward_range Choices, class Apply,
          class Undo, class Body, class T, detail::no_search_hint Combine, class... Hints>
[[gnu::always_inline]] inline T search(C c, Workspace& workspace, Choices&& choices, Apply&& apply,
                                       Undo&& undo, Body&& body, T init, Combine&& combine, Hints... hints) {
  detail::require_search_hints<Hints...>();
  detail::require_workspace_by_reference<std::remove_cvref_t<Apply>, std::remove_cvref_t<Undo>, Workspace>();
  detail::check_context(c, "sukima::search");
  constexpr bool fits =
      detail::require_search_arguments<T, Workspace, std::ranges::range_reference_t<Choices>, Apply, Undo,
                                       Body, std::remove_reference_t<Combine>>();
  if constexpr (!fits || !detail::are_hints<Hints...>(1, 1, 0, 0)) {
    return init;
  } else if constexpr (std::ranges::random_access_range<Choices>) {
    auto first = std::ranges::begin(choices);
    return detail::search_between(c, workspace, detail::element_source<decltype(first)>{first}, 0,
                                  detail::end_of(choices, first), apply, undo, body, std::move(init), combine,
                                  hints...);
  } else if constexpr (detail::successor_range<Choices>) {
    auto first = std::ranges::begin(choices);
    return detail::search_between(c, workspace, detail::successor_source<decltype(first)>{}, first,
                                  std::ranges::end(choices), apply, undo, body, std::move(init), combine,
                                  hints...);
  } else {
    static_assert(
        detail::successor_range<Choices>,
        "the choices of sukima::search are a random-access range, or a forward range whose iterators are "
        "one trivially copyable word each: copy others into an array");
    return init;
  }
}

/// The same with pointers to member functions.
template <detail::context_type C, class Workspace, std::ranges::forward_range Choices, class Apply,
          class Undo, class Body, class T, detail::no_search_hint Combine, class... Hints>
  requires(std::is_member_pointer_v<std::remove_cvref_t<Apply>> ||
           std::is_member_pointer_v<std::remove_cvref_t<Undo>> ||
           std::is_member_pointer_v<std::remove_cvref_t<Combine>>)
T search(C c, Workspace& workspace, Choices&& choices, Apply&& apply, Undo&& undo, Body&& body, T init,
         Combine&& combine, Hints... hints) {
  auto&& applies = detail::without_member_pointer(apply);
  auto&& undoes = detail::without_member_pointer(undo);
  auto&& combines = detail::without_member_pointer(combine);
  return sukima::search(c, workspace, choices, applies, undoes, body, std::move(init), combines, hints...);
}

/// The same with a value-initialised result as `init`, as in search(c, b, b.moves(), place, remove, solve,
/// std::plus{}). Hints may follow.
template <detail::context_type C, class Workspace, std::ranges::forward_range Choices, class Apply,
          class Undo, class Body, class Combine, detail::search_hint... Hints>
  requires detail::callable_with<Body&, Workspace&, std::ranges::range_reference_t<Choices>>
[[gnu::always_inline]] inline auto search(C c, Workspace& workspace, Choices&& choices, Apply&& apply,
                                          Undo&& undo, Body&& body, Combine&& combine, Hints... hints) {
  using result =
      std::remove_cvref_t<detail::result_of<Body&, Workspace&, std::ranges::range_reference_t<Choices>>>;
  constexpr bool begins = !std::is_void_v<result> && requires { result{}; };
  if constexpr (detail::search_hint<Combine>) {
    detail::require_search_combine<Body>();
  } else {
    static_assert(begins,
                  "sukima::search begins with a value-initialised result of the type that body returns: let "
                  "body return such a value, or write the first result between body and combine");
    if constexpr (begins)
      return sukima::search(c, workspace, choices, apply, undo, body, result{}, combine, hints...);
  }
}

/// The same without a context.
template <class Workspace, std::ranges::forward_range Choices, class Apply, class Undo, class Body, class T,
          detail::no_search_hint Combine, class... Hints>
  requires(!detail::context_type<Workspace> &&
           detail::callable_with<Body&, Workspace&, std::ranges::range_reference_t<Choices>>)
T search(Workspace& workspace, Choices&& choices, Apply&& apply, Undo&& undo, Body&& body, T init,
         Combine&& combine, Hints... hints) {
  return detail::with_context([&](context c) {
    return sukima::search(c, workspace, choices, apply, undo, body, std::move(init), combine, hints...);
  });
}
/// The same with a value-initialised result as `init`, without a context.
template <class Workspace, std::ranges::forward_range Choices, class Apply, class Undo, class Body,
          class Combine, detail::search_hint... Hints>
  requires(!detail::context_type<Workspace> &&
           detail::callable_with<Body&, Workspace&, std::ranges::range_reference_t<Choices>>)
auto search(Workspace& workspace, Choices&& choices, Apply&& apply, Undo&& undo, Body&& body,
            Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return sukima::search(c, workspace, choices, apply, undo, body, combine, hints...); });
}

/// \cond
// Overloads for searches without `combine`: the compiler reports a sentence about them.
template <detail::context_type C, class Workspace, std::ranges::forward_range Choices, class Apply,
          class Undo, class Body>
void search(C, Workspace&, Choices&&, Apply&&, Undo&&, Body&&) {
  detail::require_search_combine<Body>();
}
template <class Workspace, std::ranges::forward_range Choices, class Apply, class Undo, class Body>
  requires(!detail::context_type<Workspace>)
void search(Workspace&, Choices&&, Apply&&, Undo&&, Body&&) {
  detail::require_search_combine<Body>();
}
/// \endcond

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace sukima {
/// \addtogroup searches
/// @{

/// The best solution so far, shared by all workers: for branch and bound. Any thread may call all functions
/// but `best`.
/// \tparam Cost trivially copyable, as for std::atomic
/// \tparam Less less(a, b): a is better than b
template <class Value, class Cost, class Less = std::less<Cost>> class best_solution {
 public:
  /// \param bound solutions must be better than this
  /// \param less  the order of the costs
  explicit best_solution(Cost bound, Less less = {}) : bound_(bound), less_(less) {}

  /// Returns the bound to prune by: a solution that costs as much or more is useless. The value may be
  /// slightly outdated, which is safe, because it is never better than the best solution. \par Complexity one
  /// load
  Cost bound() const noexcept { return bound_.load(std::memory_order_relaxed); }
  /// Whether a solution of this cost could still be the best. \par Complexity one load
  bool promising(const Cost& cost) const { return less_(cost, bound()); }
  /// Offers a solution; keeps it if it is better than all before.
  /// \returns whether it was kept
  /// \throws what copying the value throws
  /// \par Complexity constant: one load; a copy of the value and a lock if the cost is promising
  bool offer(const Cost& cost, const Value& value) {
    if (!promising(cost)) return false;
    Value copy(value);  // if this throws, the best solution stays whole
    const std::lock_guard hold(lock_);
    if (!less_(cost, bound_.load(std::memory_order_relaxed))) return false;
    best_ = std::move(copy);
    bound_.store(cost, std::memory_order_relaxed);
    return true;
  }
  /// Returns the best solution; empty if none was kept. Call it after the search only, because it takes no
  /// lock.
  const std::optional<Value>& best() const noexcept { return best_; }

 private:
  std::atomic<Cost> bound_;  ///< no partner: an old bound prunes less, and best_ is guarded by lock_
  Less less_;
  std::mutex lock_;
  std::optional<Value> best_;
};

/// Receives the first solution of `search_first`, and aborts the rest of the search.
template <class Value> class first_solution {
 public:
  /// Reports a solution and leaves the search. Of several that are reported at the same time one is kept.
  /// \throws aborted always
  [[noreturn]] void found(Value value) {
    {
      const std::lock_guard hold(lock_);
      if (!value_) value_.emplace(std::move(value));
    }
    cancel_.cancel();
    throw aborted{};
  }

 private:
  friend detail::solution_access;
  explicit first_solution(canceller cancel) : cancel_(std::move(cancel)) {}
  canceller cancel_;
  std::mutex lock_;
  std::optional<Value> value_;
};

/// @}
}  // namespace sukima

namespace SUKIMA_NAMESPACE {
/// \addtogroup searches
/// @{

/// Calls f, which searches and calls solution.found(value) when it finds a solution. That call aborts the
/// rest of the search.
/// \param c  the caller's own context
/// \param f  f(context, solution) or f(solution)
/// \returns the value; empty if f ends without one
/// \throws what f throws; `aborted` if the caller itself is aborted; std::bad_alloc
template <class Value, class F>
  requires detail::callable_with<F&, first_solution<Value>&>
std::optional<Value> search_first(context c, F&& f) {
  detail::check_context(c, "sukima::search_first");
  std::optional<Value> result;
  sukima::cancellable(c, [&](context below, canceller cancel) {
    auto solution = detail::solution_access::make<Value>(std::move(cancel));
    try {
      detail::call(below, f, solution);
    } catch (const aborted&) {
      result = detail::solution_access::take(solution);
      throw;
    }
    result = detail::solution_access::take(solution);
  });
  return result;
}
/// The same without a context; f takes a solution, or a context and a solution.
template <class Value, class F>
  requires detail::callable_with<F&, first_solution<Value>&>
std::optional<Value> search_first(F&& f) {
  return detail::with_context([&](context c) { return sukima::search_first<Value>(c, f); });
}

/// @}
}  // namespace SUKIMA_NAMESPACE

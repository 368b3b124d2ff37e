// SPDX-License-Identifier: Apache-2.0
// Checks how a callable takes the object that it should change: refuses a callable that would change a copy.
#pragma once

#include <sukima/context.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// The type of a function's first parameter after a context; void if it has none.
template <class Signature> struct first_parameter_of {
  using type = void;
};
template <class R, class First, class... More> struct first_parameter_of<std::function<R(First, More...)>> {
  using type = First;
};
template <class R, context_type C, class First, class... More>
struct first_parameter_of<std::function<R(C, First, More...)>> {
  using type = First;
};
/// The same for a callable; void unless it has a single call operator with declared parameters.
template <class F> struct first_parameter {
  using type = void;
};
template <class F>
  requires requires(F& f) { std::function(f); }
struct first_parameter<F> : first_parameter_of<decltype(std::function(std::declval<F&>()))> {};

/// Whether the callable gets a copy of a T, or of a base of it.
template <class F, class T, class Parameter = typename first_parameter<F>::type>
inline constexpr bool takes_copy =
    !std::is_reference_v<Parameter> && !std::is_void_v<Parameter> &&
    (std::is_same_v<std::remove_cv_t<Parameter>, T> || std::is_base_of_v<std::remove_cv_t<Parameter>, T>);
/// Whether the callable gets a T that it cannot change.
template <class F, class T> inline constexpr bool takes_constant =
    std::is_same_v<typename first_parameter<F>::type, const T&>;

/// Whether copies of a T lead to the same object: a pointer, a smart pointer, a reference_wrapper.
template <class T>
concept handle = !std::is_same_v<std::unwrap_reference_t<T>, T> || requires(const T& h) {
  requires std::is_lvalue_reference_v<decltype(*h)>;
  requires !std::is_const_v<std::remove_reference_t<decltype(*h)>>;
};

/// Refuses a body of parallel_fold that would add to a copy of its sum.
template <class Body, class T> constexpr void require_sum_by_reference() noexcept {
  static_assert(!takes_copy<Body, T> && !takes_constant<Body, T>,
                "the body of sukima::parallel_fold adds to its sum in place, and what it returns is ignored: "
                "take the sum as T&, as [](T& sum, auto x) { sum += x; }; for a body that returns a value "
                "use sukima::parallel_reduce");
}
/// Refuses steps of a search that would change a copy of the workspace. A body may take a copy, because its
/// changes are not read afterwards.
template <class Apply, class Undo, class Workspace> constexpr void require_workspace_by_reference() noexcept {
  static_assert(
      handle<Workspace> || (!takes_copy<Apply, Workspace> && !takes_copy<Undo, Workspace>),
      "apply and undo of sukima::search change the workspace in place, and would change a copy of it: "
      "take it as Workspace&, as [](Workspace& w, auto choice) { w.push(choice); }, or as const Workspace& "
      "to read it");
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// fork2 and fork: calls of functions that may run at the same time.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/fork.hpp>
#include <sukima/detail/placed.hpp>
#include <sukima/hints.hpp>

#include <tuple>

namespace SUKIMA_NAMESPACE {
/// \addtogroup forks
/// @{

/// Calls `first` and `second`, which may run at the same time, and returns both results as an aggregate
/// {first, second}, for structured bindings. The result of a void branch is a std::monostate; if both are
/// void, nothing is returned. A branch that returns a reference gives a reference.
///
/// Nothing is allocated and no task is made until another worker is idle; a fork that no worker takes costs
/// about a nanosecond. `first` runs at once, and `second` runs afterwards unless another worker has taken it.
/// Each may take a `sukima::context` as its argument and should pass it on to the functions that it calls.
/// \param c        the caller's own context
/// \param first    called at once, on this thread
/// \param second   is moved into the choice stack. Its captures may have destructors; results need no default
///                 constructor
/// \param hints    `sukima::guard(p)`: the probability of a split. `sukima::on(place)`: where the second
///                 branch should run. No other arguments are hints here; `fork` takes more than two functions
/// \throws what `first` throws, otherwise what `second` throws, after the other one was aborted and awaited;
///         `sukima::aborted` if the caller itself is aborted
/// \par Complexity constant, with two polls for each fork. docs/protocols.md describes the protocol:
///      Tascell's temporary backtracking (Hiraishi, Yasugi, Umatani, Yuasa, PPoPP 2009)
template <detail::context_type C, class First, class Second, class... Hints>
  requires detail::callable_with<First> && detail::callable_with<std::decay_t<Second>&&>
[[gnu::always_inline]] inline auto fork2(C c, First&& first, Second&& second, Hints... hints) {
  detail::require_fork_hints<Hints...>();
  detail::check_context(c, "sukima::fork2");
  if constexpr (detail::has_place<Hints...>)
    return detail::fork2_placed(c, std::forward<First>(first), std::forward<Second>(second), hints...);
  else
    return detail::fork2_in(c, std::forward<First>(first), std::decay_t<Second>(std::forward<Second>(second)),
                            detail::pick_guard(hints...));
}

/// The same without a context: the library finds it. On a thread that is not in a runtime the call enters the
/// default one.
template <class First, class Second, class... Hints>
  requires detail::callable_with<First> && detail::callable_with<std::decay_t<Second>&&>
inline auto fork2(First&& first, Second&& second, Hints... hints) {
  detail::require_fork_hints<Hints...>();
  return detail::with_context([&](context c) {
    if constexpr (detail::has_place<Hints...>)
      return detail::fork2_placed(c, std::forward<First>(first), std::forward<Second>(second), hints...);
    else
      return detail::fork2_in(c, std::forward<First>(first),
                              std::decay_t<Second>(std::forward<Second>(second)),
                              detail::pick_guard(hints...));
  });
}

/// @}
}  // namespace SUKIMA_NAMESPACE

namespace SUKIMA_DETAIL_NAMESPACE {
template <context_type C, class F> auto fork_each(C c, no_hint, F&& f);
template <context_type C, class Hint, class F, class G, class... More>
auto fork_each(C c, Hint hint, F&& f, G&& g, More&&... more);

/// The later branches of a fork as one callable, which may travel.
template <class... F> struct later_branches {
  std::tuple<F...> all;
  auto operator()(context c) {
    return std::apply([&](F&... each) { return detail::fork_each(c, no_hint{}, std::move(each)...); }, all);
  }
};

/// Calls the branches of sukima::fork. \param hint no_hint, or the place for all branches but the first
template <context_type C, class F> inline auto fork_each(C c, no_hint, F&& f) {
  using result = result_of<F>;
  if constexpr (std::is_void_v<result>) {
    detail::call(c, std::forward<F>(f));
    return std::tuple<std::monostate>{};
  } else {
    return std::tuple<stored<result>>(detail::call(c, std::forward<F>(f)));
  }
}
template <context_type C, class Hint, class F, class G, class... More>
inline auto fork_each(C c, Hint hint, F&& f, G&& g, More&&... more) {
  using results = std::tuple<stored<result_of<F>>, stored<result_of<G>>, stored<result_of<More>>...>;
  using first_result = result_of<F>;
  using later = later_branches<std::decay_t<G>, std::decay_t<More>...>;
  auto rest = [&] {
    if constexpr (travels<later>::possible)
      return later{{std::forward<G>(g), std::forward<More>(more)...}};
    else
      return [&](auto below) {
        return detail::fork_each(below, no_hint{}, std::forward<G>(g), std::forward<More>(more)...);
      };
  }();
  auto [first, others] = [&] {
    if constexpr (is_place<Hint>)
      return detail::fork2_placed(c, std::forward<F>(f), std::move(rest), std::move(hint));
    else
      return detail::fork2_in(c, std::forward<F>(f), std::move(rest), no_hint{});
  }();
  return results(std::tuple_cat(std::tuple<stored<first_result>>(std::forward<stored<first_result>>(first)),
                                std::move(others)));
}

/// A fork whose last argument is a hint.
template <context_type C, class Arguments, std::size_t... Branch>
inline auto fork_with_hint(C c, Arguments all, std::index_sequence<Branch...>) {
  return detail::fork_each(c, std::get<sizeof...(Branch)>(std::move(all)),
                           std::get<Branch>(std::move(all))...);
}
/// Whether F is a function, and not a hint that can be called.
template <class F> inline constexpr bool is_branch = callable_with<F> && !is_guard<std::remove_cvref_t<F>>;
/// Whether the arguments are two or more functions, followed by a hint.
template <class Arguments, class Indices> inline constexpr bool ends_with_place = false;
template <class Arguments, std::size_t... Branch>
inline constexpr bool ends_with_place<Arguments, std::index_sequence<Branch...>> =
    sizeof...(Branch) > 1 && (is_branch<std::tuple_element_t<Branch, Arguments>> && ...) &&
    is_place<std::remove_cvref_t<std::tuple_element_t<sizeof...(Branch), Arguments>>>;
template <class> inline constexpr bool is_fork_of = false;
}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup forks
/// @{

/// Calls any number of functions, which may run at the same time, and returns their results as a tuple in the
/// order of the arguments (std::monostate for a void result). Idle workers take the last function first, as
/// with nested calls of fork2.
///
/// After two or more functions the last argument may be a hint: `sukima::on(P)` sends all functions but the
/// first to P, `sukima::on(P, Q)` the first one to P and the others to Q.
/// \param c  the caller's own context
/// \param f  the first function; each function takes a context, or nothing
/// \throws as fork2: of several exceptions that of the earliest function
/// \par Complexity linear in the number of functions: one fork2 fewer than functions
template <detail::context_type C, class F>
  requires detail::callable_with<F>
inline auto fork(C c, F&& f) {
  detail::check_context(c, "sukima::fork");
  return detail::fork_each(c, detail::no_hint{}, std::forward<F>(f));
}

/// The same for two or more functions, and perhaps a hint.
template <detail::context_type C, class F, class G, class... More>
inline auto fork(C c, F&& f, G&& g, More&&... more) {
  detail::check_context(c, "sukima::fork");
  using arguments = std::tuple<F&&, G&&, More&&...>;
  using branches = std::make_index_sequence<sizeof...(More) + 1>;
  if constexpr (detail::is_branch<F> && detail::is_branch<G> && (detail::is_branch<More> && ...))
    return detail::fork_each(c, detail::no_hint{}, std::forward<F>(f), std::forward<G>(g),
                             std::forward<More>(more)...);
  else if constexpr (detail::ends_with_place<arguments, branches>)
    return detail::fork_with_hint(
        c, arguments(std::forward<F>(f), std::forward<G>(g), std::forward<More>(more)...), branches{});
  else
    static_assert(detail::is_fork_of<arguments>,
                  "sukima::fork takes functions that can be called with a sukima::context or without an "
                  "argument, and after two or more of them one sukima::on; other hints need sukima::fork2");
}

/// The same without a context.
template <class F>
  requires detail::callable_with<F>
inline auto fork(F&& f) {
  return detail::with_context([&](context c) { return sukima::fork(c, std::forward<F>(f)); });
}

/// The same for two or more functions, and perhaps a hint, without a context.
template <class F, class G, class... More>
  requires(!detail::context_type<std::decay_t<F>>)
inline auto fork(F&& f, G&& g, More&&... more) {
  return detail::with_context([&](context c) {
    return sukima::fork(c, std::forward<F>(f), std::forward<G>(g), std::forward<More>(more)...);
  });
}

/// @}
}  // namespace SUKIMA_NAMESPACE

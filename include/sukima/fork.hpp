// SPDX-License-Identifier: Apache-2.0
// fork2 and fork: call functions that may run at the same time.
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
/// {first, second}, made for structured bindings (std::monostate for a void one; nothing at all if both are
/// void; a reference where a branch returns a reference).
///
/// Nothing is allocated and no task is made until another worker is idle; a fork that no worker takes costs
/// about a nanosecond. `first` runs here and now; `second` runs here afterwards, unless another worker took
/// it before. Each may take a `sukima::context` as its argument and should hand it on to what it calls.
/// \param c        the caller's own context
/// \param second   is moved into the choice stack; captures may need destruction, results need no default
/// constructor
/// \param hints    `sukima::guard(p)`: may this fork be split? `sukima::on(place)`: where is the second
///                 branch to run? Nothing else; `fork` takes more functions
/// \throws what `first` throws, else what `second` throws, after the other one was aborted and awaited;
///         `sukima::aborted` where the caller itself is aborted
/// \par Complexity constant. docs/protocols.md describes the protocol: Tascell's temporary backtracking, with
/// two polls for each fork
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

/// The same without a context: it is looked up. On a thread that is not in a runtime the call enters the
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
/// The later branches of a fork, as one that may travel.
template <class... F> struct later_branches {
  std::tuple<F...> all;
  auto operator()(context c) {
    return std::apply([&](F&... each) { return fork(c, std::move(each)...); }, all);
  }
};
}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup forks
/// @{

/// Calls any number of functions, which may run at the same time; the results come as a tuple in the order of
/// the arguments, std::monostate for a void one. As nested fork2: what was written last is given away first.
template <detail::context_type C, class F> inline auto fork(C c, F&& f) {
  detail::check_context(c, "sukima::fork");
  using result = detail::result_of<F>;
  if constexpr (std::is_void_v<result>) {
    detail::call(c, std::forward<F>(f));
    return std::tuple<std::monostate>{};
  } else {
    return std::tuple<detail::stored<result>>(detail::call(c, std::forward<F>(f)));
  }
}

template <detail::context_type C, class F, class G, class... More>
inline auto fork(C c, F&& f, G&& g, More&&... more) {
  using results = std::tuple<detail::stored<detail::result_of<F>>, detail::stored<detail::result_of<G>>,
                             detail::stored<detail::result_of<More>>...>;
  using first_result = detail::result_of<F>;
  detail::check_context(c, "sukima::fork");
  using later = detail::later_branches<std::decay_t<G>, std::decay_t<More>...>;
  auto rest = [&] {
    if constexpr (detail::travels<later>::possible)
      return later{{std::forward<G>(g), std::forward<More>(more)...}};
    else
      return [&](auto below) { return fork(below, std::forward<G>(g), std::forward<More>(more)...); };
  }();
  auto [first, others] = detail::fork2_in(c, std::forward<F>(f), std::move(rest), detail::no_hint{});
  return results(std::tuple_cat(
      std::tuple<detail::stored<first_result>>(std::forward<detail::stored<first_result>>(first)),
      std::move(others)));
}

/// The same without a context.
template <class F, class G, class... More>
  requires(!detail::context_type<std::decay_t<F>>)
inline auto fork(F&& f, G&& g, More&&... more) {
  return detail::with_context([&](context c) {
    return fork(c, std::forward<F>(f), std::forward<G>(g), std::forward<More>(more)...);
  });
}

/// @}
}  // namespace SUKIMA_NAMESPACE

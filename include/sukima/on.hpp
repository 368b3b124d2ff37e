// SPDX-License-Identifier: Apache-2.0
// on: hints that say where to compute.
#pragma once

#include <sukima/detail/placed.hpp>
#include <sukima/fork.hpp>
#include <sukima/loop.hpp>
#include <sukima/place.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

/// \file
/// A hint says near which CPUs a computation should run, because its data is there. It changes nothing but
/// the place. Work that is too short to move, or for which no worker of that place is free, runs where it is.
/// docs/placement.md describes hints.

namespace SUKIMA_NAMESPACE {
/// \addtogroup places
/// @{

/// Calls f at once, with a hint that f and everything that it calls or forks should run in that place. The
/// innermost hint counts. If the worker is elsewhere and f has run for settings::hint_threshold_ns, the
/// worker exchanges fibers, at one of its next polls, with a worker in that place whose own fiber need not
/// run there. An idle worker prefers work that should run in its own place.
///
/// If the place has no worker, the smallest place around it that has one counts. A fiber that must stay on
/// its thread stays; tasks split off from it still have the hint. In a sequential clone this is a plain call.
/// \param c     the caller's own context
/// \param where a place, or a function without effects that returns one: it is called at once, or not at all
///              if hints are switched off (settings::placement). `place{}` removes an outer hint
/// \param f     takes a context, or nothing
/// \returns what f returns
/// \throws what f throws; what `where` throws: then f is not called
/// \par Complexity constant: about 0.1 µs, and about 10 ns once calls of this type of callable have been
///      short; one load if hints are switched off. Source: Schematic's `:on` (docs/placement.md)
template <detail::context_type C, class P, class F>
  requires detail::place_source<std::remove_reference_t<P>> && detail::callable_with<F>
[[gnu::always_inline]] inline decltype(auto) on(C c, P&& where, F&& f) {
  detail::check_context(c, "sukima::on");
  return detail::call_on(c, where, std::forward<F>(f));
}

/// The same without a context: the library finds it. On a thread that is not in a runtime the call enters the
/// default one.
template <class P, class F>
  requires detail::place_source<std::remove_reference_t<P>> && detail::callable_with<F> &&
           (!std::convertible_to<F, place>) && (!detail::context_type<std::remove_cvref_t<P>>)
inline decltype(auto) on(P&& where, F&& f) {
  return detail::with_context(
      [&](context c) -> decltype(auto) { return detail::call_on(c, where, std::forward<F>(f)); });
}

/// Makes a hint that is an argument of another call. It sends to that place:
/// - at fork2 the second branch, which may be given away; at fork all branches but the first;
/// - at a future, a launch, a continuation and a task group's `run` the function that these add;
/// - at parallel_reduce all iterations;
/// - at parallel_for all iterations. With a function of the loop's element it sends each iteration to the
///   place that the function returns. Then the iterations are grouped by place, with one fork for each place,
///   the caller's own place first. That takes about ten bytes of memory for each iteration, and keeps no
///   order among them.
/// \param where a place, or a function without effects that returns one. fork2 calls it when the branch is
///              given away and when it begins; its exception leaves by the next join of the fiber, or by
///              fork2. parallel_for calls it before the first iteration begins
template <class P>
  requires(!detail::context_type<P>)
[[nodiscard("this sukima::on is an argument for a fork, a loop or a future; sukima::on(place, f) calls f")]]
detail::place_hint<P> on(P where) {
  return {std::move(where), {}};
}
/// Makes a hint for fork2 and fork: it sends the first branch to `first`, the others to `second`.
template <class P>
  requires detail::place_source<P> && (!detail::context_type<P>)
[[nodiscard("this sukima::on is an argument for a fork, a loop or a future; sukima::on(place, f) calls f")]]
detail::place_hint<place, P> on(P first, place second) {
  return {second, std::move(first)};
}

/// @}
}  // namespace SUKIMA_NAMESPACE

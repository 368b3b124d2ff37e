// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_reduce: loops over integers, random-access iterators and ranges.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/clone_loop.hpp>
#include <sukima/detail/fixed_order.hpp>
#include <sukima/detail/loop_frames.hpp>
#include <sukima/detail/loop_range.hpp>
#include <sukima/hints.hpp>

#include <functional>
#include <ranges>

namespace sukima::detail {

/// Hints that a loop's frame keeps.
template <class Guard, class Split, class Grain> struct loop_hints {
  [[no_unique_address]] Guard guard_;
  [[no_unique_address]] Split split_;
  [[no_unique_address]] Grain grain_;
  std::int64_t grain() const noexcept { return detail::iterations_of(grain_); }
  double guard()
    requires(!std::is_same_v<Guard, no_hint>)
  {
    return guard_();
  }
  std::int64_t split_place(std::int64_t next, std::int64_t end)
    requires(!std::is_same_v<Split, no_hint>)
  {
    return static_cast<std::int64_t>(split_.place(next, end));
  }
};

template <class... Hint> auto pick_hints(Hint... hints) {
  return loop_hints<decltype(detail::pick_guard(hints...)), decltype(detail::pick_split(hints...)),
                    decltype(detail::pick_grain(hints...))>{
      detail::pick_guard(hints...), detail::pick_split(hints...), detail::pick_grain(hints...)};
}

template <class Body> constexpr void require_combine() noexcept {
  static_assert(sizeof(Body) == 0,
                "sukima::parallel_reduce needs a function that combines two results after the body, as in "
                "sukima::parallel_reduce(first, last, init, body, std::plus{})");
}

template <class Body, class I>
concept loop_body = callable_with<Body&, element_of<I>>;

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Runs a loop with a hint where its iterations should run (detail/placed_loop.hpp).
template <context_type C, class Source, class Place, class Body, class... Hints>
void for_in_places(C c, const Source& source, Place from, Place to, Body& body, Hints... hints);
template <class T, context_type C, class Source, class Place, class Body, class Combine, class... Hints>
T reduce_in_place(C c, const Source& s, Place from, Place to, T init, Body& b, Combine& f, Hints... hints);

/// parallel_reduce with a result that does not depend on what is split off (detail/ordered_loop.hpp).
template <class T, context_type C, class Source, class Body, class Combine, class... Hints>
T reduce_in_fixed_order(C c, const Source& source, place_of<Source> from, place_of<Source> to, T init,
                        Body& body, Combine& combine, Hints... hints);

/// Runs a loop over the iterations [from, to) of a source.
template <context_type C, class Source, class End, class Body, class... Hints>
[[gnu::always_inline]] inline void parallel_for_between(C c, Source source, place_of<Source> from, End to,
                                                        Body& body, Hints... hints) {
  if constexpr (!has_place<Hints...>) require_loop_hints<Hints...>();
  auto chosen = detail::pick_hints(hints...);
  if constexpr (has_place<Hints...>) {
    detail::for_in_places(c, source, from, detail::end_from(from, to), body, hints...);
  } else if constexpr (clonable_loop<C, Source, Body>) {
    using work = for_work<Source, Body, decltype(chosen)>;
    detail::loop_in<loop_place<Source, Body>>(c, work{std::move(source), local_callable<Body>(body), chosen},
                                              from, to, nothing{});
  } else {
    const auto here = context_for<Body>(c);
    for_frame<Source, Body, decltype(chosen), std::remove_const_t<decltype(here)>> frame(
        here, chosen, std::move(source), body);
    frame.run(here, from, detail::end_from(from, to));
  }
}
template <class T, context_type C, class Source, class End, class Body, class Combine, class... Hints>
[[gnu::always_inline]] inline T reduce_between(C c, Source source, place_of<Source> from, End to, T init,
                                               Body& body, Combine& combine, Hints... hints) {
  if constexpr (!has_place<Hints...>) {
    require_loop_hints<Hints...>();
    if constexpr (!exactly_associative<T, std::remove_const_t<Combine>>) {
      if (uses_fixed_order()) [[unlikely]]
        return detail::reduce_in_fixed_order(c, source, from, detail::end_from(from, to), std::move(init),
                                             body, combine, hints...);
    }
  }
  auto chosen = detail::pick_hints(hints...);
  if constexpr (has_place<Hints...>) {
    return detail::reduce_in_place<T>(c, source, from, detail::end_from(from, to), std::move(init), body,
                                      combine, hints...);
  } else if constexpr (clonable_loop<C, Source, Body>) {
    using work = reduce_work<T, Source, Body, Combine, decltype(chosen)>;
    return detail::loop_in<loop_place<Source, Body, Combine>>(
        c, work{std::move(source), local_callable<Body>(body), local_callable<Combine>(combine), chosen},
        from, to, std::move(init));
  } else {
    const auto here = context_for<Body>(c);
    reduce_frame<T, Source, Body, Combine, decltype(chosen), std::remove_const_t<decltype(here)>> frame(
        here, chosen, std::move(source), body, combine);
    return frame.loop(here, from, detail::end_from(from, to), std::move(init),
                      fold_into<T, Combine>{combine});
  }
}
/// The same with a reduction. `combine` may be a pointer to a member function.
template <class T, context_type C, class Source, class End, class Body, class Combine, class... Hints>
[[gnu::always_inline]] inline T parallel_reduce_between(C c, Source source, place_of<Source> from, End to,
                                                        T init, Body& body, Combine& combine,
                                                        Hints... hints) {
  if constexpr (std::is_member_pointer_v<std::remove_const_t<Combine>>) {
    auto function = std::mem_fn(combine);
    return detail::parallel_reduce_between<T>(c, std::move(source), from, to, std::move(init), body, function,
                                              hints...);
  } else {
    constexpr bool combined = combines<T, Combine, Body, typename Source::arguments>;
    static_assert(combined,
                  "the body of sukima::parallel_reduce returns a value that combine takes as its second "
                  "argument and that the type of init can be made from, but no number for a container, whose "
                  "size it would be; combine also joins two results, and gives what the type of init can be "
                  "assigned");
    if constexpr (combined)
      return detail::reduce_between<T>(c, std::move(source), from, to, std::move(init), body, combine,
                                       hints...);
    else
      return init;
  }
}

/// Runs a loop over the first `count` iterations of a source.
template <context_type C, class Source, class Body, class... Hints>
[[gnu::always_inline]] inline void parallel_for_over(C c, Source source, std::int64_t count, Body& body,
                                                     Hints... hints) {
  detail::parallel_for_between(c, std::move(source), 0, count, body, hints...);
}
template <context_type C, class Source, class T, class Body, class Combine, class... Hints>
[[gnu::always_inline]] inline T parallel_reduce_over(C c, Source source, std::int64_t count, T init,
                                                     Body& body, Combine& combine, Hints... hints) {
  return detail::parallel_reduce_between<T>(c, std::move(source), 0, count, std::move(init), body, combine,
                                            hints...);
}

template <loop_index I, context_type C, class Body, class... Hints>
[[gnu::always_inline]] inline void parallel_for_at(C c, I first, I last, Body& body, Hints... hints) {
  detail::parallel_for_over(c, element_source<I>{first}, detail::distance(first, last), body, hints...);
}

template <class T, loop_index I, context_type C, class Body, class Combine, class... Hints>
[[gnu::always_inline]] inline T parallel_reduce_at(C c, I first, I last, T init, Body& body, Combine& combine,
                                                   Hints... hints) {
  return detail::parallel_reduce_over(c, element_source<I>{first}, detail::distance(first, last),
                                      std::move(init), body, combine, hints...);
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup loops
/// @{

/// Calls body(i) for each i in [first, last), in any order and perhaps at the same time.
///
/// `first` and `last` are integers of at most 64 bits, or random-access iterators; with iterators the body
/// gets the element. Integers are both signed or both unsigned, unless a signed type has all values of both:
/// write std::size_t{0}, not 0, before v.size(). The body may take a context before the element. Then the
/// loop polls before each iteration, otherwise about once in a microsecond. A body whose only parameter is
/// `auto...` gets no context. Iterations are given away in halves, from the upper end, only when another
/// worker is idle.
/// \param c     the caller's own context
/// \param first, last  the bounds; without iterations if `last` is not above `first`
/// \param body  body(i) or body(context, i); its result is ignored
/// \param hints `sukima::guard`, `sukima::split`, `sukima::grain`, `sukima::on`
/// \throws what the body throws, after the remaining iterations were aborted; of several exceptions that have
///         arrived by then, that of the lowest iteration. `sukima::aborted` if the caller itself is aborted;
///         std::length_error for more than 2^63 - 1 integers
/// \par Complexity last − first calls of body
template <detail::context_type C, class A, class B, class Body, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
[[gnu::always_inline]] inline void parallel_for(C c, A first, B last, Body&& body, Hints... hints) {
  using index = detail::common_index<A, B>;
  detail::require_bounds<A, B>();
  detail::check_context(c, "sukima::parallel_for");
  detail::parallel_for_at<index>(c, static_cast<index>(first), static_cast<index>(last), body, hints...);
}

/// The same over a random-access range.
template <detail::context_type C, detail::indexed_range Range, class Body, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
[[gnu::always_inline]] inline void parallel_for(C c, Range&& range, Body&& body, Hints... hints) {
  detail::check_context(c, "sukima::parallel_for");
  auto first = std::ranges::begin(range);
  detail::parallel_for_between(c, detail::element_source<decltype(first)>{first}, 0,
                               detail::end_of(range, first), body, hints...);
}

/// The same without a context.
template <class A, class B, class Body, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
inline void parallel_for(A first, B last, Body&& body, Hints... hints) {
  detail::with_context([&](context c) { sukima::parallel_for(c, first, last, body, hints...); });
}
/// The same over a random-access range, without a context.
template <detail::indexed_range Range, class Body, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
inline void parallel_for(Range&& range, Body&& body, Hints... hints) {
  detail::with_context([&](context c) { sukima::parallel_for(c, range, body, hints...); });
}

/// Returns init ⊕ body(first) ⊕ body(first + 1) ⊕ …, where a ⊕ b is combine(a, b). ⊕ must be associative; it
/// need not be commutative, because results are combined in the order of iterations. `init` is used once and
/// need not be neutral.
///
/// Elements, context, hints and exceptions are as for parallel_for; `sukima::on` takes one place for the
/// whole loop. Sums of floating-point numbers may differ in rounding from run to run, except under `--hope`
/// (docs/hope.md).
/// \param c, first, last, hints  as for parallel_for
/// \param init    the first operand; it also gives the type of the result
/// \param body    returns a value that `combine` takes as its second argument and that T can be made from;
///                but no number if T is a container, because T(number) is a container of that size
/// \param combine T combine(T, T); may be the name of a function or a pointer to a member function
/// \returns the combined value; `init` if there are no iterations
/// \throws as parallel_for; also what `combine` throws
/// \par Complexity last − first calls of body and of combine, and one more of combine for each piece given
///      away
template <detail::context_type C, class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
[[gnu::always_inline]] inline T parallel_reduce(C c, A first, B last, T init, Body&& body, Combine&& combine,
                                                Hints... hints) {
  using index = detail::common_index<A, B>;
  detail::require_bounds<A, B>();
  detail::check_context(c, "sukima::parallel_reduce");
  return detail::parallel_reduce_at<T, index>(c, static_cast<index>(first), static_cast<index>(last),
                                              std::move(init), body, combine, hints...);
}
/// The same over a random-access range.
template <detail::context_type C, detail::indexed_range Range, class T, class Body, class Combine,
          class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
[[gnu::always_inline]] inline T parallel_reduce(C c, Range&& range, T init, Body&& body, Combine&& combine,
                                                Hints... hints) {
  detail::check_context(c, "sukima::parallel_reduce");
  auto first = std::ranges::begin(range);
  return detail::parallel_reduce_between<T>(c, detail::element_source<decltype(first)>{first}, 0,
                                            detail::end_of(range, first), std::move(init), body, combine,
                                            hints...);
}

/// The same without a context.
template <class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
[[gnu::always_inline]] inline T parallel_reduce(A first, B last, T init, Body&& body, Combine&& combine,
                                                Hints... hints) {
  return detail::with_context_inlined([&](context c) __attribute__((always_inline)) {
    return sukima::parallel_reduce(c, first, last, std::move(init), body, combine, hints...);
  });
}
/// The same over a random-access range, without a context.
template <detail::indexed_range Range, class T, class Body, class Combine, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
[[gnu::always_inline]] inline T parallel_reduce(Range&& range, T init, Body&& body, Combine&& combine,
                                                Hints... hints) {
  return detail::with_context_inlined([&](context c) __attribute__((always_inline)) {
    return sukima::parallel_reduce(c, range, std::move(init), body, combine, hints...);
  });
}

/// \cond
// Overloads for reductions without `combine`: the compiler reports a sentence about them.
template <class A, class B, class T, class Body>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
T parallel_reduce(A, B, T init, Body&&) {
  detail::require_combine<Body>();
  return init;
}
template <detail::context_type C, class A, class B, class T, class Body>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
T parallel_reduce(C, A, B, T init, Body&&) {
  detail::require_combine<Body>();
  return init;
}
template <detail::indexed_range Range, class T, class Body>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
T parallel_reduce(Range&&, T init, Body&&) {
  detail::require_combine<Body>();
  return init;
}
template <detail::context_type C, detail::indexed_range Range, class T, class Body>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
T parallel_reduce(C, Range&&, T init, Body&&) {
  detail::require_combine<Body>();
  return init;
}
/// \endcond

/// @}
}  // namespace SUKIMA_NAMESPACE

#include <sukima/detail/placed_loop.hpp>

#include <sukima/detail/ordered_loop.hpp>

// SPDX-License-Identifier: Apache-2.0
// parallel_fold: a reduction whose body adds to a sum in place, with no value for each element.
#pragma once

#include <sukima/detail/by_reference.hpp>
#include <sukima/detail/loop_source.hpp>
#include <sukima/loop.hpp>
#include <sukima/ranges.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

template <class T, class Source, class Body, class Combine, class Hints, class C> struct fold_frame : Hints {
  Source elements;
  const T& identity;
  Body& body;
  Combine& combine;
  [[no_unique_address]] kept_depth<C> depth;

  fold_frame(C here, Hints hints, Source source, const T& zero, Body& b, Combine& c)
      : Hints(hints), elements(std::move(source)), identity(zero), body(b), combine(c), depth(here) {}
  fold_frame(const fold_frame& outer, const Source& source)
      : Hints(outer),
        elements(source),
        identity(outer.identity),
        body(outer.body),
        combine(outer.combine),
        depth(outer.depth) {}

  struct fold_task : loop_task {
    std::optional<T> value;
  };
  loop_task* make_task() {
    auto* t = detail::new_task_over<Source, fold_task>(elements);
    using task_type = std::remove_pointer_t<decltype(t)>;
    t->run = [](task* self, context c) {
      auto* me = static_cast<task_type*>(self);
      detail::with_frame_of<fold_frame>(me, [&](fold_frame& f) {
        f.depth.run_piece(c,
                          [&](auto at) { me->value.emplace(f.loop(at, me->from, me->to, T(f.identity))); });
      });
    };
    t->destroy = delete_task<task_type>;
    return t;
  }
  template <context_type At>
  [[gnu::always_inline]] T loop(At c, std::int64_t from, std::int64_t to, T init) {
    return detail::run_loop(
        c, *this, from, to, std::move(init),
        [this](loop_point* r, At below, T sum) {
          return detail::iterate<T&>(r, below, this->grain(), body, elements, std::move(sum),
                                     [](T& into, auto&& f) { f(into); });
        },
        [this](T& into, task* t) {
          into = combine(std::move(into), std::move(*static_cast<fold_task*>(t)->value));
        });
  }
};

/// The work of a fold, for its parallel version and for its clone.
template <class T, class Source, class Body, class Combine, class Hints> struct fold_work {
  using place = std::int64_t;
  static constexpr bool in_blocks = Source::in_blocks;
  [[no_unique_address]] Source source;
  const T& identity;
  [[no_unique_address]] local_callable<Body> body;
  [[no_unique_address]] local_callable<Combine> combine;
  [[no_unique_address]] Hints hints;

  template <context_type C>
  [[gnu::always_inline]] T in_parallel(C c, place from, place to, T sum) const {
    fold_frame<T, Source, Body, Combine, Hints, C> frame(c, hints, source, identity, body.get(),
                                                         combine.get());
    return frame.loop(c, from, to, std::move(sum));
  }
  template <clone_context_type C, class... Where>
  [[gnu::always_inline]] void step(C c, T& sum, Where... where) const {
    detail::visit(
        source,
        [&](auto&&... element) {
          detail::call(c, body.get(), sum, std::forward<decltype(element)>(element)...);
        },
        where...);
  }
};

/// The body of a fold in the fixed order: adds up one block, starting with the neutral element.
template <class T, class Source, class Body, bool WithContext> struct block_fold {
  const block_numbers<Source>& blocks;
  const T& identity;
  Body& body;
  T operator()(context c, std::int64_t block) const {
    T sum(identity);
    blocks.visit(block, [&](auto&&... element) {
      detail::call(c, body, sum, std::forward<decltype(element)>(element)...);
    });
    return sum;
  }
};
template <class T, class Source, class Body> struct block_fold<T, Source, Body, false> {
  const block_numbers<Source>& blocks;
  const T& identity;
  Body& body;
  T operator()(std::int64_t block) const {
    T sum(identity);
    blocks.visit(block, [&](auto&&... element) {
      std::invoke(body, sum, std::forward<decltype(element)>(element)...);
    });
    return sum;
  }
};
/// The number of sums of a fold. It is small because sums are costly to make.
inline constexpr std::int64_t blocks_of_a_fold = 128;

/// parallel_fold in the fixed order: its sums begin at the same elements, whatever work is split off.
template <context_type C, class T, class Source, class Body, class Combine>
[[gnu::noinline]] T fold_in_fixed_order(C c, const Source& source, std::int64_t count, const T& identity,
                                        Body& body, Combine& combine) {
  if constexpr (Source::walks) {
    const auto reached = detail::reach(source.at, count);
    return detail::fold_in_fixed_order(c, reached_source<std::decay_t<decltype(source.at)>>{reached.data()},
                                       count, identity, body, combine);
  } else {
    const block_numbers<Source> blocks{source, count, block_size(count, blocks_of_a_fold)};
    const block_fold<T, Source, Body, body_takes_context<Body&, typename Source::arguments, T&>> each{
        blocks, identity, body};
    return detail::reduce_in_fixed_order(static_cast<context>(c), element_source<std::int64_t>{0}, 0,
                                         blocks.blocks(), T(identity), each, combine);
  }
}

/// Refuses callables of a fold that do not fit its sum. \returns true if they fit
template <class T, class Body, class Combine> consteval bool require_fold_arguments() noexcept {
  require_sum_by_reference<std::remove_cvref_t<Body>, T>();
  constexpr bool combined = std::is_invocable_v<fold_into<T, Combine>, T&, T>;
  static_assert(combined,
                "combine of sukima::parallel_fold joins the sums of two pieces, as in T combine(T, T), and "
                "gives what the type of identity can be assigned");
  return combined;
}

template <context_type C, class T, class Source, class Body, class Combine, class... Hints>
T fold_over(C c, Source source, std::int64_t count, const T& identity, Body& body, Combine& combine,
            Hints... hints) {
  if constexpr (!exactly_associative<T, std::remove_const_t<Combine>>) {
    if (uses_fixed_order()) [[unlikely]]
      return detail::fold_in_fixed_order(c, source, count, identity, body, combine);
  }
  auto chosen = detail::pick_hints(hints...);
  if constexpr (clonable_loop<C, Source, Body, T&>) {
    using work = fold_work<T, Source, Body, Combine, decltype(chosen)>;
    return detail::loop_in<loop_place<Source, Body, Combine>>(
        c,
        work{std::move(source), identity, local_callable<Body>(body), local_callable<Combine>(combine),
             chosen},
        std::int64_t{0}, count, T(identity));
  } else {
    const auto here = context_for<Body>(c);
    fold_frame<T, Source, Body, Combine, decltype(chosen), std::remove_const_t<decltype(here)>> frame(
        here, chosen, std::move(source), identity, body, combine);
    return frame.loop(here, 0, count, T(identity));
  }
}
/// The same if the callables fit. `combine` may be a pointer to a member function.
template <context_type C, class T, class Source, class Body, class Combine, class... Hints>
T parallel_fold_over(C c, Source source, std::int64_t count, const T& identity, Body& body, Combine& combine,
                     Hints... hints) {
  require_loop_hints<Hints...>();
  auto&& joins = detail::without_member_pointer(combine);
  if constexpr (require_fold_arguments<T, Body, std::remove_reference_t<decltype(joins)>>())
    return detail::fold_over(c, std::move(source), count, identity, body, joins, hints...);
  else
    return T(identity);
}

template <class Range>
concept any_range = other_range<Range> || indexed_range<Range>;

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace SUKIMA_NAMESPACE {
/// \addtogroup loops
/// @{

/// Adds elements to a sum in place. Each piece of the range begins with a copy of `identity`. body(sum,
/// element) or body(context, sum, element) changes this sum for each element, and combine(a, b) joins the
/// sums of neighbouring pieces in the order of the elements.
///
/// Use it for sums that are costly to make or to copy for each element: histograms, sets, strings, matrices.
/// There is one sum, and one more for each piece that another worker took. rayon calls this fold and reduce;
/// TBB's parallel_reduce has this form.
/// \param c         the caller's own context
/// \param first, last  the elements, as for parallel_for
/// \param identity  combine(identity, x) must be x. Copied at the beginning of each piece
/// \param body      body(T& sum, element); with a blocked_range body(T& sum, begin, end), with a range2d
///                  body(T& sum, row, column). Its result is ignored. A body that takes T or const T& would
///                  lose what it adds, so it does not compile
/// \param combine   T combine(T, T), associative; may be a pointer to a member function
/// \param hints     `sukima::guard`, `sukima::split`, `sukima::grain`
/// \returns the sum of all elements; a copy of `identity` if there are none
/// \throws as parallel_for
/// \par Complexity last − first calls of body; one copy of identity and one combine for each piece given away
template <detail::context_type C, class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> && std::copy_constructible<T> &&
           detail::callable_with<Body&, T&, detail::element_of<detail::common_index<A, B>>>
T parallel_fold(C c, A first, B last, const T& identity, Body&& body, Combine&& combine, Hints... hints) {
  using index = detail::common_index<A, B>;
  detail::require_bounds<A, B>();
  detail::check_context(c, "sukima::parallel_fold");
  const auto from = static_cast<index>(first);
  return detail::parallel_fold_over(c, detail::element_source<index>{from},
                                    detail::distance(from, static_cast<index>(last)), identity, body, combine,
                                    hints...);
}
/// The same over a range, as for parallel_for.
template <detail::context_type C, detail::any_range Range, class T, class Body, class Combine, class... Hints>
  requires std::copy_constructible<T> && detail::body_over<Body, Range, T&>
T parallel_fold(C c, Range&& range, const T& identity, Body&& body, Combine&& combine, Hints... hints) {
  detail::check_context(c, "sukima::parallel_fold");
  return detail::with_source(range, [&](auto source, std::int64_t count) {
    return detail::parallel_fold_over(c, source, count, identity, body, combine, hints...);
  });
}

/// The same without a context.
template <class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> && std::copy_constructible<T> &&
           detail::callable_with<Body&, T&, detail::element_of<detail::common_index<A, B>>>
T parallel_fold(A first, B last, const T& identity, Body&& body, Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_fold(c, first, last, identity, body, combine, hints...); });
}
/// The same over a range, without a context.
template <detail::any_range Range, class T, class Body, class Combine, class... Hints>
  requires std::copy_constructible<T> && detail::body_over<Body, Range, T&>
T parallel_fold(Range&& range, const T& identity, Body&& body, Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_fold(c, range, identity, body, combine, hints...); });
}

/// The same over a range that splits itself, in the order of its elements. The first part begins with a copy
/// of `identity`, and so does each part that is split off.
/// \throws what the body, `combine` or `split` throws; `aborted` as for fork2
/// \par Complexity as parallel_for over such a range; one copy of identity and one combine for each part
template <detail::context_type C, splittable S, class T, class Body, class Combine>
  requires std::copy_constructible<T> && detail::callable_with<Body&, T&, std::ranges::range_reference_t<S>>
T parallel_fold(C c, S s, const T& identity, Body&& body, Combine&& combine) {
  detail::check_context(c, "sukima::parallel_fold");
  auto&& joins = detail::without_member_pointer(combine);
  if constexpr (detail::require_fold_arguments<T, Body, std::remove_reference_t<decltype(joins)>>())
    return detail::fold_split<T>(c, s, T(identity), identity, body, joins);
  else
    return T(identity);
}
/// The same without a context.
template <splittable S, class T, class Body, class Combine>
  requires std::copy_constructible<T> && detail::callable_with<Body&, T&, std::ranges::range_reference_t<S>>
T parallel_fold(S s, const T& identity, Body&& body, Combine&& combine) {
  return detail::with_context(
      [&](context c) { return sukima::parallel_fold(c, std::move(s), identity, body, combine); });
}

/// @}
}  // namespace SUKIMA_NAMESPACE

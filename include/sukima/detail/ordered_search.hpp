// SPDX-License-Identifier: Apache-2.0
// search in the fixed order: the same search over choices that know their numbers (fixed_order.hpp).
#pragma once

#include <sukima/detail/ordered_loop.hpp>
#include <sukima/detail/search.hpp>

#include <type_traits>
#include <utility>

namespace sukima::detail {

/// The elements of a source with their numbers.
template <class Source> struct numbered_source {
  [[no_unique_address]] Source source;
  using element = decltype(std::declval<const Source&>()[0]);
  using arguments = argument_list<numbered_element<element>>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  numbered_element<element> operator[](std::int64_t i) const {
    return {static_cast<std::uint64_t>(i), source[i]};
  }
};

/// `apply` or `undo`, called with a numbered choice.
template <class F> struct step_by_number {
  [[no_unique_address]] shared_callable<F> step;
  template <class Workspace, class Numbered>
  [[gnu::always_inline]] decltype(auto) operator()(Workspace& workspace, Numbered&& choice) const {
    return step.get()(workspace, choice.element);
  }
};

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// The body of a numbered search.
template <class T, class Workspace, class Element, class Body> struct ordered_search_body {
  [[no_unique_address]] shared_callable<Body> body;
  numbered<T> operator()(context c, Workspace& workspace, numbered_element<Element>& choice) const {
    return {choice.number, static_cast<T>(detail::call(c, body.get(), workspace, choice.element))};
  }
};

template <class Element, class T, class Workspace, class Source, class Apply, class Undo, class Body,
          class Combine, class... Hints>
T search_numbered(context c, Workspace& workspace, Source source, place_of<Source> from, place_of<Source> to,
                  Apply& apply, Undo& undo, Body& body, T init, Combine& combine, Hints... hints) {
  step_by_number<Apply> applies{shared_callable<Apply>(apply)};
  step_by_number<Undo> undoes{shared_callable<Undo>(undo)};
  ordered_search_body<T, Workspace, Element, Body> each{shared_callable<Body>(body)};
  ordered_combine<Combine> with{shared_callable<Combine>(combine)};
  auto values = detail::search_between(c, workspace, source, from, to, applies, undoes, each,
                                       ordered_values<T>(), with, hints...);
  if (values.empty()) return init;
  return combine(std::move(init), std::move(values).total(combine));
}

template <context_type C, class Workspace, class Source, class Apply, class Undo, class Body, class T,
          class Combine, class... Hints>
[[gnu::noinline]] T search_in_fixed_order(C c, Workspace& workspace, const Source& source,
                                          place_of<Source> from, place_of<Source> to, Apply& apply,
                                          Undo& undo, Body& body, T init, Combine& combine, Hints... hints) {
  using place = place_of<Source>;
  const auto here = static_cast<context>(c);
  if constexpr (std::is_same_v<place, std::int64_t>) {
    using numbers = numbered_source<Source>;
    return detail::search_numbered<typename numbers::element>(
        here, workspace, numbers{source}, from, to, apply, undo, body, std::move(init), combine, hints...);
  } else if constexpr (numbered_place<place>) {
    using iterator = numbered_iterator<place>;
    return detail::search_numbered<std::iter_reference_t<place>>(
        here, workspace, successor_source<iterator>{}, iterator(from), iterator(to), apply, undo, body,
        std::move(init), combine, hints...);
  } else {
    const auto reached = detail::reach_until(from, to);
    using numbers = numbered_source<reached_source<place>>;
    return detail::search_numbered<typename numbers::element>(
        here, workspace, numbers{{reached.data()}}, 0, static_cast<std::int64_t>(reached.size()), apply, undo,
        body, std::move(init), combine, hints...);
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

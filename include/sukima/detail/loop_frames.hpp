// SPDX-License-Identifier: Apache-2.0
// The frames of parallel_for and parallel_reduce, which their pieces share, and the work of these loops in a
// clone.
#pragma once

#include <sukima/detail/clone_loop.hpp>
#include <sukima/detail/loop.hpp>
#include <sukima/detail/shared_callable.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Whether a T that is made from an X can begin the sum of a stolen piece. A container that is made from a
/// number would have that size instead of that element.
template <class T, class X>
concept begins_sum =
    std::constructible_from<T, X> &&
    (std::convertible_to<X, T> || !(std::ranges::range<T> && std::convertible_to<X, std::size_t>));

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// The task of a piece whose source walks. It has a source of its own, which begins where the owner's was.
template <class Source, class Task> struct walking_task : Task {
  Source source;
  explicit walking_task(const Source& s) : source(s) {}
};
template <class Source, class Task> using task_over =
    std::conditional_t<Source::walks, walking_task<Source, Task>, Task>;
template <class Source, class Task> task_over<Source, Task>* new_task_over(const Source& source) {
  if constexpr (Source::walks)
    return new walking_task<Source, Task>(source);
  else
    return new Task;
}
/// Calls f(frame) with the frame that a piece works with: the one of the loop it was split off from, or a
/// copy with the piece's own source.
template <class Frame, class Task, class F> void with_frame_of(Task* piece, F&& f) {
  auto* const outer = static_cast<Frame*>(piece->frame);
  if constexpr (requires { piece->source; }) {
    Frame mine(*outer, piece->source);
    f(mine);
  } else {
    f(*outer);
  }
}

template <class Source, class Body, class Hints, class C> struct for_frame : Hints {
  Source elements;
  Body& body;
  [[no_unique_address]] kept_depth<C> depth;

  for_frame(C c, Hints hints, Source source, Body& b)
      : Hints(hints), elements(std::move(source)), body(b), depth(c) {}
  for_frame(const for_frame& outer, const Source& source)
      : Hints(outer), elements(source), body(outer.body), depth(outer.depth) {}

  using place = place_of<Source>;
  piece_task<place>* make_task() {
    auto* t = detail::new_task_over<Source, piece_task<place>>(elements);
    using task_type = std::remove_pointer_t<decltype(t)>;
    t->run = [](task* self, context c) {
      auto* me = static_cast<task_type*>(self);
      detail::with_frame_of<for_frame>(me, [&](for_frame& frame) {
        frame.depth.run_piece(c, [&](auto at) { frame.run(at, me->from, me->to); });
      });
    };
    t->destroy = delete_task<task_type>;
    return t;
  }
  template <context_type At> [[gnu::always_inline]] void run(At c, place from, place to) {
    detail::run_loop(
        c, *this, from, to, nothing{},
        [this](auto* r, At below, nothing none) {
          return detail::iterate<>(r, below, this->grain(), body, elements, none,
                                   [](nothing&, auto&& f) { f(); });
        },
        [](nothing&, task*) {});
  }
};

/// Combines a result with the sum of a loop so far …
template <class T, class Combine> struct fold_into {
  Combine& combine;
  template <class X>
    requires requires(T& sum, Combine& f, X&& x) { sum = f(std::move(sum), std::forward<X>(x)); }
  [[gnu::always_inline]] void operator()(T& sum, X&& x) const {
    sum = combine(std::move(sum), std::forward<X>(x));
  }
};
/// … or begins the sum of a stolen piece with its first result: no neutral element is needed.
template <class T, class Combine> struct fold_into_nothing {
  Combine& combine;
  template <class X>
    requires begins_sum<T, X&&> && std::is_invocable_v<Combine&, T&&, X&&>
  void operator()(std::optional<T>& sum, X&& x) const {
    if (sum)
      sum = combine(std::move(*sum), std::forward<X>(x));
    else
      sum.emplace(std::forward<X>(x));
  }
};

/// Whether a body's result can be combined with a sum and can begin one, and two sums can be combined.
template <class T, class Combine, class Body, class List> inline constexpr bool combines = false;
template <class T, class Combine, class Body, class... Arguments>
inline constexpr bool combines<T, Combine, Body, argument_list<Arguments...>> =
    std::is_invocable_v<fold_into<T, Combine>, T&, result_of<Body&, Arguments...>> &&
    std::is_invocable_v<fold_into<T, Combine>, T&, T> &&
    std::is_invocable_v<fold_into_nothing<T, Combine>, std::optional<T>&, result_of<Body&, Arguments...>>;

template <class T, class Source, class Body, class Combine, class Hints, class C>
struct reduce_frame : Hints {
  Source elements;
  Body& body;
  [[no_unique_address]] shared_callable<Combine> combine;
  [[no_unique_address]] kept_depth<C> depth;

  reduce_frame(C c, Hints hints, Source source, Body& b, Combine& with)
      : Hints(hints), elements(std::move(source)), body(b), combine(with), depth(c) {}
  reduce_frame(const reduce_frame& outer, const Source& source)
      : Hints(outer), elements(source), body(outer.body), combine(outer.combine), depth(outer.depth) {}

  using place = place_of<Source>;
  struct reduce_task : piece_task<place> {
    std::optional<T> value;  ///< empty until its first iteration has ended: no neutral element is needed
  };
  piece_task<place>* make_task() {
    auto* t = detail::new_task_over<Source, reduce_task>(elements);
    using task_type = std::remove_pointer_t<decltype(t)>;
    t->run = [](task* self, context c) {
      auto* me = static_cast<task_type*>(self);
      detail::with_frame_of<reduce_frame>(me, [&](reduce_frame& f) {
        me->value = f.depth.run_piece(c, [&](auto at) {
          return f.loop(at, me->from, me->to, std::optional<T>(),
                        fold_into_nothing<T, Combine>{f.combine.get()});
        });
      });
    };
    t->destroy = delete_task<task_type>;
    return t;
  }
  template <context_type At, class Sum, class Fold>
  [[gnu::always_inline]] Sum loop(At c, place from, place to, Sum sum, Fold fold) {
    return detail::run_loop(
        c, *this, from, to, std::move(sum),
        [this, fold](auto* r, At below, Sum s) __attribute__((always_inline)) {
          return detail::iterate<>(r, below, this->grain(), body, elements, std::move(s),
                                   [fold](Sum& into, auto&& f)
                                       __attribute__((always_inline)) { fold(into, f()); });
        },
        [fold](Sum& into, task* t) {
          if (auto& value = static_cast<reduce_task*>(t)->value) fold(into, std::move(*value));
        });
  }
};

/// The work of a loop, for its parallel version and for its clone.
template <class Source, class Body, class Hints> struct for_work {
  using place = place_of<Source>;
  static constexpr bool in_blocks = Source::in_blocks;
  [[no_unique_address]] Source source;
  [[no_unique_address]] local_callable<Body> body;
  [[no_unique_address]] Hints hints;

  template <context_type C>
  [[gnu::always_inline]] nothing in_parallel(C c, place from, place to, nothing none) const {
    for_frame<Source, Body, Hints, C> frame(c, hints, source, body.get());
    frame.run(c, from, to);
    return none;
  }
  template <clone_context_type C, class... Where>
  [[gnu::always_inline]] void step(C c, nothing&, Where... where) const {
    detail::visit(
        source,
        [&](auto&&... element) { detail::call(c, body.get(), std::forward<decltype(element)>(element)...); },
        where...);
  }
};
template <class T, class Source, class Body, class Combine, class Hints> struct reduce_work {
  using place = place_of<Source>;
  static constexpr bool in_blocks = Source::in_blocks;
  [[no_unique_address]] Source source;
  [[no_unique_address]] local_callable<Body> body;
  [[no_unique_address]] local_callable<Combine> combine;
  [[no_unique_address]] Hints hints;

  template <context_type C>
  [[gnu::always_inline]] T in_parallel(C c, place from, place to, T sum) const {
    reduce_frame<T, Source, Body, Combine, Hints, C> frame(c, hints, source, body.get(), combine.get());
    return frame.loop(c, from, to, std::move(sum), fold_into<T, Combine>{combine.get()});
  }
  template <clone_context_type C, class... Where>
  [[gnu::always_inline]] void step(C c, T& sum, Where... where) const {
    detail::visit(
        source,
        [&](auto&&... element) {
          sum = combine.get()(std::move(sum),
                              detail::call(c, body.get(), std::forward<decltype(element)>(element)...));
        },
        where...);
  }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

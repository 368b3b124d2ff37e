// SPDX-License-Identifier: Apache-2.0
// parallel_for and parallel_reduce over integers, random-access iterators and ranges.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/loop.hpp>

#include <functional>
#include <iterator>
#include <optional>
#include <ranges>
#include <stdexcept>

namespace sukima::detail {

template <class I>
concept loop_index = std::integral<I> || std::random_access_iterator<I>;

/// The first of a loop's elements and how to get at the i-th.
template <loop_index I> struct element_source {
  I first;
  decltype(auto) operator[](std::int64_t i) const {
    if constexpr (std::integral<I>)
      return static_cast<I>(first + static_cast<I>(i));
    else
      return first[static_cast<std::iter_difference_t<I>>(i)];
  }
  /// Calls f with the elements [i, stop), counting in the elements' own type: that can be vectorised.
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    if constexpr (std::integral<I>) {
      const I end = static_cast<I>(first + static_cast<I>(stop - 1));
      for (I k = static_cast<I>(first + static_cast<I>(i));; ++k) {
        f(k);
        if (k == end) break;
      }
    } else {
      const I end = first + static_cast<std::iter_difference_t<I>>(stop);
      for (I k = first + static_cast<std::iter_difference_t<I>>(i); k != end; ++k) f(*k);
    }
  }
  using type = decltype(std::declval<const element_source&>()[0]);
};
template <class I> using element_of = typename element_source<I>::type;

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_length() {
  throw std::length_error("sukima: a loop has more than 2^63 - 1 iterations; split it into two");
}

template <loop_index I> std::int64_t distance(I first, I last) {
  if constexpr (std::integral<I>) {
    if (last <= first) return 0;
    const auto count =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first));
    if (sizeof(I) >= sizeof count && count < 0) [[unlikely]]
      refuse_length();
    return count;
  } else {
    return static_cast<std::int64_t>(last - first);
  }
}

/// Hints that a loop's frame keeps.
template <class Guard, class Split, class Grain> struct loop_hints {
  [[no_unique_address]] Guard guard_;
  [[no_unique_address]] Split split_;
  [[no_unique_address]] Grain grain_;
  std::int64_t grain() const noexcept { return iterations_of(grain_); }
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
  return loop_hints<decltype(pick_guard(hints...)), decltype(pick_split(hints...)),
                    decltype(pick_grain(hints...))>{pick_guard(hints...), pick_split(hints...),
                                                    pick_grain(hints...)};
}

/// A callable that the frame refers to; one without state is no field at all, which saves a store at each
/// loop.
template <class F> struct shared_callable {
  F* address;
  explicit shared_callable(F& f) noexcept : address(&f) {}
  F& get() const noexcept { return *address; }
};
template <class F>
  requires(std::is_empty_v<F> && std::is_trivially_copyable_v<F> && std::is_default_constructible_v<F>)
struct shared_callable<F> {
  [[no_unique_address]] mutable std::remove_const_t<F> own;
  explicit shared_callable(F& f) noexcept : own(f) {}
  F& get() const noexcept { return own; }
};

template <class I, class Body, class Hints> struct for_frame : Hints {
  element_source<I> elements;
  Body& body;

  for_frame(Hints hints, I first, Body& b) : Hints(hints), elements{first}, body(b) {}

  loop_task* make_task() {
    auto* t = new loop_task;
    t->run = [](task* self, context c) {
      auto* me = static_cast<loop_task*>(self);
      static_cast<for_frame*>(me->frame)->run(c, me->from, me->to);
    };
    t->destroy = delete_task<loop_task>;
    return t;
  }
  [[gnu::always_inline]] void run(context c, std::int64_t from, std::int64_t to) {
    run_loop(
        c, *this, from, to, nothing{},
        [this](loop_point* r, context below, nothing none) {
          return iterate<element_of<I>>(r, below, this->grain(), body, elements, none,
                                        [](nothing&, auto&& f) { f(); });
        },
        [](nothing&, task*) {});
  }
};

/// How a result is combined with what a loop has added up so far …
template <class T, class Combine> struct fold_into {
  Combine& combine;
  template <class X> [[gnu::always_inline]] void operator()(T& sum, X&& x) const {
    sum = combine(std::move(sum), std::forward<X>(x));
  }
};
/// … and with nothing, before a stolen piece's first iteration has ended: no neutral element is needed.
template <class T, class Combine> struct fold_into_nothing {
  Combine& combine;
  template <class X> void operator()(std::optional<T>& sum, X&& x) const {
    if (sum)
      sum = combine(std::move(*sum), std::forward<X>(x));
    else
      sum.emplace(std::forward<X>(x));
  }
};

template <class T, class I, class Body, class Combine, class Hints> struct reduce_frame : Hints {
  element_source<I> elements;
  Body& body;
  [[no_unique_address]] shared_callable<Combine> combine;

  reduce_frame(Hints hints, I first, Body& b, Combine& c)
      : Hints(hints), elements{first}, body(b), combine(c) {}

  struct reduce_task : loop_task {
    std::optional<T> value;  ///< empty until its first iteration has ended: no neutral element is needed
  };
  loop_task* make_task() {
    auto* t = new reduce_task;
    t->run = [](task* self, context c) {
      auto* me = static_cast<reduce_task*>(self);
      auto* f = static_cast<reduce_frame*>(me->frame);
      me->value =
          f->loop(c, me->from, me->to, std::optional<T>(), fold_into_nothing<T, Combine>{f->combine.get()});
    };
    t->destroy = delete_task<reduce_task>;
    return t;
  }
  template <class Sum, class Fold>
  [[gnu::always_inline]] Sum loop(context c, std::int64_t from, std::int64_t to, Sum sum, Fold fold) {
    return run_loop(
        c, *this, from, to, std::move(sum),
        [this, fold](loop_point* r, context below, Sum s) {
          return iterate<element_of<I>>(r, below, this->grain(), body, elements, std::move(s),
                                        [fold](Sum& into, auto&& f) { fold(into, f()); });
        },
        [fold](Sum& into, task* t) {
          if (auto& value = static_cast<reduce_task*>(t)->value) fold(into, std::move(*value));
        });
  }
};

template <loop_index I, class Body, class... Hints>
[[gnu::always_inline]] inline void parallel_for_at(context c, I first, I last, Body& body, Hints... hints) {
  auto chosen = pick_hints(hints...);
  for_frame<I, Body, decltype(chosen)> frame(chosen, first, body);
  frame.run(c, 0, distance(first, last));
}

template <class T, loop_index I, class Body, class Combine, class... Hints>
[[gnu::always_inline]] inline T parallel_reduce_at(context c, I first, I last, T init, Body& body,
                                                   Combine& combine, Hints... hints) {
  auto chosen = pick_hints(hints...);
  reduce_frame<T, I, Body, Combine, decltype(chosen)> frame(chosen, first, body, combine);
  return frame.loop(c, 0, distance(first, last), std::move(init), fold_into<T, Combine>{combine});
}

/// Integers of two types, as in parallel_for(0, v.size(), …): both become their common type.
template <class A, class B> using common_index =
    std::conditional_t<std::is_same_v<A, B>, A, std::common_type_t<A, B>>;

template <class Body, class I>
concept loop_body = callable_with<Body&, element_of<I>>;

}  // namespace sukima::detail

namespace sukima {

/// Calls body(i) for each i in [first, last), in any order and perhaps at the same time.
///
/// `first` and `last` are integers, or random-access iterators (body gets the element then). The body may
/// take a context before the element; then the loop polls before each iteration, else once in
/// about a microsecond. Iterations are given away in halves, from the upper end, only when another worker
/// is idle.
/// \param hints `sukima::guard`, `sukima::split`, `sukima::grain`
/// \throws what the body throws: the remaining iterations are aborted, the lowest of several exceptions that
/// have
///         arrived by then wins; `sukima::aborted` where the caller itself is aborted; std::length_error for
///         more than 2^63 - 1 integers
/// \par Complexity last − first calls of body
template <class A, class B, class Body, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
[[gnu::always_inline]] inline void parallel_for(context c, A first, B last, Body&& body, Hints... hints) {
  using index = detail::common_index<A, B>;
  detail::parallel_for_at<index>(c, static_cast<index>(first), static_cast<index>(last), body, hints...);
}

/// The same over a random-access range.
template <std::ranges::random_access_range Range, class Body, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
inline void parallel_for(context c, Range&& range, Body&& body, Hints... hints) {
  auto first = std::ranges::begin(range);
  detail::parallel_for_at(c, first, first + std::ranges::distance(range), body, hints...);
}

/// The same without a context.
template <class A, class B, class Body, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
inline void parallel_for(A first, B last, Body&& body, Hints... hints) {
  detail::with_context([&](context c) { parallel_for(c, first, last, body, hints...); });
}
template <std::ranges::random_access_range Range, class Body, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
inline void parallel_for(Range&& range, Body&& body, Hints... hints) {
  detail::with_context([&](context c) { parallel_for(c, range, body, hints...); });
}

/// init ⊕ body(first) ⊕ body(first + 1) ⊕ …, where a ⊕ b is combine(a, b). It is enough that ⊕ is
/// associative: the results are merged in the order of the iterations. `init` is used once and need not be
/// neutral.
///
/// Elements, context, hints and exceptions as for parallel_for.
/// \param body    gives something that `combine` takes as its second argument and that T can be made from
/// \param combine T combine(T, T)
/// \par Complexity last − first calls of body and of combine, one more combine for each piece given away
template <class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
[[gnu::always_inline]] inline T parallel_reduce(context c, A first, B last, T init, Body&& body,
                                                Combine&& combine, Hints... hints) {
  using index = detail::common_index<A, B>;
  return detail::parallel_reduce_at<T, index>(c, static_cast<index>(first), static_cast<index>(last),
                                              std::move(init), body, combine, hints...);
}
template <std::ranges::random_access_range Range, class T, class Body, class Combine, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
inline T parallel_reduce(context c, Range&& range, T init, Body&& body, Combine&& combine, Hints... hints) {
  auto first = std::ranges::begin(range);
  return detail::parallel_reduce_at<T>(c, first, first + std::ranges::distance(range), std::move(init), body,
                                       combine, hints...);
}

/// The same without a context.
template <class A, class B, class T, class Body, class Combine, class... Hints>
  requires detail::loop_index<detail::common_index<A, B>> &&
           detail::loop_body<Body, detail::common_index<A, B>>
inline T parallel_reduce(A first, B last, T init, Body&& body, Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return parallel_reduce(c, first, last, std::move(init), body, combine, hints...); });
}
template <std::ranges::random_access_range Range, class T, class Body, class Combine, class... Hints>
  requires detail::loop_body<Body, std::ranges::iterator_t<Range>>
inline T parallel_reduce(Range&& range, T init, Body&& body, Combine&& combine, Hints... hints) {
  return detail::with_context(
      [&](context c) { return parallel_reduce(c, range, std::move(init), body, combine, hints...); });
}

}  // namespace sukima

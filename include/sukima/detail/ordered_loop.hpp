// SPDX-License-Identifier: Apache-2.0
// parallel_reduce in the fixed order: the same loops over numbered iterations (fixed_order.hpp).
#pragma once

#include <sukima/detail/fixed_order.hpp>
#include <sukima/detail/successors.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <type_traits>
#include <vector>

namespace sukima::detail {

/// Consecutive iterations that are combined at once: one, or as many as the trie combines into one place.
struct iteration_run {
  std::int64_t first;
  bool is_whole;  ///< `iterations_of_a_run` iterations; otherwise one
};
inline constexpr std::int64_t iterations_of_a_run = 16;

/// The numbers of a loop's iterations, in runs where that pays.
template <bool InRuns> struct number_source {
  using arguments = argument_list<iteration_run>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  iteration_run operator[](std::int64_t i) const { return {i, false}; }
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const { f((*this)[i]); }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    while (i != stop) {
      const bool is_whole = InRuns && i % iterations_of_a_run == 0 && stop - i >= iterations_of_a_run;
      f(iteration_run{i, is_whole});
      i += is_whole ? iterations_of_a_run : 1;
    }
  }
};

/// Iterators that know the number of their element among those of the whole range.
template <class I>
concept numbered_place = requires(const I i) {
  { i.number() } -> std::convertible_to<std::uint64_t>;
};
template <class E> struct numbered_element {
  std::uint64_t number;
  E element;
};
template <class I> class numbered_iterator {
 public:
  using iterator_concept = std::forward_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = numbered_element<std::iter_reference_t<I>>;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = value_type;
  constexpr numbered_iterator() = default;
  explicit constexpr numbered_iterator(I at) noexcept : at_(at) {}
  constexpr value_type operator*() const { return {at_.number(), *at_}; }
  constexpr numbered_iterator& operator++() {
    ++at_;
    return *this;
  }
  constexpr numbered_iterator operator++(int) {
    const numbered_iterator before = *this;
    ++at_;
    return before;
  }
  friend constexpr bool operator==(const numbered_iterator&, const numbered_iterator&) = default;

 private:
  I at_{};
};

/// Elements that can be reached only one after the other, by stored iterators.
template <class I> struct reached_source {
  const I* first;
  using arguments = argument_list<std::iter_reference_t<I>>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  decltype(auto) operator[](std::int64_t i) const { return *first[i]; }
  template <class F> [[gnu::always_inline]] void visit(std::int64_t i, F&& f) const { f(*first[i]); }
  template <class F> [[gnu::always_inline]] void each(std::int64_t i, std::int64_t stop, F&& f) const {
    for (; i != stop; ++i) f(*first[i]);
  }
};
template <class I> std::vector<I> reach(I at, std::int64_t count) {
  std::vector<I> all;
  all.reserve(static_cast<std::size_t>(count));
  for (; count != 0; --count, ++at) all.push_back(at);
  return all;
}
template <class I> std::vector<I> reach_until(I at, I end) {
  std::vector<I> all;
  for (; at != end; ++at) all.push_back(at);
  return all;
}

/// A source in blocks whose bounds depend on the number of iterations only. One block is one iteration.
template <class Source> struct block_numbers {
  Source source;
  std::int64_t count;
  std::int64_t size;
  using arguments = typename Source::arguments;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  std::int64_t blocks() const noexcept { return (count + size - 1) / size; }
  template <class F> [[gnu::always_inline]] void visit(std::int64_t block, F&& f) const {
    source.each(block * size, std::min(count, (block + 1) * size), f);
  }
};
/// The size of a block, a power of two, that divides the iterations into about this number of blocks.
constexpr std::int64_t block_size(std::int64_t count, std::int64_t blocks) noexcept {
  return static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, count / blocks))));
}
inline constexpr std::int64_t blocks_of_a_loop = 1024;

/// The combination of values in a numbered loop.
template <class Combine> struct ordered_combine {
  [[no_unique_address]] shared_callable<Combine> inner;
};

/// Values that may be stored for all iterations of a run before they are combined.
template <class T>
concept cheap_value = std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T> &&
                      sizeof(T) <= 2 * sizeof(double);

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// How a numbered loop stores its body. A specialization stores bodies that travel by value
/// (sukima/cluster/loops.hpp).
template <class Body> struct held_body : local_callable<Body> {
  using local_callable<Body>::local_callable;
};

template <class T, class Combine> struct fold_into<ordered_values<T>, ordered_combine<Combine>> {
  ordered_combine<Combine>& combine;
  [[gnu::always_inline]] void operator()(ordered_values<T>& sum, numbered<T>&& x) const {
    if (x.value) sum.add(x.number, std::move(*x.value), combine.inner.get());
  }
  void operator()(ordered_values<T>& sum, ordered_values<T>&& piece) const {
    sum.add(std::move(piece), combine.inner.get());
  }
};
template <class T, class Combine> struct fold_into_nothing<ordered_values<T>, ordered_combine<Combine>> {
  ordered_combine<Combine>& combine;
  template <class X> [[gnu::always_inline]] void operator()(std::optional<ordered_values<T>>& sum,
                                                            X&& x) const {
    if (!sum) sum.emplace();
    fold_into<ordered_values<T>, ordered_combine<Combine>>{combine}(*sum, std::forward<X>(x));
  }
};

/// The body of a numbered loop over a source.
template <class T, class Source, class Body, class Combine> struct ordered_body_base {
  [[no_unique_address]] Source source;
  held_body<Body> body;
  [[no_unique_address]] shared_callable<Combine> combine;

  static constexpr bool with_context = body_takes_context<Body&, typename Source::arguments>;
  /// Runs are faster if the body is expected to be short and each iteration has a value.
  static constexpr bool in_runs = !with_context && cheap_value<T> && requires(const Source& s) { s[0]; };

  [[gnu::always_inline]] T run_of_values(std::int64_t first) const {
    T value[iterations_of_a_run];
    T* next = value;
    source.each(first, first + iterations_of_a_run, [&](auto&&... element) {
      *next++ = static_cast<T>(std::invoke(body.get(), std::forward<decltype(element)>(element)...));
    });
    for (std::int64_t left = iterations_of_a_run / 2; left != 0; left /= 2)
      for (std::int64_t k = 0; k != left; ++k) value[k] = combine.get()(value[2 * k], value[2 * k + 1]);
    return value[0];
  }
};
template <class T, class Source, class Body, class Combine,
          bool WithContext = ordered_body_base<T, Source, Body, Combine>::with_context>
struct ordered_body : ordered_body_base<T, Source, Body, Combine> {
  numbered<T> operator()(context c, iteration_run i) const {
    numbered<T> result{static_cast<std::uint64_t>(i.first), {}};
    this->source.visit(i.first, [&](auto&&... element) {
      result.value.emplace(detail::call(c, this->body.get(), std::forward<decltype(element)>(element)...));
    });
    return result;
  }
};
template <class T, class Source, class Body, class Combine>
struct ordered_body<T, Source, Body, Combine, false> : ordered_body_base<T, Source, Body, Combine> {
  [[gnu::always_inline]] numbered<T> operator()(iteration_run i) const {
    numbered<T> result{static_cast<std::uint64_t>(i.first), {}};
    if constexpr (ordered_body_base<T, Source, Body, Combine>::in_runs) {
      if (i.is_whole) {
        result.value.emplace(this->run_of_values(i.first));
        return result;
      }
    }
    this->source.visit(i.first, [&](auto&&... element) {
      result.value.emplace(std::invoke(this->body.get(), std::forward<decltype(element)>(element)...));
    });
    return result;
  }
};

/// The body of a loop over elements that contain their numbers.
template <class T, class Element, class Body, bool WithContext = takes_context<Body&, Element>>
struct ordered_element_body {
  held_body<Body> body;
  numbered<T> operator()(context c, numbered_element<Element> e) const {
    return {e.number, static_cast<T>(detail::call(c, body.get(), std::forward<Element>(e.element)))};
  }
};
template <class T, class Element, class Body> struct ordered_element_body<T, Element, Body, false> {
  held_body<Body> body;
  numbered<T> operator()(numbered_element<Element> e) const {
    return {e.number, static_cast<T>(std::invoke(body.get(), std::forward<Element>(e.element)))};
  }
};

/// Runs a loop over numbered iterations, and combines its values with `init`.
template <class T, class Source, class Body, class Combine, class... Hints>
T reduce_numbered(context c, Source numbers, place_of<Source> from, place_of<Source> to, T init,
                  const Body& body, Combine& combine, Hints... hints) {
  ordered_combine<Combine> with{shared_callable<Combine>(combine)};
  auto values = detail::parallel_reduce_between<ordered_values<T>>(c, numbers, from, to, ordered_values<T>(),
                                                                   body, with, hints...);
  if (values.empty()) return init;
  return combine(std::move(init), std::move(values).total(combine));
}
template <class T, class Source, class Body, class Combine, class... Hints>
T reduce_by_numbers(context c, const Source& source, std::int64_t from, std::int64_t to, T init, Body& body,
                    Combine& combine, Hints... hints) {
  using numbered_body = ordered_body<T, Source, Body, Combine>;
  const numbered_body each{{source, held_body<Body>(body), shared_callable<Combine>(combine)}};
  return detail::reduce_numbered<T>(c, number_source<numbered_body::in_runs>{}, from, to, std::move(init),
                                    each, combine, hints...);
}

/// parallel_reduce in the fixed order.
template <class T, context_type C, class Source, class Body, class Combine, class... Hints>
[[gnu::noinline]] T reduce_in_fixed_order(C c, const Source& source, place_of<Source> from,
                                          place_of<Source> to, T init, Body& body, Combine& combine,
                                          Hints... hints) {
  using place = place_of<Source>;
  const auto here = static_cast<context>(c);
  if constexpr (Source::in_blocks) {
    const std::int64_t grain = detail::iterations_of(detail::pick_grain(hints...));
    const block_numbers<Source> blocks{source, to, grain > 0 ? grain : block_size(to, blocks_of_a_loop)};
    return detail::reduce_by_numbers<T>(here, blocks, 0, blocks.blocks(), std::move(init), body, combine);
  } else if constexpr (Source::walks) {
    const auto reached = detail::reach(source.at, to);
    return detail::reduce_by_numbers<T>(here,
                                        reached_source<std::decay_t<decltype(source.at)>>{reached.data()},
                                        from, to, std::move(init), body, combine, hints...);
  } else if constexpr (numbered_place<place>) {
    using numbered = numbered_iterator<place>;
    const ordered_element_body<T, std::iter_reference_t<place>, Body> each{held_body<Body>(body)};
    return detail::reduce_numbered<T>(here, successor_source<numbered>{}, numbered(from), numbered(to),
                                      std::move(init), each, combine, hints...);
  } else if constexpr (!std::is_same_v<place, std::int64_t>) {
    const auto reached = detail::reach_until(from, to);
    return detail::reduce_by_numbers<T>(here, reached_source<place>{reached.data()}, 0,
                                        static_cast<std::int64_t>(reached.size()), std::move(init), body,
                                        combine, hints...);
  } else {
    return detail::reduce_by_numbers<T>(here, source, from, to, std::move(init), body, combine, hints...);
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

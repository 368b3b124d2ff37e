// SPDX-License-Identifier: Apache-2.0
// Pieces of searches and of parallel_reduce that travel to other nodes.
//
// A loop's choice point splits a piece off: iterations, and all facts about the loop in the owner's frame. On
// another node the piece becomes a frame of its own. Callables without captures are not sent, because the
// other node can make them. A callable with captures or references keeps the loop on its node.
#pragma once

#include <sukima/cluster/call.hpp>
#include <sukima/detail/ordered_loop.hpp>
#include <sukima/detail/ordered_search.hpp>
#include <sukima/loop.hpp>
#include <sukima/search.hpp>
#include <sukima/set_bits.hpp>

#include <concepts>
#include <iterator>
#include <optional>
#include <ranges>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

/// A body that is a call: a loop in the fixed order stores it by value, because on another node the original
/// does not exist.
template <auto Function, class Bound, class Rest> struct held_body<const bound_call<Function, Bound, Rest>> {
  bound_call<Function, Bound, Rest> own;
  explicit held_body(const bound_call<Function, Bound, Rest>& b) : own(b) {}
  const bound_call<Function, Bound, Rest>& get() const noexcept { return own; }
};
template <auto Function, class Bound, class Rest> struct held_body<bound_call<Function, Bound, Rest>>
    : held_body<const bound_call<Function, Bound, Rest>> {
  using held_body<const bound_call<Function, Bound, Rest>>::held_body;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

namespace sukima::detail {

/// A callable without captures, which is the same in each process.
template <class F>
concept made_of_nothing = std::is_class_v<F> && std::is_empty_v<F> && std::is_trivially_copyable_v<F> &&
                          std::default_initializable<F>;

/// Whether iterators hold only values: those of std::views::iota over one type, and of set_bits.
template <class I> constexpr bool iterates_over_values() {
  if constexpr (std::input_or_output_iterator<I>) {
    using value = std::iter_value_t<I>;
    if constexpr (std::integral<value> && !std::is_same_v<value, bool>) {
      if (std::is_same_v<I, std::ranges::iterator_t<std::ranges::iota_view<value>>>) return true;
      if (std::is_same_v<I, std::ranges::iterator_t<std::ranges::iota_view<value, value>>>) return true;
    }
    if constexpr (std::unsigned_integral<value> && !std::is_same_v<value, bool> &&
                  sizeof(value) <= sizeof(std::uint64_t))
      return std::is_same_v<I, typename set_bits<value>::iterator> ||
             std::is_same_v<I, numbered_iterator<typename set_bits<value>::iterator>>;
  }
  return false;
}
template <class I>
concept place_can_travel = std::is_trivially_copyable_v<I> && (whole_number<I> || iterates_over_values<I>());

template <class Source> inline constexpr bool source_can_travel = false;
template <class I> inline constexpr bool source_can_travel<element_source<I>> = place_can_travel<I>;
template <class I> inline constexpr bool source_can_travel<successor_source<I>> = place_can_travel<I>;
template <bool InRuns> inline constexpr bool source_can_travel<number_source<InRuns>> = true;
template <class Source>
inline constexpr bool source_can_travel<numbered_source<Source>> = source_can_travel<Source>;

/// Appends the bytes of a value without pointers, also if is_plain cannot determine that it has none.
template <class T> void put_part(const T& part, std::vector<std::byte>& to) {
  if constexpr (!std::is_empty_v<T>) detail::put_bits(part, to);
}
template <class T> T get_part(std::span<const std::byte>& from) {
  T value{};
  if constexpr (!std::is_empty_v<T>) {
    if (from.size() < sizeof(T))
      throw std::length_error("sukima: a piece of a loop from another node is incomplete");
    std::memcpy(static_cast<void*>(std::addressof(value)), from.data(), sizeof(T));
    from = from.subspan(sizeof(T));
  }
  return value;
}

/// Whether a body can be sent: a callable without captures takes no bytes, and a call is sent by its first
/// arguments.
/// \tparam F without const
template <class F> inline constexpr bool body_can_travel = made_of_nothing<F>;
template <auto Function, class... Bound, class... Rest>
inline constexpr bool body_can_travel<bound_call<Function, std::tuple<Bound...>, std::tuple<Rest...>>> =
    (can_travel<Bound> && ...);
template <class F> struct travelling_body {
  static void put(const F& /*body*/, std::vector<std::byte>& /*to*/) {}
  static F take(std::span<const std::byte>& /*from*/) { return F{}; }
};
template <auto Function, class... Bound, class... Rest>
struct travelling_body<bound_call<Function, std::tuple<Bound...>, std::tuple<Rest...>>> {
  using body = bound_call<Function, std::tuple<Bound...>, std::tuple<Rest...>>;
  static void put(const body& b, std::vector<std::byte>& to) {
    std::apply([&](const Bound&... each) { (detail::put_value(each, to), ...); }, b.arguments);
  }
  static body take(std::span<const std::byte>& from) {
    return {std::tuple<Bound...>{get_value<Bound>(from)...}};  // from left to right
  }
};
/// Whether a body is a call. Pieces of parallel_reduce travel only if it is: a body of another kind is
/// expected to use this node's variables.
template <class F> inline constexpr bool is_bound_call = false;
template <auto Function, class Bound, class Rest>
inline constexpr bool is_bound_call<bound_call<Function, Bound, Rest>> = true;

/// A body of a loop in the fixed order travels if the body that it calls travels.
template <class T, class Source, class Body, class Combine>
inline constexpr bool body_can_travel<ordered_body<T, Source, Body, Combine>> =
    body_can_travel<std::remove_const_t<Body>> && source_can_travel<Source> && made_of_nothing<Combine>;
template <class T, class Source, class Body, class Combine>
inline constexpr bool is_bound_call<ordered_body<T, Source, Body, Combine>> =
    is_bound_call<std::remove_const_t<Body>>;
template <class T, class Source, class Body, class Combine>
struct travelling_body<ordered_body<T, Source, Body, Combine>> {
  using body = ordered_body<T, Source, Body, Combine>;
  using own = std::remove_const_t<Body>;
  static void put(const body& b, std::vector<std::byte>& to) {
    detail::put_part(b.source, to);
    travelling_body<own>::put(b.body.get(), to);
  }
  static body take(std::span<const std::byte>& from) {
    auto source = get_part<Source>(from);
    Body inner = travelling_body<own>::take(from);
    return {{source, held_body<Body>(inner), {}}};
  }
};
template <class T, class Element, class Body>
inline constexpr bool body_can_travel<ordered_element_body<T, Element, Body>> =
    body_can_travel<std::remove_const_t<Body>>;
template <class T, class Element, class Body>
inline constexpr bool is_bound_call<ordered_element_body<T, Element, Body>> =
    is_bound_call<std::remove_const_t<Body>>;
template <class T, class Element, class Body> struct travelling_body<ordered_element_body<T, Element, Body>> {
  using body = ordered_element_body<T, Element, Body>;
  using own = std::remove_const_t<Body>;
  static void put(const body& b, std::vector<std::byte>& to) { travelling_body<own>::put(b.body.get(), to); }
  static body take(std::span<const std::byte>& from) {
    Body inner = travelling_body<own>::take(from);
    return {held_body<Body>(inner)};
  }
};

/// Appends the result of a piece, which is empty if each of its choices was refused.
template <class T> void put_optional(const std::optional<T>& value, std::vector<std::byte>& to) {
  to.push_back(static_cast<std::byte>(value.has_value()));
  if (value) detail::put_value(*value, to);
}
template <class T> std::optional<T> get_optional(std::span<const std::byte> from) {
  if (from.empty()) throw std::length_error("sukima: a result from another node is incomplete");
  const bool is_there = from.front() != std::byte{0};
  from = from.subspan(1);
  if (!is_there) return {};
  return get_value<T>(from);
}

}  // namespace sukima::detail

namespace sukima {

/// \cond
template <class T>
  requires can_travel<T>
struct codec<detail::ordered_values<T>> {
  static void encode(const detail::ordered_values<T>& values, std::vector<std::byte>& to) {
    for (const auto& part : values.parts()) {
      detail::put_value(part.number, to);
      detail::put_value(part.value, to);
    }
  }
  static detail::ordered_values<T> decode(std::span<const std::byte> from) {
    detail::ordered_values<T> values;
    while (!from.empty()) {
      const auto number = detail::get_value<std::uint64_t>(from);
      values.put(number, detail::get_value<T>(from));
    }
    return values;
  }
};
/// \endcond

}  // namespace sukima

namespace SUKIMA_DETAIL_NAMESPACE {

template <class Hints> inline constexpr bool hints_can_travel = false;
template <class Guard, class Split, class Grain>
inline constexpr bool hints_can_travel<loop_hints<Guard, Split, Grain>> =
    std::conjunction_v<std::is_empty<Guard>, std::is_default_constructible<Guard>, std::is_empty<Split>,
                       std::is_default_constructible<Split>,
                       std::is_trivially_copyable<loop_hints<Guard, Split, Grain>>>;

/// A piece of a loop that came from another node.
/// \tparam Loop  describes the loop: its `result`, `place`, and `run(context, from, to)`
template <class Loop> struct received_piece : received_task {
  using place = typename Loop::place;
  place from;
  place to;
  Loop loop;
  std::optional<typename Loop::result> value;
  received_piece(place first, place end, Loop made) : from(first), to(end), loop(std::move(made)) {
    run = [](task* self, context c) {
      auto* const me = static_cast<received_piece*>(self);
      me->value = me->loop.run(c, me->from, me->to);
    };
    destroy = [](task* self) noexcept { delete static_cast<received_piece*>(self); };
  }
};

/// The form of a loop's pieces. There is one form for all types of contexts. Otherwise pieces that were split
/// off from a received piece would have another name.
template <class Loop> struct form_of_pieces {
  using place = typename Loop::place;
  static received_task* make(const travel_form& /*self*/, std::span<const std::byte> from) {
    const auto first = get_part<place>(from);
    const auto end = get_part<place>(from);
    return new received_piece<Loop>(first, end, Loop::take(from));
  }
  static void put_result(received_task& t, std::vector<std::byte>& to) {
    detail::put_optional(static_cast<received_piece<Loop>&>(t).value, to);
  }
  static const travel_form form;
  static const form_registration registration;
};
template <class Loop>
const travel_form form_of_pieces<Loop>::form{typeid(Loop).name(), make, put_result};
template <class Loop> const form_registration form_of_pieces<Loop>::registration{form};

/// The functions by which the pieces of a loop travel. `point` belongs to the kind of the loop's choice
/// points.
/// \tparam Frame  the loop's frame on the node that gives
/// \tparam Task   the type of the pieces on that node
template <class Frame, class Task, class Loop> struct piece_travel {
  static void put(const task& t, std::vector<std::byte>& to) {
    static_cast<void>(form_of_pieces<Loop>::registration);  // this use makes the compiler create it
    const auto& piece = static_cast<const Task&>(t);
    detail::put_part(piece.from, to);
    detail::put_part(piece.to, to);
    Loop::template put<Frame>(piece, to);
  }
  static void get(task& t, std::span<const std::byte> from) {
    static_cast<Task&>(t).value = get_optional<typename Loop::result>(from);
  }
  static constexpr travel_point point{&form_of_pieces<Loop>::form, put, get};
};

template <class T, class Source, class Body, class Combine, class Hints> struct travelling_reduce {
  using result = T;
  using place = place_of<Source>;
  using own_body = std::remove_const_t<Body>;
  [[no_unique_address]] Source source;
  [[no_unique_address]] Hints hints;
  [[no_unique_address]] own_body body;
  [[no_unique_address]] std::remove_const_t<Combine> combine;

  template <class Frame> static void put(const typename Frame::reduce_task& piece,
                                         std::vector<std::byte>& to) {
    const auto& f = *static_cast<const Frame*>(piece.frame);
    detail::put_part(f.elements, to);
    detail::put_part(static_cast<const Hints&>(f), to);
    travelling_body<own_body>::put(f.body, to);
  }
  static travelling_reduce take(std::span<const std::byte>& from) {
    auto elements = get_part<Source>(from);
    auto chosen = get_part<Hints>(from);
    return {elements, chosen, travelling_body<own_body>::take(from), {}};
  }
  std::optional<T> run(context c, place from, place to) {
    const auto here = context_for<Body>(c);
    reduce_frame<T, Source, Body, Combine, Hints, std::remove_const_t<decltype(here)>> mine(
        here, hints, source, body, combine);
    return mine.loop(here, from, to, std::optional<T>(), fold_into_nothing<T, Combine>{mine.combine.get()});
  }
};

template <class T, class Source, class Body, class Combine, class Hints, class C>
  requires(is_bound_call<std::remove_const_t<Body>> && body_can_travel<std::remove_const_t<Body>> &&
           made_of_nothing<std::remove_const_t<Combine>> && source_can_travel<Source> &&
           hints_can_travel<Hints> && can_travel<T>)
struct travels_piece<reduce_frame<T, Source, Body, Combine, Hints, C>>
    : piece_travel<reduce_frame<T, Source, Body, Combine, Hints, C>,
                   typename reduce_frame<T, Source, Body, Combine, Hints, C>::reduce_task,
                   travelling_reduce<T, Source, Body, Combine, Hints>> {};

template <class Workspace, class Source, class Apply, class Undo, class Body, class Combine, class Result,
          class Hints>
struct travelling_search {
  using result = Result;
  using place = place_of<Source>;
  template <class Context> using frame_with =
      search_frame<Workspace, Source, Apply, Undo, Body, Combine, Result, Hints, Context>;
  Workspace workspace;
  [[no_unique_address]] Source source;
  [[no_unique_address]] Hints hints;
  [[no_unique_address]] std::remove_const_t<Apply> apply;
  [[no_unique_address]] std::remove_const_t<Undo> undo;
  [[no_unique_address]] std::remove_const_t<Body> body;
  [[no_unique_address]] std::remove_const_t<Combine> combine;

  template <class Frame>
  static void put(const typename Frame::search_task& piece, std::vector<std::byte>& to) {
    detail::put_part(piece.own.source, to);
    detail::put_part(static_cast<const Hints&>(piece.own), to);
    detail::put_value(piece.workspace, to);
  }
  static travelling_search take(std::span<const std::byte>& from) {
    auto elements = get_part<Source>(from);
    auto chosen = get_part<Hints>(from);
    return {get_value<Workspace>(from), elements, chosen, {}, {}, {}, {}};
  }
  std::optional<Result> run(context c, place from, place to) {
    const auto in = [&](auto here) {
      frame_with<std::remove_const_t<decltype(here)>> mine(here, hints, workspace, source, apply, undo, body,
                                                           combine);
      return mine.loop(here, from, to, std::optional<Result>(),
                       fold_into_nothing<Result, Combine>{mine.combine.get()});
    };
    if constexpr (clonable_loop<context, Source, Body, Workspace&>)
      return in(tracked(c));
    else
      return in(context_for<Body>(c));
  }
};

template <class Workspace, class Source, class Apply, class Undo, class Body, class Combine, class Result,
          class Hints, class C>
  requires(can_travel<Workspace> && source_can_travel<Source> &&
           made_of_nothing<std::remove_const_t<Apply>> && made_of_nothing<std::remove_const_t<Undo>> &&
           made_of_nothing<std::remove_const_t<Body>> && made_of_nothing<std::remove_const_t<Combine>> &&
           hints_can_travel<Hints> && can_travel<Result>)
struct travels_piece<search_frame<Workspace, Source, Apply, Undo, Body, Combine, Result, Hints, C>>
    : piece_travel<
          search_frame<Workspace, Source, Apply, Undo, Body, Combine, Result, Hints, C>,
          typename search_frame<Workspace, Source, Apply, Undo, Body, Combine, Result, Hints, C>::search_task,
          travelling_search<Workspace, Source, Apply, Undo, Body, Combine, Result, Hints>> {};

}  // namespace SUKIMA_DETAIL_NAMESPACE

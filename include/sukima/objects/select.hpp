// SPDX-License-Identifier: Apache-2.0
// select and first: waits for the first of several streams.
#pragma once

#include <sukima/objects/ends.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima::objects {
namespace detail {

/// One case of a select, whatever its types.
struct select_case {
  enum class outcome { served, not_yet, closed };
  stream_core* stream = nullptr;  ///< null: a time
  bool receives = false;
  object_core** owner = nullptr;
  clock::time_point at{};
  select_case() = default;
  select_case(const select_case&) = default;
  select_case& operator=(const select_case&) = delete;
  virtual outcome try_now() = 0;

 protected:
  ~select_case() = default;
};

template <class T, class F, class Ended> struct receive_case final : select_case {
  in<T>& from;
  F f;
  [[no_unique_address]] Ended at_end;
  receive_case(in<T>& end, F function, Ended when_ended)
      : from(end), f(std::move(function)), at_end(std::move(when_ended)) {
    stream = &end.core();
    receives = true;
    owner = &end.owner_;
  }
  outcome try_now() override {
    const bool ended = from.is_closed();
    if (std::optional<T> message = from.take(false, nullptr)) {
      f(*std::move(message));
      return outcome::served;
    }
    if (!ended) return outcome::not_yet;
    if constexpr (!std::is_same_v<Ended, no_function>) {
      if (!std::exchange(from.end_was_reported_, true)) {
        at_end();
        return outcome::served;
      }
    }
    return outcome::closed;
  }
};

template <class T, class F> struct room_case final : select_case {
  out<T>& to;
  T& value;
  F f;
  room_case(out<T>& end, T& message, F function) : to(end), value(message), f(std::move(function)) {
    stream = &end.core();
    owner = &end.owner_;
  }
  outcome try_now() override {
    switch (to.put(false, nullptr, std::move(value))) {
      case send_result::sent:
        f();
        return outcome::served;
      case send_result::broken:
        stream->throw_broken(*owner);
      case send_result::full:
        break;
    }
    return outcome::not_yet;
  }
};

template <class F> struct time_case final : select_case {
  F f;
  time_case(clock::time_point until, F function) : f(std::move(function)) { at = until; }
  outcome try_now() override {
    if (clock::now() < at) return outcome::not_yet;
    f();
    return outcome::served;
  }
};

inline constexpr std::size_t none_served = ~std::size_t{0};
/// Serves one of the cases. \returns its number; none_served if all streams are closed
std::size_t serve_one(select_case* const* cases, std::size_t count, bool in_order);

/// A function that passes a number before its other arguments.
template <class F> struct numbered {
  F* f;
  std::size_t number;
  template <class... Arguments> void operator()(Arguments&&... arguments) const {
    (*f)(number, std::forward<Arguments>(arguments)...);
  }
};
/// The cases for all ends of a range.
template <class T, class F, class Ended> struct any_case {
  F f;
  [[no_unique_address]] Ended ended;
  using one_ended = std::conditional_t<std::is_same_v<Ended, no_function>, no_function, numbered<Ended>>;
  std::vector<receive_case<T, numbered<F>, one_ended>> cases;
  template <class R>
  any_case(R& ends, F function, Ended when_ended) : f(std::move(function)), ended(std::move(when_ended)) {
    cases.reserve(static_cast<std::size_t>(std::ranges::distance(ends)));
    for (in<T>& end : ends) {
      const std::size_t number = cases.size();
      if constexpr (std::is_same_v<Ended, no_function>)
        cases.emplace_back(end, numbered<F>{&f, number}, no_function{});
      else
        cases.emplace_back(end, numbered<F>{&f, number}, numbered<Ended>{&ended, number});
    }
  }
  any_case(const any_case&) = delete;
  any_case& operator=(const any_case&) = delete;
};

template <class C>
concept one_case = std::derived_from<C, select_case>;
template <class C> inline constexpr bool is_any_case = false;
template <class T, class F, class Ended> inline constexpr bool is_any_case<any_case<T, F, Ended>> = true;
template <class C>
concept some_cases = one_case<std::remove_cvref_t<C>> || is_any_case<std::remove_cvref_t<C>>;

template <class... Cases> std::optional<std::size_t> serve_one_of(bool in_order, Cases&... cases) {
  std::size_t served = none_served;
  if constexpr ((one_case<Cases> && ...)) {
    const std::array<select_case*, sizeof...(Cases)> all{&cases...};
    served = serve_one(all.data(), all.size(), in_order);
  } else {
    std::vector<select_case*> all;
    const auto add = [&all](auto& c) {
      if constexpr (one_case<std::remove_reference_t<decltype(c)>>)
        all.push_back(&c);
      else
        for (auto& one : c.cases) all.push_back(&one);
    };
    (add(cases), ...);
    if (all.empty()) return std::nullopt;
    served = serve_one(all.data(), all.size(), in_order);
  }
  return served == none_served ? std::nullopt : std::optional(served);
}

}  // namespace detail

template <class T> template <class F> detail::receive_case<T, F, detail::no_function> in<T>::on(F f) {
  return {*this, std::move(f), {}};
}
template <class T>
template <class F, class Ended>
detail::receive_case<T, F, Ended> in<T>::on(F f, Ended ended) {
  return {*this, std::move(f), std::move(ended)};
}
template <class T> template <class F> detail::room_case<T, F> out<T>::on_room(T& value, F h) {
  return {*this, value, std::move(h)};
}

/// \addtogroup objects
/// @{

/// Makes a case of select that calls f() if no other case was ready for that time, which begins now.
template <class Rep, class Period, class F>
detail::time_case<F> after(std::chrono::duration<Rep, Period> longest, F f) {
  return {detail::end_of_wait(longest), std::move(f)};
}

namespace detail {
template <class R> struct messages_of;
template <class T> struct messages_of<in<T>> {
  using type = T;
};
template <class R> using message_type = typename messages_of<std::ranges::range_value_t<R>>::type;
}  // namespace detail

/// Makes cases of select for all ends of a range, such as a std::vector<in<T>>: calls f(i, message) for a
/// message of end number i. Each end counts as a case.
/// \par Complexity linear in the number of ends
template <std::ranges::forward_range R, class F>
detail::any_case<detail::message_type<R>, F, detail::no_function> on_any(R& ends, F f) {
  return {ends, std::move(f), {}};
}
/// The same, and calls ended(i) once for each end i, as in::on does.
template <std::ranges::forward_range R, class F, class Ended>
detail::any_case<detail::message_type<R>, F, Ended> on_any(R& ends, F f, Ended ended) {
  return {ends, std::move(f), std::move(ended)};
}

/// Waits until one of the cases is ready (in::on, on_any, out::on_room, after) and serves it. It remembers
/// which of the same n cases this object served last, and begins with the next one. So a ready case waits for
/// at most n − 1 others. If an object has selects with more than 16 different sets of cases, a case may wait
/// for more.
/// \returns the number of the case, from 0; empty if every stream of an `on` is closed, its `ended` was
///          called, and there is no `on_room`
/// \throws stream_failed, stream_broken, usage_error and `aborted` as receive and send; what the function of
///         the case throws
/// \par Complexity linear in the number of cases
template <class... Cases>
  requires(sizeof...(Cases) > 0 && (detail::some_cases<Cases> && ...))
std::optional<std::size_t> select(Cases&&... cases) {
  return detail::serve_one_of(false, cases...);
}
/// The same in order of priority: serves the first of the cases that are ready.
template <class... Cases>
  requires(sizeof...(Cases) > 0 && (detail::some_cases<Cases> && ...))
std::optional<std::size_t> first(Cases&&... cases) {
  return detail::serve_one_of(true, cases...);
}

/// @}
}  // namespace sukima::objects

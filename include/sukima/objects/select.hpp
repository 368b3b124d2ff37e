// SPDX-License-Identifier: Apache-2.0
// select and first: wait for the first of several streams.
#pragma once

#include <sukima/objects/ends.hpp>

#include <array>
#include <concepts>

namespace sukima::objects {
namespace detail {

/// One case, whatever its types.
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

template <class T, class F> struct receive_case final : select_case {
  in<T>& from;
  F f;
  receive_case(in<T>& end, F function) : from(end), f(std::move(function)) {
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
    return ended ? outcome::closed : outcome::not_yet;
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
    switch (to.put(value, false, nullptr)) {
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
/// \returns the number of the case that was served; none_served: all its streams are closed
std::size_t serve_one(select_case* const* cases, std::size_t count, bool in_order);

template <class... Cases> std::optional<std::size_t> serve_one_of(bool in_order, Cases&... cases) {
  const std::array<select_case*, sizeof...(Cases)> all{&cases...};
  const std::size_t served = serve_one(all.data(), all.size(), in_order);
  return served == none_served ? std::nullopt : std::optional(served);
}

}  // namespace detail

template <class T> template <class F> detail::receive_case<T, F> in<T>::on(F f) {
  return {*this, std::move(f)};
}
template <class T> template <class F> detail::room_case<T, F> out<T>::on_room(T& value, F h) {
  return {*this, value, std::move(h)};
}

/// \addtogroup objects
/// @{

/// A case of select that calls f() when so much time has passed without another one.
template <class Rep, class Period, class F>
detail::time_case<F> after(std::chrono::duration<Rep, Period> longest, F f) {
  return {detail::end_of_wait(longest), std::move(f)};
}

/// Waits until one of the cases is ready (in::on, out::on_room, after) and serves it. Begins with the
/// case after the one that this object served last with the same cases, so a case that is ready waits for at
/// most n − 1 others. Where an object has selects with more than 16 sets of cases, it may wait for more.
/// \returns the number of the case, from 0; empty: every `on` is closed, and there is no `on_room`
/// \throws stream_failed, stream_broken as receive and send; what the function of the case throws
/// \par Complexity linear in the number of cases
template <class... Cases>
  requires(sizeof...(Cases) > 0 &&
           (std::derived_from<std::remove_reference_t<Cases>, detail::select_case> && ...))
std::optional<std::size_t> select(Cases&&... cases) {
  return detail::serve_one_of(false, cases...);
}
/// The same in order of priority: of the cases that are ready, the first one.
template <class... Cases>
  requires(sizeof...(Cases) > 0 &&
           (std::derived_from<std::remove_reference_t<Cases>, detail::select_case> && ...))
std::optional<std::size_t> first(Cases&&... cases) {
  return detail::serve_one_of(true, cases...);
}

/// @}
}  // namespace sukima::objects

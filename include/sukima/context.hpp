// SPDX-License-Identifier: Apache-2.0
// sukima::context: the top of the running fiber's choice stack, handed from function to function.
#pragma once

#include <sukima/detail/choice_point.hpp>

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

namespace sukima {

/// The place where the running fiber would put its next pending fork. A context is handed on by value to the
/// function that is called next, lives in a register, and is good only for as long as that call lasts.
/// Never store one, and never use one after the call that it was handed to has returned.
struct context {
  char* top;
};

}  // namespace sukima

namespace sukima::detail {

/// A callable may ask for a context as its first argument, or not.
template <class F, class... Arguments>
concept takes_context = std::is_invocable_v<F, context, Arguments...>;

template <class F, class... Arguments>
concept callable_with = takes_context<F, Arguments...> || std::is_invocable_v<F, Arguments...>;

template <class F, class... Arguments> struct result_with {
  using type = std::invoke_result_t<F, Arguments...>;
};
template <class F, class... Arguments>
  requires takes_context<F, Arguments...>
struct result_with<F, Arguments...> {
  using type = std::invoke_result_t<F, context, Arguments...>;
};
template <class F, class... Arguments> using result_of = typename result_with<F, Arguments...>::type;

/// `ambient_of` a small fiber.
ambient_state& ambient_of_small(const void* in_choice_stack) noexcept;

/// The ambient context of the fiber that owns this address.
[[gnu::always_inline]] inline ambient_state& ambient_of(const void* in_choice_stack) noexcept {
  gate& g = gate_of(in_choice_stack);
  if (g.shared) [[unlikely]]
    return ambient_of_small(in_choice_stack);
  return g.ambient;
}

/// Changes a fiber's ambient context for as long as this object lives: sets it where code with a context
/// calls code without one, empties it where code without a context calls code with one. Exactly one of the
/// two knows the top of the choice stack at any time.
/// \tparam Remembers the context that was ambient before. Where one is set there was none, so the object is
///                   one pointer: g++ does not find out by itself that a member is always null.
template <bool Remembers> class ambient_context {
 public:
  /// `c` becomes ambient. None was before, because the caller has a context.
  explicit ambient_context(context c) noexcept
    requires(!Remembers)
      : state_(ambient_of(c.top)) {
    state_.top = c.top;
  }
  /// Empties it: what runs now is handed its context.
  explicit ambient_context(ambient_state& state) noexcept
    requires Remembers
      : state_(state), outer_(state.top) {
    state_.top = nullptr;
  }
  ambient_context(const ambient_context&) = delete;
  ambient_context& operator=(const ambient_context&) = delete;
  ~ambient_context() {
    if constexpr (Remembers)
      state_.top = outer_;
    else
      state_.top = nullptr;
  }

  const ambient_state& state() const noexcept { return state_; }
  /// The context that was ambient before and will be again; its top is null if there was none.
  context outer() const noexcept
    requires Remembers
  {
    return {outer_};
  }

 private:
  struct nothing {};
  ambient_state& state_;
  [[no_unique_address]] std::conditional_t<Remembers, char*, nothing> outer_{};
};
ambient_context(context) -> ambient_context<false>;
ambient_context(ambient_state&) -> ambient_context<true>;

/// Calls f, with the context if it takes one.
template <class F, class... Arguments>
  requires callable_with<F, Arguments...>
[[gnu::always_inline]] inline decltype(auto) call(context c, F&& f, Arguments&&... arguments) {
  if constexpr (takes_context<F, Arguments...> && std::is_class_v<std::remove_reference_t<F>>) {
    return std::forward<F>(f)(c, std::forward<Arguments>(arguments)...);  // g++ counts std::invoke as big
  } else if constexpr (takes_context<F, Arguments...>) {
    return std::invoke(std::forward<F>(f), c, std::forward<Arguments>(arguments)...);
  } else {
    const ambient_context ambient(c);
    return std::invoke(std::forward<F>(f), std::forward<Arguments>(arguments)...);
  }
}

}  // namespace sukima::detail

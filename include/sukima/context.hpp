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
class ambient_context {
 public:
  /// `c` becomes ambient. It was empty, because the caller has a context, so nothing needs to be remembered.
  explicit ambient_context(context c) noexcept : ambient_context(ambient_of(c.top), c.top, nullptr) {}
  /// Empties it: what runs now is handed its context.
  explicit ambient_context(ambient_state& state) noexcept : ambient_context(state, nullptr, state.top) {}
  ambient_context(const ambient_context&) = delete;
  ambient_context& operator=(const ambient_context&) = delete;
  ~ambient_context() { state_.top = outer_; }

  const ambient_state& state() const noexcept { return state_; }
  /// The context that was ambient before and will be again; its top is null if there was none.
  context outer() const noexcept { return {outer_}; }

 private:
  ambient_context(ambient_state& state, char* top, char* outer) noexcept : state_(state), outer_(outer) {
    state_.top = top;
  }
  ambient_state& state_;
  char* outer_;
};

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

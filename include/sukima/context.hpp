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

/// `kept_of` a small fiber.
kept_state& kept_of_small(const void* in_choice_stack) noexcept;

/// What the fiber that owns this address keeps for code without a context.
[[gnu::always_inline]] inline kept_state& kept_of(const void* in_choice_stack) noexcept {
  gate& g = gate_of(in_choice_stack);
  if (g.shared) [[unlikely]]
    return kept_of_small(in_choice_stack);
  return g.kept;
}

/// Keeps the top for code without a context, and marks it unknown again at the end.
class top_keeper {
 public:
  explicit top_keeper(context c) noexcept : kept_(kept_of(c.top)) { kept_.top = c.top; }
  top_keeper(const top_keeper&) = delete;
  top_keeper& operator=(const top_keeper&) = delete;
  ~top_keeper() { kept_.top = nullptr; }
  const kept_state& kept() const noexcept { return kept_; }

 private:
  kept_state& kept_;
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
    top_keeper keep(c);
    return std::invoke(std::forward<F>(f), std::forward<Arguments>(arguments)...);
  }
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// sukima::context: the top of the running fiber's choice stack, which functions pass on as their first
// argument.
#pragma once

#include <sukima/detail/required_cxx.hpp>  // first

#include <sukima/detail/checks.hpp>
#include <sukima/detail/choice_point.hpp>
#include <sukima/detail/only_a_pack.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace sukima {
/// \addtogroup forks
/// @{

/// Marks the contexts of sequential clones. No object of this type exists.
/// \tparam Closed the clone runs below a search that has applied choices: work older than the clone is not
///         given away before the clone has ended
/// \tparam Unpolled number of levels of forks below that do not poll
template <bool Closed, unsigned Unpolled> struct clone_mark;

/// The address at which the running fiber puts its next pending fork. A context is passed by value to the
/// function that is called next, is kept in a register, and is valid only during that call. Never store a
/// context, and never use it after the call that received it has returned. A branch or a loop body gets its
/// own context, and must not use an outer one that it has captured. Builds without NDEBUG check that: a wrong
/// context ends the program with a message (checks.hpp). -DSUKIMA_CHECKED=0 or =1 overrides NDEBUG.
struct context {
  char* top;  ///< where the next choice point begins; for the library

  context() = default;
  context(char* t) noexcept : top(t) {}  // NOLINT(google-explicit-constructor)
  /// The context of parallel code that a sequential clone calls.
  template <bool Closed, unsigned Unpolled>
  context(clone_mark<Closed, Unpolled>* clone) noexcept  // NOLINT(google-explicit-constructor)
      : top(reinterpret_cast<char*>(clone)) {}
};

/// The context of a *generic* callable (one that takes its context as `auto`) that runs in parallel. It also
/// counts the forks, loops and searches of generic callables above it: work at the same depth is expected to
/// take as long as it took before (docs/clones.md).
struct tracked_context : context {
  std::uint32_t depth;  ///< number of generic forks, loops and searches above
};

/// The context of a generic callable below which no clone runs: clones are switched off, or a clone was left
/// to give work away. It forks as with a plain context.
struct parallel_context : context {};

/// The context of a generic callable that runs as a sequential clone: its forks are calls, its loops are
/// plain loops, and it polls now and then whether a worker is idle. A function that takes a plain context
/// runs in parallel below it. It is a pointer, not a class, because g++ does not split functions with
/// arguments of class type for inlining, and does not turn their tail calls into loops.
using clone_context = clone_mark<false, 0>*;

/// @}
}  // namespace sukima

namespace sukima::detail {

/// Whether C is the type of a context of a sequential clone.
template <class C> inline constexpr bool is_clone_context = false;
template <bool Closed, unsigned Unpolled>
inline constexpr bool is_clone_context<clone_mark<Closed, Unpolled>*> = true;
template <class C>
concept clone_context_type = is_clone_context<C>;
template <class C>
concept context_type = std::is_base_of_v<context, C> || clone_context_type<C>;

/// A class with exactly one call operator, which is not a template.
template <class F>
concept has_one_call = requires { &std::remove_cvref_t<F>::operator(); };
template <class F> inline constexpr bool may_be_generic = false;
template <class F>
  requires std::is_class_v<std::remove_cvref_t<F>>
inline constexpr bool may_be_generic<F> = !has_one_call<F>;

/// The type of context with which the library tests whether a callable takes one. A generic callable is
/// tested with a tracked context only, so that it is not instantiated for a plain context as well.
template <class F> using asked_context = std::conditional_t<may_be_generic<F>, tracked_context, context>;

/// A callable that takes a context before these arguments.
template <class F, class... Arguments>
concept takes_context =
    !takes_only_a_pack<std::remove_cvref_t<F>> &&
    (!takes_more_than_needed<std::remove_cvref_t<F>> || !std::is_invocable_v<F, Arguments...>) &&
    std::is_invocable_v<F, asked_context<F>, Arguments...>;

/// A callable that takes these arguments, with a context before them or without.
template <class F, class... Arguments>
concept callable_with = takes_context<F, Arguments...> || std::is_invocable_v<F, Arguments...>;

template <class F, class... Arguments> struct result_with {
  using type = std::invoke_result_t<F, Arguments...>;
};
template <class F, class... Arguments>
  requires takes_context<F, Arguments...>
struct result_with<F, Arguments...> {
  using type = std::invoke_result_t<F, asked_context<F>, Arguments...>;
};
template <class F, class... Arguments> using result_of = typename result_with<F, Arguments...>::type;

/// A callable that exists as parallel code and as a sequential clone.
template <class F, class... Arguments>
concept generic_callable = may_be_generic<F> && takes_context<F, Arguments...> &&
                           std::is_invocable_v<F, clone_context, Arguments...>;
/// Whether a clone may call F as it is: true unless F would fork there with a plain context.
template <class F, class... Arguments>
concept fits_clone = generic_callable<F, Arguments...> || !takes_context<F, Arguments...>;

/// `ambient_of` for a small fiber.
ambient_state& ambient_of_small(const void* in_choice_stack) noexcept;

/// Returns the ambient context of the fiber that owns this address.
[[gnu::always_inline]] inline ambient_state& ambient_of(const void* in_choice_stack) noexcept {
  gate& g = gate_of(in_choice_stack);
  if (g.shared) [[unlikely]]
    return ambient_of_small(in_choice_stack);
  return g.ambient;
}

/// Changes a fiber's ambient context while this object lives: sets it where code with a context calls code
/// without one, and clears it where code without a context calls code with one. So at any time the top of the
/// choice stack is either in a context that is passed on, or in the ambient context.
/// \tparam Remembers whether the object restores the previous ambient context. An object that sets a context
///                   restores none, because there was none before. It is one pointer then: g++ does not find
///                   out by itself that a member is always null.
template <bool Remembers> class ambient_context {
 public:
  /// Makes `c` the ambient context. There was none before, because the caller has a context.
  explicit ambient_context(context c) noexcept
    requires(!Remembers)
      : state_(ambient_of(c.top)) {
    state_.top = c.top;
  }
  /// Clears the ambient context, because the code that runs now receives its context as an argument.
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
  /// Returns the context that was ambient before and will be again; its top is null if there was none.
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

/// Records for the checks, as long as this object lives, that the running function has received this context.
class handed_context {
 public:
  explicit handed_context(context c) noexcept : state_(ambient_of(c.top)), outer_(state_.handed) {
    state_.handed = c.top;
  }
  handed_context(const handed_context&) = delete;
  handed_context& operator=(const handed_context&) = delete;
  ~handed_context() { state_.handed = outer_; }

 private:
  ambient_state& state_;
  char* outer_;
};

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Returns the context to pass to a callable: a generic callable gets a tracked context instead of a plain
/// one.
template <class F> [[gnu::always_inline]] inline auto handed_to(context c) noexcept {
  if constexpr (may_be_generic<F>)
    return tracked_context{c, 0};
  else
    return c;
}
template <class F, context_type C> [[gnu::always_inline]] inline auto handed_to(C c) noexcept {
  if constexpr (may_be_generic<F>)
    return c;
  else
    return static_cast<context>(c);
}

/// Calls f, with the context if it takes one.
template <context_type C, class F, class... Arguments>
  requires callable_with<F, Arguments...>
[[gnu::always_inline]] inline decltype(auto) call(C c, F&& f, Arguments&&... arguments) {
  if constexpr (takes_context<F, Arguments...> && checks::on) {
    const handed_context own(c);
    return std::invoke(std::forward<F>(f), handed_to<F>(c), std::forward<Arguments>(arguments)...);
  } else if constexpr (takes_context<F, Arguments...> && std::is_class_v<std::remove_reference_t<F>>) {
    // A direct call, because g++ estimates std::invoke as large when it decides what to inline.
    return std::forward<F>(f)(handed_to<F>(c), std::forward<Arguments>(arguments)...);
  } else if constexpr (takes_context<F, Arguments...>) {
    return std::invoke(std::forward<F>(f), handed_to<F>(c), std::forward<Arguments>(arguments)...);
  } else {
    const ambient_context ambient(static_cast<context>(c));
    return std::invoke(std::forward<F>(f), std::forward<Arguments>(arguments)...);
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

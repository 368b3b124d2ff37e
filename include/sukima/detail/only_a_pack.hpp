// SPDX-License-Identifier: Apache-2.0
// Callables whose only parameters are `auto...`, and callables that pass on all arguments.
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Two classes with a function that takes anything, one of a constant object and one of a changing one.
struct takes_anything {
  template <class... Arguments> void operator()(Arguments...) const;
};
struct changes_and_takes_anything {
  template <class... Arguments> void operator()(Arguments...);
};
template <class F, class Other> struct overloaded : F, Other {
  using F::operator();
  using Other::operator();
};
/// Whether overload resolution decides between the two functions.
template <class Both, class... Arguments>
concept is_decided = requires(Both& both, Arguments... arguments) { both(std::move(arguments)...); };

/// A class from which another one can be derived, and which has call operators. The name of an operator of
/// both bases is ambiguous.
struct one_call {
  void operator()();
};
template <class F> struct another_call : F, one_call {};
template <class F>
concept has_calls = std::is_class_v<F> && !std::is_final_v<F> && !requires { &another_call<F>::operator(); };

/// Whether F is a lambda with `auto...` as its only parameters: then overload resolution decides no call.
/// Such a lambda gets no context. A test whether it takes one would compile its body with a context among the
/// arguments, which may be an error there.
template <class F> inline constexpr bool takes_only_a_pack = false;
/// Whether F is std::bind, or wraps a callable with only a pack, such as std::not_fn, std::bind_front and
/// std::ref do. It accepts more arguments than its callable may need. A test whether F takes a context would
/// compile that callable with a context, which may be an error there. So F gets a context only if it cannot
/// be called without one.
template <class F> inline constexpr bool takes_more_than_needed = std::is_bind_expression_v<F>;
template <template <class...> class Wrapper, class F, class... Bound>
  requires std::is_class_v<F> && requires { sizeof(F); }
inline constexpr bool takes_more_than_needed<Wrapper<F, Bound...>> =
    takes_only_a_pack<F> || takes_more_than_needed<F>;

template <has_calls F>
  requires(!takes_more_than_needed<F> && !requires { &F::operator(); })
inline constexpr bool takes_only_a_pack<F> = [] {
  using constant = const overloaded<F, takes_anything>;
  using changing = overloaded<F, changes_and_takes_anything>;
  struct some {};
  if constexpr (!is_decided<constant>)
    return !is_decided<constant, some, some>;
  else if constexpr (!is_decided<changing>)
    return !is_decided<changing, some, some>;
  else
    return false;
}();

}  // namespace sukima::detail

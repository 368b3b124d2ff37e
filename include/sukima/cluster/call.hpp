// SPDX-License-Identifier: Apache-2.0
// call<f>(arguments…): a call that is made later, by another worker or on another node.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/travel.hpp>
#include <sukima/errors.hpp>
#include <sukima/fork.hpp>
#include <sukima/transfer.hpp>

#include <cstring>
#include <limits>
#include <stdexcept>
#include <tuple>
#include <typeinfo>

namespace sukima::detail {

/// The result and the parameters of a function that `call` accepts: parameters without the context, and as
/// values.
template <class F> struct called_function;
template <class R, class... A> struct called_function<R (*)(A...)> {
  using result = R;
  using parameters = std::tuple<std::remove_cvref_t<A>...>;
  static constexpr bool takes_context = false;
  static constexpr bool by_value =
      ((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>) && ...);
};
template <class R, class... A> struct called_function<R (*)(context, A...)> : called_function<R (*)(A...)> {
  static constexpr bool takes_context = true;
};
template <class R, class... A>
struct called_function<R (*)(A...) noexcept> : called_function<R (*)(A...)> {};

/// Calls a callable, with the context if it takes one. detail::call is not used here, because it is another
/// function in checked mode, and these instantiations must be the same in the whole program.
template <class Callable> result_of<Callable&&> call_plainly(context c, Callable&& callable) {
  if constexpr (std::is_invocable_v<Callable&&, context>) {
    return std::forward<Callable>(callable)(c);
  } else {
    const ambient_context ambient(c);
    return std::forward<Callable>(callable)();
  }
}

template <auto Function, class Parameters> struct call_of;

/// The call itself, which fork2, fork and cluster::run take. The class has one call operator, so that a fork
/// treats it as a lambda. With two operators, one of them excluded by a constraint, g++ 12 cannot determine
/// which one exists. It would take the call for a generic callable, and a clone could run its forks without
/// choice points.
template <auto Function, class... Parameters>
  requires(called_function<decltype(Function)>::takes_context)
struct call_of<Function, std::tuple<Parameters...>> {
  using result = typename called_function<decltype(Function)>::result;
  [[no_unique_address]] std::tuple<Parameters...> arguments;

  [[gnu::always_inline]] result operator()(context c) {
    return std::apply([&](Parameters&... each) -> result { return Function(c, std::move(each)...); },
                      arguments);
  }
};
template <auto Function, class... Parameters>
  requires(!called_function<decltype(Function)>::takes_context)
struct call_of<Function, std::tuple<Parameters...>> {
  using result = typename called_function<decltype(Function)>::result;
  [[no_unique_address]] std::tuple<Parameters...> arguments;

  [[gnu::always_inline]] result operator()() {
    return std::apply([](Parameters&... each) -> result { return Function(std::move(each)...); }, arguments);
  }
};

/// A call whose last arguments are passed later: the body of a loop. It is called many times, so it keeps its
/// arguments.
template <auto Function, class Bound, class Rest> struct bound_call;
template <auto Function, class... Bound, class... Rest>
  requires(called_function<decltype(Function)>::takes_context)
struct bound_call<Function, std::tuple<Bound...>, std::tuple<Rest...>> {
  using result = typename called_function<decltype(Function)>::result;
  [[no_unique_address]] std::tuple<Bound...> arguments;

  [[gnu::always_inline]] result operator()(context c, Rest... rest) const {
    return std::apply(
        [&](const Bound&... each) -> result { return Function(c, each..., std::move(rest)...); }, arguments);
  }
};
template <auto Function, class... Bound, class... Rest>
  requires(!called_function<decltype(Function)>::takes_context)
struct bound_call<Function, std::tuple<Bound...>, std::tuple<Rest...>> {
  using result = typename called_function<decltype(Function)>::result;
  [[no_unique_address]] std::tuple<Bound...> arguments;

  [[gnu::always_inline]] result operator()(Rest... rest) const {
    return std::apply([&](const Bound&... each) -> result { return Function(each..., std::move(rest)...); },
                      arguments);
  }
};
/// Splits the parameters of a function into the first ones, as many as there are arguments, and the rest.
template <auto Function, class Parameters, class First, class Rest> struct split_parameters;
template <auto Function, class Parameters, std::size_t... First, std::size_t... Rest>
struct split_parameters<Function, Parameters, std::index_sequence<First...>, std::index_sequence<Rest...>> {
  using first = std::tuple<std::tuple_element_t<First, Parameters>...>;
  using type =
      bound_call<Function, first, std::tuple<std::tuple_element_t<sizeof...(First) + Rest, Parameters>...>>;
};

/// Appends the bytes of a trivially copyable value. Padding is set to zero if the compiler supports that (g++
/// does): under `--hope` equal values must make equal names, and old bytes of the stack would change the
/// names.
template <class T> void put_bits(const T& value, std::vector<std::byte>& to) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto append = [&](const void* first) {
    const auto* const bytes = static_cast<const std::byte*>(first);
    to.insert(to.end(), bytes, bytes + sizeof(T));
  };
#if __has_builtin(__builtin_clear_padding)
  if constexpr (!std::has_unique_object_representations_v<T>) {
    alignas(T) std::byte room[sizeof(T)];
    std::memcpy(room, std::addressof(value), sizeof(T));
    __builtin_clear_padding(std::launder(reinterpret_cast<T*>(room)));
    append(room);
    return;
  }
#endif
  append(std::addressof(value));
}

/// Appends a value in bytes: a plain value as it is, another one after its length. \throws what a codec
/// throws
template <class T> void put_value(const T& value, std::vector<std::byte>& to) {
  if constexpr (can_be_copied<T>) {
    detail::put_bits(value, to);
  } else {
    const std::size_t place = to.size();
    to.resize(place + sizeof(std::uint64_t));
    codec<T>::encode(value, to);
    const std::uint64_t size = to.size() - place - sizeof(std::uint64_t);
    std::memcpy(to.data() + place, &size, sizeof size);
  }
}
/// Takes a value from the front of the bytes. \throws std::length_error if there are too few
template <class T> T get_value(std::span<const std::byte>& from) {
  const auto take = [&](std::uint64_t size) {
    if (size > from.size()) throw std::length_error("sukima: a value from another node is incomplete");
    const std::span<const std::byte> taken = from.first(static_cast<std::size_t>(size));
    from = from.subspan(static_cast<std::size_t>(size));
    return taken;
  };
  if constexpr (can_be_copied<T>) {
    alignas(T) std::byte room[sizeof(T)];
    std::memcpy(room, take(sizeof(T)).data(), sizeof(T));
    return *std::launder(reinterpret_cast<T*>(room));
  } else {
    std::uint64_t size = 0;
    std::memcpy(&size, take(sizeof size).data(), sizeof size);
    return codec<T>::decode(take(size));
  }
}

template <class T>
concept can_return = std::is_void_v<T> || can_travel<T>;
/// Whether T is a tuple, as the results of a fork's later branches are.
template <class T> inline constexpr bool are_results = false;
template <class... R> inline constexpr bool are_results<std::tuple<R...>> = true;
template <class... R> std::tuple<R...> get_results(std::type_identity<std::tuple<R...>> /*type*/,
                                                   std::span<const std::byte> from) {
  return std::tuple<R...>{get_value<R>(from)...};  // from left to right
}
/// Makes a result from bytes; void takes no bytes.
template <class T> T get_result(std::span<const std::byte> from) {
  if constexpr (are_results<T> && !can_travel<T>)
    return detail::get_results(std::type_identity<T>{}, from);
  else if constexpr (!std::is_void_v<T>)
    return get_value<T>(from);
}
template <class T> void put_result(stored<T>& value, std::vector<std::byte>& to) {
  if constexpr (are_results<T> && !can_travel<T>)
    std::apply([&](const auto&... each) { (detail::put_value(each, to), ...); }, value);
  else if constexpr (!std::is_void_v<T>)
    detail::put_value(value, to);
}

/// Registers a form with the nodes of this process; libsukima-cluster keeps the list.
void register_travel_form(const travel_form& form);
struct form_registration {
  explicit form_registration(const travel_form& form) { register_travel_form(form); }
};

/// A callable that came from another node, and its result.
template <class Callable> struct received_call : received_task {
  using result = result_of<Callable&&>;
  Callable callable;
  result_slot<stored<result>> value;
  explicit received_call(Callable&& made) : callable(std::move(made)) {
    run = [](task* self, context c) {
      auto* const me = static_cast<received_call*>(self);
      me->value.fill([&]() -> decltype(auto) { return detail::call_plainly(c, std::move(me->callable)); });
    };
    destroy = [](task* self) noexcept { delete static_cast<received_call*>(self); };
  }
};

/// The form of a callable: makes one from bytes, and puts its result into bytes.
template <class Callable> struct form_of {
  using result = result_of<Callable&&>;
  static received_task* make(const travel_form& /*self*/, std::span<const std::byte> from) {
    return new received_call<Callable>(travels<Callable>::from_bytes(from));
  }
  static void put(received_task& t, std::vector<std::byte>& to) {
    detail::put_result<result>(static_cast<received_call<Callable>&>(t).value.get(), to);
  }
  static const travel_form form;
  static const form_registration registration;
};
template <class Callable>
const travel_form form_of<Callable>::form{typeid(Callable).name(), form_of<Callable>::make,
                                          form_of<Callable>::put};
template <class Callable>
const form_registration form_of<Callable>::registration{form_of<Callable>::form};

template <class Call> inline constexpr bool call_can_travel = false;
template <auto Function, class... Parameters>
inline constexpr bool call_can_travel<call_of<Function, std::tuple<Parameters...>>> =
    (can_travel<Parameters> && ...) && can_return<typename called_function<decltype(Function)>::result>;

template <auto Function, class... Parameters>
  requires call_can_travel<call_of<Function, std::tuple<Parameters...>>>
struct travels<call_of<Function, std::tuple<Parameters...>>> {
  using callable = call_of<Function, std::tuple<Parameters...>>;
  static constexpr bool possible = true;
  static constexpr const travel_form& form = form_of<callable>::form;
  static void put(const callable& c, std::vector<std::byte>& to) {
    static_cast<void>(form_of<callable>::registration);  // this use makes the compiler create it
    std::apply([&](const Parameters&... each) { (detail::put_value(each, to), ...); }, c.arguments);
  }
  static callable from_bytes(std::span<const std::byte> from) { return take(from); }
  /// Makes a call from the front of the bytes.
  static callable take(std::span<const std::byte>& from) {
    return {std::tuple<Parameters...>{get_value<Parameters>(from)...}};  // from left to right
  }
  static typename callable::result get(std::span<const std::byte> from) {
    return get_result<typename callable::result>(from);
  }
};

/// The later branches of a fork travel together if each of them could travel alone.
template <class... Calls>
  requires(call_can_travel<Calls> && ...)
struct travels<later_branches<Calls...>> {
  using callable = later_branches<Calls...>;
  using result = result_of<callable&&>;
  static constexpr bool possible = true;
  static constexpr const travel_form& form = form_of<callable>::form;
  static void put(const callable& c, std::vector<std::byte>& to) {
    static_cast<void>(form_of<callable>::registration);
    std::apply([&](const Calls&... each) { (travels<Calls>::put(each, to), ...); }, c.all);
  }
  static callable from_bytes(std::span<const std::byte> from) { return take(from); }
  static callable take(std::span<const std::byte>& from) {
    return {std::tuple<Calls...>{travels<Calls>::take(from)...}};
  }
  static result get(std::span<const std::byte> from) { return get_result<result>(from); }
};

}  // namespace sukima::detail

namespace sukima {
/// \addtogroup cluster
/// @{

/// Makes a call of a function that is known at compile time, for fork2, fork and cluster::run to call later.
/// In a program that runs on several nodes (`sukima cluster run`), a second branch that is such a call may be
/// given to another node, if its arguments and its result can travel (sukima::can_travel). Otherwise it stays
/// on its node, as a lambda does. It costs as much as a lambda: nothing is turned into bytes before another
/// node takes the call.
///
/// With fewer arguments than the function takes, the call is the body of a loop, which passes the other
/// arguments:
///
///     long f(const board& b, int square);
///     sukima::parallel_reduce(c, 0, 64, 0L, sukima::call<f>(b), std::plus{});
///
/// The pieces of such a parallel_reduce travel if the arguments and the result can, the range consists of
/// integers, std::views::iota or sukima::set_bits, and the combining function has no captures.
/// \tparam Function  takes a context and the arguments, or the arguments alone; by value or by reference to
///                   const
/// \param arguments  converted to the types of the parameters, and kept as values
/// \returns a callable, which takes a context if the function does
/// \throws what converting the arguments throws
/// \par Complexity constant; nothing is allocated
template <auto Function, class... Arguments> [[gnu::always_inline]] inline auto call(
    Arguments&&... arguments) {
  using traits = detail::called_function<decltype(Function)>;
  static_assert(
      traits::by_value,
      "sukima::call: a function that is called later takes its arguments by value or by reference to "
      "const: what it changed would be lost on another node");
  using parameters = typename traits::parameters;
  constexpr std::size_t all = std::tuple_size_v<parameters>;
  constexpr std::size_t given = sizeof...(Arguments);
  static_assert(given <= all, "sukima::call: the function takes fewer arguments");
  if constexpr (given == all) {
    return detail::call_of<Function, parameters>{parameters(std::forward<Arguments>(arguments)...)};
  } else {
    using split = detail::split_parameters<Function, parameters, std::make_index_sequence<given>,
                                           std::make_index_sequence<all - given>>;
    return typename split::type{typename split::first(std::forward<Arguments>(arguments)...)};
  }
}

/// @}
}  // namespace sukima

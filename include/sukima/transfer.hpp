// SPDX-License-Identifier: Apache-2.0
// The values that can travel to another process: copied byte by byte, or by a codec.
#pragma once

#include <sukima/detail/fields.hpp>

#include <array>
#include <chrono>
#include <complex>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace sukima {
/// \addtogroup objects
/// @{

/// Turns values of a type that cannot be copied byte by byte into bytes for another address space, and back.
/// Specialize it:
///
///     template <> struct sukima::codec<name> {
///       static void encode(const name& value, std::vector<std::byte>& to);  // appends
///       static name decode(std::span<const std::byte> from);
///     };
///
/// `decode` gets exactly the bytes that `encode` appended. Both may throw: the call that sends or receives
/// the value then throws that. With the header sukima/transfer_cereal.hpp every type that the library cereal
/// serializes has a codec.
template <class T> struct codec {};

/// Whether a trivially copyable class holds neither pointers nor references, so that a copy of its bytes
/// means the same in another process. Specialize it as true for a class whose fields the library cannot list:
/// with private members, constructors, base classes, a union, or more than 16 fields.
template <class T> inline constexpr bool holds_no_pointers = false;

/// @}

namespace detail {

template <class T> struct is_known_value : std::bool_constant<holds_no_pointers<T>> {};
template <class R> struct is_known_value<std::complex<R>> : std::true_type {};
template <class R, class P> struct is_known_value<std::chrono::duration<R, P>> : std::true_type {};
template <class C, class D> struct is_known_value<std::chrono::time_point<C, D>> : std::true_type {};

template <class T> constexpr bool is_plain();
template <class... F> constexpr bool are_plain(type_list<F...>) { return (is_plain<F>() && ...); }
template <class T> struct is_known_value<std::optional<T>> : std::bool_constant<is_plain<T>()> {};
template <class T, std::size_t N> struct is_known_value<std::array<T, N>>
    : std::bool_constant<is_plain<T>()> {};
template <class T>
concept has_own_parts = requires { sizeof(std::tuple_size<T>); };  // a structured binding would use these

/// Converts to unions without a declaration that they are safe.
struct any_closed_union {
  template <class F>
    requires(std::is_union_v<F> && !is_known_value<F>::value)
  constexpr operator F() const noexcept;
};
/// Converts to types that are declared safe and begin with such a union.
struct any_known_with_union {
  template <class F>
    requires(is_known_value<F>::value && requires { F{any_closed_union{}}; })
  constexpr operator F() const noexcept;
};
/// Whether one of the first N fields is such a union, or begins with one. A structured binding has no name
/// for a union without a name, and a concept could not detect that error.
template <class T, std::size_t N> constexpr bool has_closed_union() {
  if constexpr (N == 0)
    return false;
  else if constexpr (takes<T, N - 1, any_closed_union>())
    return !takes<T, N - 1, any_known_with_union>() || has_closed_union<T, N - 1>();
  else
    return has_closed_union<T, N - 1>();
}

/// Whether the bytes of a T mean the same in another address space.
template <class T> constexpr bool is_plain() {
  using type = std::remove_cv_t<T>;
  if constexpr (std::is_array_v<type>) {
    return is_plain<std::remove_all_extents_t<type>>();
  } else if constexpr (std::is_arithmetic_v<type> || std::is_enum_v<type>) {
    return true;
  } else if constexpr (is_known_value<type>::value) {
    return std::is_trivially_copyable_v<type>;
  } else if constexpr (std::is_class_v<type> && std::is_trivially_copyable_v<type> &&
                       std::is_aggregate_v<type> && !has_own_parts<type>) {
    constexpr std::size_t fields = count_fields<type>();
    if constexpr (fields > most_fields)
      return false;
    else if constexpr (has_closed_union<type, fields>())
      return false;
    else
      return detail::are_plain(field_types<type>{});
  } else {
    return false;
  }
}

}  // namespace detail

/// \addtogroup objects
/// @{

/// A type that has a codec.
template <class T>
concept has_codec = requires(const T& value, std::vector<std::byte>& to, std::span<const std::byte> from) {
  codec<T>::encode(value, to);
  { codec<T>::decode(from) } -> std::convertible_to<T>;
};
/// A type whose bytes can be copied into any process: it is trivially copyable, and neither it nor its
/// members may hold pointers or references. A codec takes precedence, so a type with one does not count.
template <class T>
concept can_be_copied = !has_codec<T> && std::is_trivially_copyable_v<T> && detail::is_plain<T>();
/// A type whose values can be sent to another process.
template <class T>
concept can_travel = can_be_copied<T> || has_codec<T>;

/// @}
}  // namespace sukima

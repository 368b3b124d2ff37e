// SPDX-License-Identifier: Apache-2.0
// Finds the types of an aggregate's fields without declarations in the aggregate. Each field can be
// initialized by {}, so the number of fields is the number of {} that T{{}, {}, …} takes. The names of a
// structured binding with that many names have the types of the fields.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace sukima::detail {

struct any_value {
  template <class F> constexpr operator F() const noexcept;
};
struct any_reference {
  template <class F> constexpr operator F&() const noexcept;
};
/// Converts to base classes of T only.
template <class T> struct any_base {
  template <class B>
    requires(std::is_base_of_v<B, T> && !std::is_same_v<B, T>)
  constexpr operator B() const noexcept;
};

inline constexpr std::size_t most_fields = 16;
inline constexpr std::size_t not_known = ~std::size_t{0};

// clang-format off
/// Whether T can be initialized by {} N times, followed by values of the types More.
template <class T, std::size_t N, class... More> constexpr bool takes() {
  if constexpr (N == 0) return requires { T{More{}...}; };
#define SUKIMA_TAKES(COUNT, ...) \
  else if constexpr (N == COUNT) return requires { T{__VA_ARGS__, More{}...}; };
  SUKIMA_TAKES(1, {})
  SUKIMA_TAKES(2, {}, {})
  SUKIMA_TAKES(3, {}, {}, {})
  SUKIMA_TAKES(4, {}, {}, {}, {})
  SUKIMA_TAKES(5, {}, {}, {}, {}, {})
  SUKIMA_TAKES(6, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(7, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(8, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(9, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(10, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(11, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(12, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(13, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(14, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(15, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(16, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
  SUKIMA_TAKES(17, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})
#undef SUKIMA_TAKES
  else return false;
}
// clang-format on

/// The number of fields; not_known if T has base classes, a field that cannot be initialized by {}, or more
/// than most_fields fields.
template <class T, std::size_t N = 0> constexpr std::size_t count_fields() {
  if constexpr (std::is_empty_v<T>)
    return 0;
  else if constexpr (N <= most_fields && takes<T, N>() && !takes<T, 0, any_base<T>>()) {
    if constexpr (takes<T, N + 1>())
      return count_fields<T, N + 1>();
    else if constexpr (N != 0 && !takes<T, N, any_value>() && !takes<T, N, any_reference>())
      return N;
    else
      return not_known;  // there is another field, which {} does not initialize
  } else
    return not_known;
}

template <class... F> struct type_list {};

// clang-format off
/// The types of the fields, as a type_list. \pre count_fields<T>() is at most most_fields
template <class T> constexpr auto fields_of(T& object) {
  constexpr std::size_t n = count_fields<T>();
  if constexpr (n == 0) return type_list<>{};
#define SUKIMA_NAMES(...) __VA_ARGS__
#define SUKIMA_TYPE(F) decltype(F)
#define SUKIMA_FIELDS(N, NAMES, ...) \
  else if constexpr (n == N) { auto& [NAMES] = object; return type_list<__VA_ARGS__>{}; }
  SUKIMA_FIELDS(1, SUKIMA_NAMES(a),
    SUKIMA_TYPE(a))
  SUKIMA_FIELDS(2, SUKIMA_NAMES(a, b),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b))
  SUKIMA_FIELDS(3, SUKIMA_NAMES(a, b, c),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c))
  SUKIMA_FIELDS(4, SUKIMA_NAMES(a, b, c, d),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d))
  SUKIMA_FIELDS(5, SUKIMA_NAMES(a, b, c, d, e),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e))
  SUKIMA_FIELDS(6, SUKIMA_NAMES(a, b, c, d, e, f),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f))
  SUKIMA_FIELDS(7, SUKIMA_NAMES(a, b, c, d, e, f, g),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g))
  SUKIMA_FIELDS(8, SUKIMA_NAMES(a, b, c, d, e, f, g, h),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h))
  SUKIMA_FIELDS(9, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i))
  SUKIMA_FIELDS(10, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j))
  SUKIMA_FIELDS(11, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k))
  SUKIMA_FIELDS(12, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k, l),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k), SUKIMA_TYPE(l))
  SUKIMA_FIELDS(13, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k, l, m),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k), SUKIMA_TYPE(l),
    SUKIMA_TYPE(m))
  SUKIMA_FIELDS(14, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k, l, m, o),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k), SUKIMA_TYPE(l),
    SUKIMA_TYPE(m), SUKIMA_TYPE(o))
  SUKIMA_FIELDS(15, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k), SUKIMA_TYPE(l),
    SUKIMA_TYPE(m), SUKIMA_TYPE(o), SUKIMA_TYPE(p))
  SUKIMA_FIELDS(16, SUKIMA_NAMES(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q),
    SUKIMA_TYPE(a), SUKIMA_TYPE(b), SUKIMA_TYPE(c), SUKIMA_TYPE(d), SUKIMA_TYPE(e), SUKIMA_TYPE(f),
    SUKIMA_TYPE(g), SUKIMA_TYPE(h), SUKIMA_TYPE(i), SUKIMA_TYPE(j), SUKIMA_TYPE(k), SUKIMA_TYPE(l),
    SUKIMA_TYPE(m), SUKIMA_TYPE(o), SUKIMA_TYPE(p), SUKIMA_TYPE(q))
#undef SUKIMA_FIELDS
#undef SUKIMA_TYPE
#undef SUKIMA_NAMES
}
// clang-format on
template <class T> using field_types = decltype(fields_of(std::declval<T&>()));

}  // namespace sukima::detail

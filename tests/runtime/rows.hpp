// SPDX-License-Identifier: Apache-2.0
// Rows of a table that is stored column by column: its iterator returns proxies, as that of std::views::zip.
// The standard's concepts for iterators accept it, and those of C++17 do not.
#pragma once

#include <compare>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace rows {

template <class Second> struct row {
  int first;
  Second second;
};

template <class Second> struct moved_row {
  int&& first;
  Second&& second;
  operator row<Second>() && { return {first, std::move(second)}; }  // NOLINT(google-explicit-constructor)
};

template <class Second> struct row_reference {
  int& first;
  Second& second;
  row_reference(int& f, Second& s) : first(f), second(s) {}
  row_reference(const row_reference&) = default;
  // The heaps of libstdc++ 12 copy through references instead of calling iter_move.
  operator row<Second>() const { return {first, second}; }  // NOLINT(google-explicit-constructor)
  row_reference& operator=(const row_reference& from) {
    first = from.first;
    second = from.second;
    return *this;
  }
  const row_reference& operator=(const row_reference& from) const {
    first = from.first;
    second = from.second;
    return *this;
  }
  const row_reference& operator=(const row<Second>& from) const {
    first = from.first;
    second = from.second;
    return *this;
  }
  const row_reference& operator=(moved_row<Second>&& from) const {
    first = from.first;
    second = std::move(from.second);
    return *this;
  }
};

template <class Second> struct row_iterator {
  using iterator_concept = std::random_access_iterator_tag;
  using iterator_category = std::input_iterator_tag;
  using value_type = row<Second>;
  using difference_type = std::ptrdiff_t;
  using reference = row_reference<Second>;

  int* first = nullptr;
  Second* second = nullptr;

  reference operator*() const { return {*first, *second}; }
  reference operator[](difference_type n) const { return {first[n], second[n]}; }
  row_iterator& operator+=(difference_type n) {
    first += n;
    second += n;
    return *this;
  }
  row_iterator& operator-=(difference_type n) { return *this += -n; }
  row_iterator& operator++() { return *this += 1; }
  row_iterator& operator--() { return *this += -1; }
  row_iterator operator++(int) { return {first++, second++}; }
  row_iterator operator--(int) { return {first--, second--}; }
  friend row_iterator operator+(row_iterator i, difference_type n) { return i += n; }
  friend row_iterator operator+(difference_type n, row_iterator i) { return i += n; }
  friend row_iterator operator-(row_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const row_iterator& a, const row_iterator& b) { return a.first - b.first; }
  friend auto operator<=>(const row_iterator& a, const row_iterator& b) { return a.first <=> b.first; }
  friend bool operator==(const row_iterator& a, const row_iterator& b) { return a.first == b.first; }
  friend moved_row<Second> iter_move(const row_iterator& i) {
    return {std::move(*i.first), std::move(*i.second)};
  }
  friend void iter_swap(const row_iterator& a, const row_iterator& b) {
    std::swap(*a.first, *b.first);
    std::swap(*a.second, *b.second);
  }
};

/// A row that is compared: of a value or of a reference.
template <class Second> struct seen_row {
  const int& first;
  const Second& second;
  seen_row(const row<Second>& r) : first(r.first), second(r.second) {}  // NOLINT(google-explicit-constructor)
  seen_row(const row_reference<Second>& r)  // NOLINT(google-explicit-constructor)
      : first(r.first), second(r.second) {}
  seen_row(const moved_row<Second>& r)  // NOLINT(google-explicit-constructor)
      : first(r.first), second(r.second) {}
};

}  // namespace rows

template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::row<S>, rows::row_reference<S>, Q, R> {
  using type = rows::seen_row<S>;
};
template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::row_reference<S>, rows::row<S>, Q, R> {
  using type = rows::seen_row<S>;
};
template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::row<S>, rows::moved_row<S>, Q, R> {
  using type = rows::seen_row<S>;
};
template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::moved_row<S>, rows::row<S>, Q, R> {
  using type = rows::seen_row<S>;
};
template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::row_reference<S>, rows::moved_row<S>, Q, R> {
  using type = rows::seen_row<S>;
};
template <class S, template <class> class Q, template <class> class R>
struct std::basic_common_reference<rows::moved_row<S>, rows::row_reference<S>, Q, R> {
  using type = rows::seen_row<S>;
};

// SPDX-License-Identifier: Apache-2.0
// The iterator of a sequence of bits in words. As that of std::vector<bool> from C++23 on, it meets the
// requirements of the standard's concepts for iterators to write to.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace sukima {

struct bit {
  std::uint64_t* word;
  unsigned number;
  operator bool() const { return (*word >> number & 1) != 0; }  // NOLINT(google-explicit-constructor)
  const bit& operator=(bool to) const {
    *word = (*word & ~(std::uint64_t{1} << number)) | std::uint64_t{to} << number;
    return *this;
  }
  bit& operator=(const bit& other) {
    static_cast<const bit&>(*this) = static_cast<bool>(other);
    return *this;
  }
  bit(std::uint64_t* w, unsigned n) : word(w), number(n) {}
  bit(const bit&) = default;
  friend void swap(bit a, bit b) {
    const bool before = a;
    a = static_cast<bool>(b);
    b = before;
  }
};

struct bit_iterator {
  using value_type = bool;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::random_access_iterator_tag;
  using reference = bit;
  std::uint64_t* words = nullptr;
  std::ptrdiff_t at = 0;

  bit operator*() const { return {words + at / 64, static_cast<unsigned>(at % 64)}; }
  bit operator[](std::ptrdiff_t n) const { return *(*this + n); }
  bit_iterator& operator+=(std::ptrdiff_t n) {
    at += n;
    return *this;
  }
  bit_iterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
  bit_iterator& operator++() { return *this += 1; }
  bit_iterator& operator--() { return *this += -1; }
  bit_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  bit_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend bit_iterator operator+(bit_iterator i, std::ptrdiff_t n) { return i += n; }
  friend bit_iterator operator+(std::ptrdiff_t n, bit_iterator i) { return i += n; }
  friend bit_iterator operator-(bit_iterator i, std::ptrdiff_t n) { return i -= n; }
  friend std::ptrdiff_t operator-(const bit_iterator& a, const bit_iterator& b) { return a.at - b.at; }
  friend bool operator==(const bit_iterator& a, const bit_iterator& b) { return a.at == b.at; }
  friend std::strong_ordering operator<=>(const bit_iterator& a, const bit_iterator& b) {
    return a.at <=> b.at;
  }
};
static_assert(std::random_access_iterator<bit_iterator> && std::permutable<bit_iterator> &&
              std::indirectly_writable<bit_iterator, bool> && std::sortable<bit_iterator>);

}  // namespace sukima

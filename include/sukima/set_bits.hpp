// SPDX-License-Identifier: Apache-2.0
// The set bits of a word as a range, lowest first.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace sukima {
/// \addtogroup loops
/// @{

/// A range of the set bits of a word, lowest first. Each element is a word in which only that bit is set;
/// std::countr_zero returns the bit's number. For parallel_for, parallel_reduce and search, and for any other
/// code that takes the lowest bit until none is left:
///
///     sukima::parallel_reduce(c, sukima::set_bits(free), 0L, [=](sukima::context below, std::uint32_t bit) …
///
/// The range holds only the word. An iterator is one word and stays valid without the range.
/// \tparam Word an unsigned integer of at most 64 bits
/// \par Complexity two instructions for each bit
template <class Word> class set_bits : public std::ranges::view_interface<set_bits<Word>> {
  static_assert(std::unsigned_integral<Word> && !std::is_same_v<Word, bool> &&
                    sizeof(Word) <= sizeof(std::uint64_t),
                "sukima::set_bits takes an unsigned integer of at most 64 bits: convert the mask to one");

 public:
  /// Refers to the lowest bit that is left. At the end no bit is left.
  class iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = Word;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Word;
    static constexpr bool few_elements = true;  ///< for loops: a test for many elements does not pay

    constexpr iterator() = default;
    explicit constexpr iterator(Word left) noexcept : left_(left) {}
    constexpr Word operator*() const noexcept { return static_cast<Word>(left_ & (~left_ + 1u)); }
    constexpr iterator& operator++() noexcept {
      left_ = static_cast<Word>(left_ & (left_ - 1u));
      return *this;
    }
    constexpr iterator operator++(int) noexcept {
      const iterator before = *this;
      ++*this;
      return before;
    }
    /// Returns the number of the bit, from 0 for the lowest bit of a word.
    constexpr unsigned number() const noexcept { return static_cast<unsigned>(std::countr_zero(left_)); }
    friend constexpr bool operator==(const iterator&, const iterator&) = default;

   private:
    Word left_ = 0;
  };

  constexpr set_bits() = default;
  /// The set bits of `mask`.
  explicit constexpr set_bits(Word mask) noexcept : mask_(mask) {}
  constexpr iterator begin() const noexcept { return iterator(mask_); }
  constexpr iterator end() const noexcept { return iterator(); }

 private:
  Word mask_ = 0;
};

/// @}
}  // namespace sukima

// A range of this type may end before its iterators, because an iterator holds the bits that are left.
/// \cond
template <class Word> inline constexpr bool std::ranges::enable_borrowed_range<sukima::set_bits<Word>> = true;
/// \endcond

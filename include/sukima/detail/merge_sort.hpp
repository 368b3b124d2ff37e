// SPDX-License-Identifier: Apache-2.0
// The stable sort: merge sort between the range and a buffer of the same length. Halves and merges are
// forked.
#pragma once

#include <sukima/detail/cheap_merge.hpp>
#include <sukima/detail/quicksort.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>

namespace SUKIMA_DETAIL_NAMESPACE {

/// Memory for `count` objects; null if none is available. Destroys the objects that were made in it.
template <class T> class sort_buffer {
 public:
  explicit sort_buffer(std::size_t count) noexcept
      : room_(count > static_cast<std::size_t>(-1) / sizeof(T)
                  ? nullptr
                  : static_cast<T*>(
                        ::operator new(count * sizeof(T), std::align_val_t{alignof(T)}, std::nothrow))) {}
  sort_buffer(const sort_buffer&) = delete;
  sort_buffer& operator=(const sort_buffer&) = delete;
  ~sort_buffer() {
    std::destroy_n(room_, made_);
    ::operator delete(room_, std::align_val_t{alignof(T)});
  }
  explicit operator bool() const noexcept { return room_ != nullptr; }
  T* begin() const noexcept { return room_; }

  /// Moves [first, first + count) into the buffer.
  template <class I> void fill(context c, I first, std::size_t count) {
    const auto move_to = [this, first](std::size_t i) {
      ::new (static_cast<void*>(room_ + i))
          T(std::ranges::iter_move(first + static_cast<std::iter_difference_t<I>>(i)));
    };
    if constexpr (std::is_trivially_copyable_v<T>) {
      sukima::parallel_for(c, std::size_t{0}, count, move_to);
      made_ = count;
    } else {
      // One after the other, so that after an exception or an abort the objects made so far can be destroyed.
      for (; made_ < count; ++made_) move_to(made_);
    }
  }

 private:
  T* room_;
  std::size_t made_ = 0;
};

/// The first element of a sorted range that is not less than `x`. The functions of the standard library with
/// these names would pass `x` as a constant, and walk through a range of proxy references element by element.
template <class I, class X, class Less> I lower_place(I first, I last, X& x, const Less& less) {
  for (auto left = last - first; left > 0;) {
    const auto half = left / 2;
    const I middle = first + half;
    if (less(*middle, x)) {
      first = middle + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return first;
}
/// The first element of a sorted range that is greater than `x`.
template <class I, class X, class Less> I upper_place(I first, I last, X& x, const Less& less) {
  return detail::lower_place(first, last, x, [&](auto&& a, auto&& b) { return !less(b, a); });
}

/// Merges two sorted neighbours without a buffer, stably.
template <class I, class Less> void merge_in_place(I first, I middle, I last, const Less& less) {
  if (first == middle || middle == last || !less(*middle, *(middle - 1))) return;
  if (last - first == 2) {
    std::ranges::iter_swap(first, middle);
    return;
  }
  I left = first;
  I right = middle;
  if (middle - first >= last - middle) {
    left += (middle - first) / 2;
    auto&& x = *left;
    right = detail::lower_place(middle, last, x, less);
  } else {
    right += (last - middle) / 2;
    auto&& x = *right;
    left = detail::upper_place(first, middle, x, less);
  }
  const I joint = left + (right - middle);
  std::ranges::rotate(left, middle, right);
  detail::merge_in_place(first, left, joint, less);
  detail::merge_in_place(joint, right, last, less);
}

/// A stable sort that is used if there is no memory for a buffer.
template <class I, class Less> void sort_in_place(I first, I last, const Less& less) {
  if (last - first <= 16) {
    detail::insertion_sort(first, last, less);
    return;
  }
  const I middle = first + (last - first) / 2;
  detail::sort_in_place(first, middle, less);
  detail::sort_in_place(middle, last, less);
  detail::merge_in_place(first, middle, last, less);
}

template <class I, class Less> class merge_sort {
  using distance = std::iter_difference_t<I>;
  using value = std::iter_value_t<I>;
  static constexpr distance small = 32;
  static constexpr distance shared = 1 << 13;  ///< a merge of more elements is forked

 public:
  merge_sort(I range, value* buffer, const Less& less) : range_(range), buffer_(buffer), less_(less) {}

  /// Sorts the elements in the buffer's [from, to) into the range.
  void to_range(context c, distance from, distance to) const {
    if (to - from <= small) {
      if constexpr (cheap_to_copy<value>) {
        small_sort<value>()(buffer_ + from, to - from, range_ + from, less_);
      } else {
        std::ranges::move(buffer_ + from, buffer_ + to, range_ + from);
        detail::insertion_sort(range_ + from, range_ + to, less_);
      }
      return;
    }
    const distance middle = from + (to - from) / 2;
    sukima::fork2(
        c, [=, this](context below) { to_buffer(below, from, middle); },
        [=, this](context below) { to_buffer(below, middle, to); });
    merge(c, buffer_ + from, buffer_ + middle, buffer_ + middle, buffer_ + to, range_ + from);
  }

 private:
  /// Sorts the elements in the buffer's [from, to) in place.
  void to_buffer(context c, distance from, distance to) const {
    if (to - from <= small) {
      if constexpr (cheap_to_copy<value>)
        small_sort<value>()(buffer_ + from, to - from, buffer_ + from, less_);
      else
        detail::insertion_sort(buffer_ + from, buffer_ + to, less_);
      return;
    }
    const distance middle = from + (to - from) / 2;
    sukima::fork2(
        c, [=, this](context below) { to_range(below, from, middle); },
        [=, this](context below) { to_range(below, middle, to); });
    merge(c, range_ + from, range_ + middle, range_ + middle, range_ + to, buffer_ + from);
  }

  template <class From, class To> void merge(context c, From a, From a_end, From b, From b_end, To to) const {
    while ((a_end - a) + (b_end - b) > shared) {
      From a_cut = a;
      From b_cut = b;
      if (a_end - a >= b_end - b) {
        a_cut += (a_end - a) / 2;
        auto&& x = *a_cut;
        b_cut = detail::lower_place(b, b_end, x, less_);  // equal elements of b stay behind those of a
      } else {
        b_cut += (b_end - b) / 2;
        auto&& x = *b_cut;
        a_cut = detail::upper_place(a, a_end, x, less_);
      }
      const To to_cut = to + ((a_cut - a) + (b_cut - b));
      sukima::fork2(
          c, [=, this](context below) { merge(below, a, a_cut, b, b_cut, to); },
          [=, this](context below) { merge(below, a_cut, a_end, b_cut, b_end, to_cut); });
      return;
    }
    merge_here(a, a_end, b, b_end, to);
  }

  template <class From, class To> void merge_here(From a, From a_end, From b, From b_end, To to) const {
    if (a != a_end && b != b_end && less_(*b, *(a_end - 1))) {
      if constexpr (cheap_to_copy<value>) {
        detail::merge_cheaply(a, a_end, b, b_end, to, less_);
        return;
      } else {
        while (a != a_end && b != b_end) {
          if (less_(*b, *a)) {
            *to = std::ranges::iter_move(b);
            ++b;
          } else {
            *to = std::ranges::iter_move(a);
            ++a;
          }
          ++to;
        }
      }
    }
    std::ranges::move(b, b_end, std::ranges::move(a, a_end, to).out);
  }

  I range_;
  value* buffer_;
  const Less& less_;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

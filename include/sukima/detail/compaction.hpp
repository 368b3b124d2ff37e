// SPDX-License-Identifier: Apache-2.0
// Gathers the elements that a predicate accepts: copies them into another range, or moves them together in
// place.
#pragma once

#include <sukima/detail/cheap_merge.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace SUKIMA_DETAIL_NAMESPACE {

/// The function accepts(element), made of a predicate and a projection.
template <class Predicate, class Projection> struct projected_predicate {
  Predicate& predicate;
  Projection& projection;
  template <class X> [[gnu::always_inline]] bool operator()(X&& x) const {
    return static_cast<bool>(std::invoke(predicate, std::invoke(projection, std::forward<X>(x))));
  }
};

/// Copies the accepted elements of a range in two passes. The first one calls the predicate once for each
/// element and stores the answers as bits. The second one, which knows each block's place in the
/// result, copies.
template <class I, class Accepts> class selection {
  using distance = std::iter_difference_t<I>;

 public:
  /// Number of elements of a block. A range that is not longer is not worth two passes.
  static constexpr std::int64_t block = 2048;

  /// Calls the predicate once for each element.
  selection(context c, I first, std::int64_t count, const Accepts& accepts)
      : first_(first),
        count_(count),
        answers_(std::make_unique_for_overwrite<std::uint64_t[]>(
            static_cast<std::size_t>((count + word - 1) / word))),
        places_(static_cast<std::size_t>((count + block - 1) / block)) {
    sukima::parallel_for(c, std::size_t{0}, places_.size(), [&, this](std::size_t b) {
      places_[b] = answer(static_cast<std::int64_t>(b), accepts);
    });
    for (std::int64_t& place : places_) place = std::exchange(size_, size_ + place);
  }

  /// Number of accepted elements.
  std::int64_t size() const noexcept { return size_; }

  /// Calls copy(place in the result, place in the range) for each accepted element, several at a time.
  template <class Copy> void copy_each(context c, const Copy& copy) const {
    sukima::parallel_for(c, std::size_t{0}, places_.size(), [&, this](std::size_t b) {
      auto to = static_cast<std::size_t>(places_[b]);
      visit_block(static_cast<std::int64_t>(b), [&](I from) { copy(to++, from); });
    });
  }
  /// Calls visit(place in the range) for each accepted element, in their order.
  template <class Visit> void visit_each(const Visit& visit) const {
    for (std::size_t b = 0; b < places_.size(); ++b) visit_block(static_cast<std::int64_t>(b), visit);
  }

 private:
  static constexpr std::int64_t word = 64;
  static_assert(block % word == 0, "no two blocks share a word of answers");

  I at(std::int64_t i) const { return first_ + static_cast<distance>(i); }
  std::int64_t end_of(std::int64_t b) const noexcept { return std::min((b + 1) * block, count_); }

  /// \returns the number of accepted elements of a block
  std::int64_t answer(std::int64_t b, const Accepts& accepts) const {
    std::int64_t accepted = 0;
    const std::int64_t end = end_of(b);
    for (std::int64_t i = b * block; i < end; i += word) {
      const std::int64_t bits = std::min(word, end - i);
      std::uint64_t answers = 0;
      I x = at(i);
      for (std::int64_t k = 0; k < bits; ++k, ++x) {
        const bool yes = accepts(*x);
        answers |= std::uint64_t{yes} << k;
        accepted += yes;
      }
      answers_[static_cast<std::size_t>(i / word)] = answers;
    }
    return accepted;
  }

  template <class Visit> void visit_block(std::int64_t b, const Visit& visit) const {
    const std::int64_t end = end_of(b);
    for (std::int64_t i = b * block; i < end; i += word)
      for (std::uint64_t left = answers_[static_cast<std::size_t>(i / word)]; left != 0; left &= left - 1)
        visit(at(i + std::countr_zero(left)));
  }

  I first_;
  std::int64_t count_;
  std::int64_t size_ = 0;
  std::unique_ptr<std::uint64_t[]> answers_;
  std::vector<std::int64_t> places_;  ///< of each block's first accepted element in the result
};

/// The element at a place, to be copied or moved. \tparam Moves  whether it is moved
template <bool Moves, class I> [[gnu::always_inline]] inline decltype(auto) element_at(I place) {
  if constexpr (Moves)
    return std::ranges::iter_move(place);
  else
    return *place;
}

/// Returns the accepted elements as a vector.
template <bool Moves, class I, class Accepts>
auto filtered(context c, I first, std::int64_t count, const Accepts& accepts) {
  using value = std::iter_value_t<I>;
  using selection_type = selection<I, Accepts>;
  std::vector<value> result;
  if (count <= selection_type::block) {
    for (; count > 0; --count, ++first)
      if (accepts(*first)) result.push_back(detail::element_at<Moves>(first));
    return result;
  }
  const selection_type selected(c, first, count, accepts);
  const auto size = static_cast<std::size_t>(selected.size());
  // Two elements of a std::vector<bool> may share a word, so threads must not write them at the same time.
  if constexpr (std::is_default_constructible_v<value> && !std::is_same_v<value, bool> &&
                std::is_assignable_v<value&, decltype(detail::element_at<Moves>(first))>) {
    result.resize(size);
    selected.copy_each(c, [&](std::size_t to, I from) { result[to] = detail::element_at<Moves>(from); });
  } else {
    result.reserve(size);
    selected.visit_each([&](I from) { result.push_back(detail::element_at<Moves>(from)); });
  }
  return result;
}

/// Copies the accepted elements to `out`. \returns the end of the copies
template <class I, class Out, class Accepts>
Out filter_to(context c, I first, std::int64_t count, Out out, const Accepts& accepts) {
  using selection_type = selection<I, Accepts>;
  if (count <= selection_type::block) {
    for (; count > 0; --count, ++first) {
      if (!accepts(*first)) continue;
      *out = *first;
      ++out;
    }
    return out;
  }
  const selection_type selected(c, first, count, accepts);
  selected.copy_each(
      c, [&](std::size_t to, I from) { out[static_cast<std::iter_difference_t<Out>>(to)] = *from; });
  return out + static_cast<std::iter_difference_t<Out>>(selected.size());
}

/// A part of a block.
template <class I> struct stretch {
  I begin{};
  I end{};
};

/// Moves the elements that are kept to the front, in their order. First each block is compacted, several
/// blocks at a time. Then each block's elements are moved behind those of the blocks before, one block after
/// the other.
/// \param compact_block  compact_block(number, begin, end) moves a block's kept elements together and returns
/// their stretch
/// \returns the end of the kept elements
template <class I, class CompactBlock>
I compact(context c, I first, I last, std::int64_t block, const CompactBlock& compact_block) {
  using distance = std::iter_difference_t<I>;
  const auto count = static_cast<std::int64_t>(last - first);
  if (count <= block) return first == last ? last : compact_block(0, first, last).end;
  std::vector<stretch<I>> kept(static_cast<std::size_t>((count + block - 1) / block));
  sukima::parallel_for(c, std::size_t{0}, kept.size(), [&](std::size_t b) {
    const std::int64_t from = static_cast<std::int64_t>(b) * block;
    kept[b] = compact_block(b, first + static_cast<distance>(from),
                            first + static_cast<distance>(std::min(from + block, count)));
  });
  I end = first;
  for (const stretch<I>& s : kept) end = end == s.begin ? s.end : std::ranges::move(s.begin, s.end, end).out;
  return end;
}

/// Number of elements of a block that is compacted separately.
inline constexpr std::int64_t compacted_block = 4096;

/// Like std::remove_if: keeps the elements that are not accepted.
template <class I, class Accepts> I remove_at(context c, I first, I last, const Accepts& accepts) {
  return detail::compact(c, first, last, compacted_block, [&](std::size_t, I begin, I end) -> stretch<I> {
    I to = begin;
    if constexpr (cheap_to_copy<std::iter_value_t<I>>) {
      for (I i = begin; i != end; ++i) {
        const bool stays = !accepts(*i);
        *to = *i;
        to += stays;
      }
    } else {
      for (I i = begin; i != end; ++i) {
        if (accepts(*i)) continue;
        if (to != i) *to = std::ranges::iter_move(i);
        ++to;
      }
    }
    return {begin, to};
  });
}

/// Like std::unique: keeps the first of neighbouring elements that are equal.
template <class I, class Equal> I unique_at(context c, I first, I last, const Equal& equal) {
  // Before any element is moved, finds the blocks whose first element equals the element before.
  const auto blocks = static_cast<std::size_t>((last - first + compacted_block - 1) / compacted_block);
  std::vector<unsigned char> repeats(blocks);
  for (std::size_t b = 1; b < blocks; ++b) {
    const I begin = first + static_cast<std::iter_difference_t<I>>(b) * compacted_block;
    repeats[b] = equal(*(begin - 1), *begin) ? 1 : 0;
  }
  return detail::compact(c, first, last, compacted_block, [&](std::size_t b, I begin, I end) -> stretch<I> {
    if (repeats[b] != 0) {
      const I repeated = begin;
      do {
        ++begin;
      } while (begin != end && equal(*repeated, *begin));
      if (begin == end) return {end, end};
    }
    I newest = begin;  // the last element that is kept so far
    for (I i = begin + 1; i != end; ++i) {
      if (equal(*newest, *i)) continue;
      ++newest;
      if (newest != i) *newest = std::ranges::iter_move(i);
    }
    return {begin, newest + 1};
  });
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

// SPDX-License-Identifier: Apache-2.0
// Partitioning by blocks: without branches that depend on the elements, and by several workers at once.
//
// First the offsets of a block's misplaced elements are listed, without branches that could be mispredicted.
// Then these elements are swapped with those of a block from the other end (after Edelkamp and Weiss,
// "BlockQuicksort", 2016). A pair of blocks does not depend on other blocks, so workers take pairs from both
// ends of a large range at the same time. The blocks that they leave unfinished are moved to the middle and
// partitioned there.
#pragma once

#include <sukima/fork.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace SUKIMA_DETAIL_NAMESPACE {

/// The offsets of one block's misplaced elements. A range of them is pending.
template <class Offset, std::size_t Size> struct misplaced {
  std::array<Offset, Size> offset;
  std::size_t begin = 0;
  std::size_t count = 0;

  /// Lists those of the first `size` elements from `block` on for which `wrong` holds.
  template <class I, class Wrong> void list(I block, std::size_t size, const Wrong& wrong) {
    begin = 0;
    std::size_t found = 0;
    for (std::size_t i = 0; i < size; ++i, ++block) {
      offset[found] = static_cast<Offset>(i);
      found += wrong(*block) ? 1U : 0U;
    }
    count = found;
  }
};

/// Swaps misplaced elements of a left block and a right block until one of the blocks has none left.
template <class I, class Left, class Right>
void swap_misplaced(I left_block, Left& left, I right_block, Right& right) {
  using distance = std::iter_difference_t<I>;
  using value = std::iter_value_t<I>;
  const std::size_t pairs = std::min(left.count, right.count);
  const auto left_place = [&](std::size_t i) {
    return left_block + static_cast<distance>(left.offset[left.begin + i]);
  };
  const auto right_place = [&](std::size_t i) {
    return right_block + static_cast<distance>(right.offset[right.begin + i]);
  };
  if constexpr (std::is_nothrow_move_constructible_v<value> && std::is_nothrow_move_assignable_v<value>) {
    // As one cycle, which needs a move for each element. A swap needs three moves for two elements.
    if (pairs > 0) {
      I hole = left_place(0);
      value first(std::ranges::iter_move(hole));
      for (std::size_t i = 0;;) {
        const I right_one = right_place(i);
        *hole = std::ranges::iter_move(right_one);
        if (++i == pairs) {
          *right_one = std::move(first);
          break;
        }
        hole = left_place(i);
        *right_one = std::ranges::iter_move(hole);
      }
    }
  } else {
    for (std::size_t i = 0; i < pairs; ++i) std::ranges::iter_swap(left_place(i), right_place(i));
  }
  left.begin += pairs;
  left.count -= pairs;
  right.begin += pairs;
  right.count -= pairs;
}

/// Moves the elements for which goes_left holds before the others. No element is lost if goes_left throws.
/// \returns the first one for which it does not hold
template <class I, class GoesLeft> I partition_here(I first, I last, const GoesLeft& goes_left) {
  using distance = std::iter_difference_t<I>;
  constexpr std::size_t block = 128;
  misplaced<std::uint8_t, block> left;
  misplaced<std::uint8_t, block> right;
  const auto stays_right = [&](auto&& x) { return !goes_left(x); };
  // [first, left_block) is done, as are all elements behind the right block. A block is pending if its
  // `count` is not 0.
  I left_block = first;
  I left_end = first;
  I right_block = last;
  while (left_end != right_block) {
    const auto unknown = static_cast<std::size_t>(right_block - left_end);
    if (left.count == 0) {
      left_block = left_end;
      const std::size_t size = std::min(block, right.count == 0 ? (unknown + 1) / 2 : unknown);
      left.list(left_block, size, stays_right);
      left_end += static_cast<distance>(size);
    }
    if (right.count == 0) {
      const std::size_t size = std::min(block, static_cast<std::size_t>(right_block - left_end));
      right_block -= static_cast<distance>(size);
      right.list(right_block, size, goes_left);
    }
    detail::swap_misplaced(left_block, left, right_block, right);
  }
  // At most one block is pending. Its misplaced elements go to its inner end, the last one first.
  if (left.count != 0) {
    for (std::size_t i = left.begin + left.count; i-- > left.begin;)
      std::ranges::iter_swap(left_block + static_cast<distance>(left.offset[i]), --left_end);
    return left_end;
  }
  for (std::size_t i = right.begin; i < right.begin + right.count; ++i)
    std::ranges::iter_swap(right_block + static_cast<distance>(right.offset[i]), left_end++);
  return left_end;
}

/// The partition of a large range by all workers that are free.
template <class I, class GoesLeft> class shared_partition {
  using distance = std::iter_difference_t<I>;

 public:
  static constexpr std::int64_t block = 1024;
  static constexpr std::int64_t most_helpers = 32;

  shared_partition(I first, I last, const GoesLeft& goes_left)
      : first_(first), count_(last - first), goes_left_(goes_left) {}

  /// Like partition_here.
  I run(context c) {
    const std::int64_t helpers = std::clamp<std::int64_t>(count_ / (64 * block), 1, most_helpers);
    // A helper that begins after all blocks are taken has nothing to do. With one worker, the first does all.
    sukima::parallel_for(c, std::int64_t{0}, helpers,
                         [this](context below, std::int64_t i) { help(below, i); });
    const ends taken = taken_.load(std::memory_order_relaxed);
    const std::int64_t left =
        gather<&rest::left>(taken.left, [this](std::int64_t i) { return left_block(i); });
    const std::int64_t right =
        gather<&rest::right>(taken.right, [this](std::int64_t i) { return right_block(i); });
    return detail::partition_here(left_block(left), right_block(right - 1), goes_left_);
  }

 private:
  /// How many blocks were taken from each end.
  struct ends {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };
  /// The blocks that a helper has left unfinished; −1: none.
  struct alignas(64) rest {
    std::int64_t left = -1;
    std::int64_t right = -1;
  };

  I left_block(std::int64_t i) const { return first_ + static_cast<distance>(i * block); }
  I right_block(std::int64_t i) const { return first_ + static_cast<distance>(count_ - (i + 1) * block); }

  /// The number of a free block from one end; −1: all are taken.
  template <std::uint32_t ends::* End> std::int64_t take() {
    ends seen = taken_.load(std::memory_order_relaxed);
    for (;;) {
      if (static_cast<std::int64_t>(seen.left) + seen.right >= count_ / block) return -1;
      ends wanted = seen;
      ++(wanted.*End);
      if (taken_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed)) return seen.*End;
    }
  }

  void help(context c, std::int64_t helper) {
    misplaced<std::uint16_t, block> left;
    misplaced<std::uint16_t, block> right;
    rest& mine = rests_[static_cast<std::size_t>(helper)];
    for (;;) {
      sukima::fork2(c, [] {}, [] {});  // a poll: thieves take other iterations of the loop in run()
      if (left.count == 0) {
        if ((mine.left = take<&ends::left>()) < 0) return;
        left.list(left_block(mine.left), block, [&](auto&& x) { return !goes_left_(x); });
      }
      if (right.count == 0) {
        if ((mine.right = take<&ends::right>()) < 0) return;
        right.list(right_block(mine.right), block, goes_left_);
      }
      detail::swap_misplaced(left_block(mine.left), left, right_block(mine.right), right);
      if (left.count == 0) mine.left = -1;
      if (right.count == 0) mine.right = -1;
    }
  }

  /// Moves the unfinished blocks of one side to its inner end. \returns how many blocks of that side are done
  template <std::int64_t rest::* Side, class Block>
  std::int64_t gather(std::int64_t taken, const Block& block_of) {
    std::array<std::int64_t, most_helpers> open;
    auto end = open.begin();
    for (const rest& r : rests_)
      if (r.*Side >= 0) *end++ = r.*Side;
    std::sort(open.begin(), end, std::greater<>{});
    for (auto i = open.begin(); i != end; ++i)
      if (*i != --taken) {
        constexpr auto size = static_cast<distance>(block);
        const I from = block_of(*i);
        const I to = block_of(taken);
        std::ranges::swap_ranges(from, from + size, to, to + size);
      }
    return taken;
  }

  I first_;
  std::int64_t count_;
  const GoesLeft& goes_left_;
  /// Relaxed: its CAS orders no other data. The joins order the blocks' elements.
  /// no partner: only the word itself counts
  alignas(64) std::atomic<ends> taken_{};
  std::array<rest, most_helpers> rests_;
};

/// The partition of a range, by several workers if it is large.
template <class I, class GoesLeft> I divide(context c, I first, I last, const GoesLeft& goes_left) {
  constexpr std::iter_difference_t<I> shared = 1 << 17;
  if (last - first < shared) return detail::partition_here(first, last, goes_left);
  return shared_partition<I, GoesLeft>(first, last, goes_left).run(c);
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

// SPDX-License-Identifier: Apache-2.0
// The two scans of libstdc++'s parallel algorithms (sukima/pstl/backend.hpp), over tiles.
#pragma once

#include <sukima/fork.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace sukima::detail::pstl {

/// The position `distance` after `first`, for iterators and for integers.
template <class Index> Index at(Index first, std::ptrdiff_t distance) {
  if constexpr (std::is_integral_v<Index>)
    return static_cast<Index>(first + static_cast<Index>(distance));
  else
    return first + static_cast<typename std::iterator_traits<Index>::difference_type>(distance);
}

/// Divides [0, n) into at most 128 tiles of equal length; the last one may be shorter.
template <class Index> class tiles {
 public:
  explicit tiles(Index n) : n_(n), length_((n - 1) / static_cast<Index>(most) + 1) {
    length_ = std::max(length_, static_cast<Index>(shortest));
  }
  std::size_t count() const { return static_cast<std::size_t>((n_ - 1) / length_ + 1); }
  Index begin(std::size_t tile) const { return static_cast<Index>(tile) * length_; }
  Index end(std::size_t tile) const { return std::min(n_, begin(tile + 1)); }

 private:
  static constexpr int most = 128;
  static constexpr int shortest =
      8;  ///< shorter ones gain nothing: a tile costs about as much as eight additions
  Index n_;
  Index length_;
};

/// See __parallel_strict_scan. T is trivial.
/// \par Complexity reduce and scan each process n elements; at most 128 calls of combine
template <class Index, class T, class Reduce, class Combine, class Scan, class Apex>
void strict_scan(context c, Index n, T initial, Reduce& reduce, Combine& combine, Scan& scan, Apex& apex) {
  if (n == 0) {
    apex(initial);
    return;
  }
  const tiles<Index> all(n);
  std::vector<T> before(all.count() + 1, initial);  // first the sum of each tile, then the sum before it
  sukima::parallel_for(c, std::size_t{0}, all.count(), [&](std::size_t tile) {
    before[tile + 1] = reduce(all.begin(tile), all.end(tile) - all.begin(tile));
  });
  for (std::size_t tile = 0; tile < all.count(); ++tile)
    before[tile + 1] = combine(before[tile], before[tile + 1]);
  apex(before.back());
  sukima::parallel_for(c, std::size_t{0}, all.count(), [&](std::size_t tile) {
    scan(all.begin(tile), all.end(tile) - all.begin(tile), before[tile]);
  });
}

/// A scan that reads only those elements twice that another worker takes, as sukima::parallel_scan does. If
/// the left half has not ended yet, the right half is first added up, and is scanned when the sum before it
/// is known.
template <class Index, class U, class T, class Combine, class Block, class Scan> class lazy_scan {
 public:
  lazy_scan(Index n, U& u, Combine& combine, Block& block, Scan& scan)
      : tiles_(n), u_(u), combine_(combine), block_(block), scan_(scan), sums_(tiles_.count()) {}

  T all(context c, T init) { return scan_from(c, 0, tiles_.count(), std::move(init)); }

 private:
  /// Scans the tiles [first, last). \param before  the sum before them \returns the sum at their end
  T scan_from(context c, std::size_t first, std::size_t last, T before) {
    if (last - first == 1) return scan_(tiles_.begin(first), tiles_.end(first), std::move(before));
    const std::size_t middle = first + (last - first) / 2;
    std::optional<T> left;
    std::optional<T> right;
    std::atomic<bool> left_ended = false;  // pairs with: scan_from
    sukima::fork2(
        c,
        [&](context below) {
          left.emplace(scan_from(below, first, middle, std::move(before)));
          left_ended.store(true, std::memory_order_release);  // pairs with: scan_from
        },
        [&](context below) {
          // `left` is written before the flag. pairs with: scan_from
          if (left_ended.load(std::memory_order_acquire))
            right.emplace(scan_from(below, middle, last, *left));
          else
            add_up(below, middle, last);
        });
    if (right) return std::move(*right);
    return scan_known(c, middle, last, std::move(*left));
  }

  void add_up(context c, std::size_t first, std::size_t last) {
    sukima::parallel_for(c, first, last, [&](std::size_t tile) {
      const Index begin = tiles_.begin(tile);
      sums_[tile].emplace(block_(begin + 1, tiles_.end(tile), T(u_(begin))));
    });
  }

  /// Scans tiles whose sums are known. \returns the sum at their end
  T scan_known(context c, std::size_t first, std::size_t last, T before) {
    for (std::size_t tile = first; tile < last; ++tile) {
      T after = combine_(before, std::move(*sums_[tile]));
      sums_[tile].emplace(std::move(before));
      before = std::move(after);
    }
    sukima::parallel_for(c, first, last, [&](std::size_t tile) {
      scan_(tiles_.begin(tile), tiles_.end(tile), std::move(*sums_[tile]));
    });
    return before;
  }

  tiles<Index> tiles_;
  U& u_;
  Combine& combine_;
  Block& block_;
  Scan& scan_;
  /// The sum of each tile that was added up; during scan_known the sum before it.
  std::vector<std::optional<T>> sums_;
};

/// See __parallel_transform_scan.
/// \par Complexity at most 2n applications of the operation, n on one worker
template <class Index, class U, class T, class Combine, class Block, class Scan>
T transform_scan(context c, Index n, U& u, T init, Combine& combine, Block& block, Scan& scan) {
  if (n == 0) return init;
  return lazy_scan<Index, U, T, Combine, Block, Scan>(n, u, combine, block, scan).all(c, std::move(init));
}

}  // namespace sukima::detail::pstl

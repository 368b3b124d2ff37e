// SPDX-License-Identifier: Apache-2.0
// Reductions whose grouping depends only on the numbers of the iterations, never on steals.
//
// Under hierarchical omission each node runs the same reduction, split at different places. Floating-point
// sums must have the same bits on all nodes. So the values are combined along a fixed tree: the binary trie
// of the iterations' numbers. A node of the trie combines its lower half with its upper half.
//
// A piece of the loop knows the values of some consecutive iterations. It combines those whose place in the
// trie no neighbour can change, and keeps the others apart: at most two for each bit of a number.
#pragma once

#include <sukima/detail/atomics.hpp>
#include <sukima/exactly_associative.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sukima::detail {

/// Whether this process combines in the fixed order. Set once, by a node under hierarchical omission.
/// no partner: no other data depends on it
extern atomic<bool> combines_in_fixed_order;

/// Relaxed: a loop that begins before the first entry of a node combines in either order.
inline bool uses_fixed_order() noexcept { return combines_in_fixed_order.load(std::memory_order_relaxed); }

/// The value of one iteration; empty if it was skipped.
template <class T> struct numbered {
  std::uint64_t number;
  std::optional<T> value;
};

/// The values of some consecutive iterations, combined as far as their neighbours do not matter.
///
/// The cut between two neighbours is the highest bit in which their numbers differ. The trie combines the
/// lowest cuts first. A cut that is lower than both cuts beside it is combined at once. The cuts that remain
/// rise and then fall, so there are at most two of each height.
template <class T> class ordered_values {
 public:
  struct part {
    std::uint64_t number;  ///< of one of its iterations
    T value;
  };

  ordered_values() = default;
  ordered_values(const ordered_values&) = default;
  ordered_values(ordered_values&&) noexcept = default;
  ordered_values& operator=(const ordered_values&) = default;
  ordered_values& operator=(ordered_values&&) noexcept = default;
  /// Not inlined: in the destructor of an empty optional, g++ 12 would warn about a vector that does not
  /// exist.
  [[gnu::noinline]] ~ordered_values() {}  // NOLINT(modernize-use-equals-default)

  bool empty() const noexcept { return parts_.empty(); }
  const std::vector<part>& parts() const noexcept { return parts_; }

  /// Adds a part that another object's parts() returned.
  void put(std::uint64_t number, T value) { parts_.push_back({number, std::move(value)}); }
  /// Adds a value that follows those so far. \param number  higher than all before
  /// \par Complexity amortised constant, and a call of combine for each value but one in all
  template <class Combine> void add(std::uint64_t number, T value, Combine& combine) {
    while (parts_.size() >= 3) {
      part& right = parts_.back();
      part& left = parts_[parts_.size() - 2];
      const std::uint64_t cut = left.number ^ right.number;
      const bool is_lowest =
          cut < (parts_[parts_.size() - 3].number ^ left.number) && cut < (right.number ^ number);
      if (!is_lowest) break;
      left.value = combine(std::move(left.value), std::move(right.value));
      parts_.pop_back();
    }
    parts_.push_back({number, std::move(value)});
  }
  /// Adds the values of a piece that follows. Linear in the number of its parts.
  template <class Combine> void add(ordered_values&& right, Combine& combine) {
    if (parts_.empty()) {
      parts_ = std::move(right.parts_);
      return;
    }
    for (part& p : right.parts_) add(p.number, std::move(p.value), combine);
  }
  /// Combines all values; none may be added afterwards. \pre not empty
  template <class Combine> T total(Combine& combine) && {
    std::size_t left = 0;
    std::size_t right = parts_.size() - 1;
    while (right - left > 1) {  // the lowest cut is at one of the ends
      part& first = parts_[left];
      part& last = parts_[right];
      part& second = parts_[left + 1];
      part& second_last = parts_[right - 1];
      if ((first.number ^ second.number) < (second_last.number ^ last.number)) {
        second.value = combine(std::move(first.value), std::move(second.value));
        ++left;
      } else {
        second_last.value = combine(std::move(second_last.value), std::move(last.value));
        --right;
      }
    }
    if (left == right) return std::move(parts_[left].value);
    return combine(std::move(parts_[left].value), std::move(parts_[right].value));
  }

 private:
  std::vector<part> parts_;
};

/// Ordered values fix their grouping themselves.
template <class T> inline constexpr bool holds_no_float<ordered_values<T>> = true;

}  // namespace sukima::detail

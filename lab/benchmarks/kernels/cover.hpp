// SPDX-License-Identifier: Apache-2.0
// Exact cover by dancing links, in the layout of Algorithm X in D. E. Knuth's The Art of Computer
// Programming, 7.2.2.1: choose options so that every item is in exactly one of them. Also contains Langford's
// problem as such a cover.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace kernels {

/// The state of a search for exact covers: the items that are not covered yet, and the options that are still
/// possible. `begin` chooses the first item to branch on; each `choose` goes one level deeper.
class exact_cover {
 public:
  using place = std::int16_t;  ///< index of a node, or the number of an item (from 1)

  /// The most options that an item can have, and the most options in a cover.
  static constexpr std::size_t most_options = 64, most_depth = 32;

  /// Makes a cover of that many items, without options.
  explicit exact_cover(int items) : headers_(static_cast<std::size_t>(items) + 1), nodes_(headers_.size()) {
    const auto last = static_cast<place>(items);
    for (place i = 0;; ++i) {
      headers_[at(i)] = {i == 0 ? last : static_cast<place>(i - 1),
                         i == last ? place{0} : static_cast<place>(i + 1), 0};
      nodes_[at(i)] = {i, i, i};
      if (i == last) break;
    }
    nodes_.push_back({0, 0, 0});  // a spacer before the first option
  }

  /// Adds an option with these different items. Must not be called after `begin`.
  void add_option(std::initializer_list<int> items) {
    const auto first = static_cast<place>(nodes_.size());
    for (const int item : items) {
      const auto top = static_cast<place>(item);
      const auto here = static_cast<place>(nodes_.size());
      const place last = nodes_[at(top)].up;
      nodes_.push_back({last, top, top});
      nodes_[at(last)].down = here;
      nodes_[at(top)].up = here;
      ++headers_[at(top)].size;
    }
    nodes_[at(first) - 1].down =
        static_cast<place>(nodes_.size() - 1);  // a spacer knows the option's last node …
    nodes_.push_back({first, 0, 0});  // … and the next one its first
  }

  /// Chooses the item to branch on first. Returns false if some item has no option.
  bool begin() { return branch(); }

  /// Whether all items are covered.
  [[nodiscard]] bool complete() const { return item() == 0; }

  /// Iterates over the possible options of the item to branch on, as nodes in its list: first_option, then
  /// next_option until that returns 0.
  [[nodiscard]] place first_option() const { return next_option(item()); }
  [[nodiscard]] place next_option(place option) const {
    const place next = nodes_[at(option)].down;
    return next == item() ? place{0} : next;
  }

  /// Takes that option of the item to branch on, and chooses the next item: one with the fewest options. If
  /// that leaves an item without an option, it returns false and changes nothing.
  bool choose(place option) {
    for (place p = after(option); p != option; p = after(p)) cover(nodes_[at(p)].item);
    if (branch()) return true;
    uncover_others(option);
    return false;
  }

  /// Undoes the last successful `choose`, which was of that option.
  void take_back(place option) {
    if (const place last = item()) uncover(last);
    --depth_;
    uncover_others(option);
  }

 private:
  struct header {
    place left, right;  // among the items that are not covered; header 0 is the list's head
    place size;  // possible options
  };
  struct node {
    place up, down;  // among the possible options of the item
    place
        item;  // 0: a spacer, whose `up` is the first node of the option before it, `down` the last after it
  };

  static std::size_t at(place p) { return static_cast<std::size_t>(p); }

  [[nodiscard]] place item() const { return branched_[depth_ - 1]; }

  // The next node within its option, cyclically.
  [[nodiscard]] place after(place p) const {
    const auto q = static_cast<place>(p + 1);
    return nodes_[at(q)].item == 0 ? nodes_[at(q)].up : q;
  }
  [[nodiscard]] place before(place p) const {
    const auto q = static_cast<place>(p - 1);
    return nodes_[at(q)].item == 0 ? nodes_[at(q)].down : q;
  }

  bool branch() {
    place best = 0, fewest = most_options + 1;
    for (place i = headers_[0].right; i != 0; i = headers_[at(i)].right) {
      if (headers_[at(i)].size >= fewest) continue;
      best = i, fewest = headers_[at(i)].size;
      if (fewest == 0) return false;
    }
    branched_[depth_++] = best;
    if (best != 0) cover(best);
    return true;
  }

  void uncover_others(place option) {
    for (place p = before(option); p != option; p = before(p)) uncover(nodes_[at(p)].item);
  }

  void cover(place covered) {
    const header h = headers_[at(covered)];
    headers_[at(h.left)].right = h.right;
    headers_[at(h.right)].left = h.left;
    for (place row = nodes_[at(covered)].down; row != covered; row = nodes_[at(row)].down)
      for (place p = after(row); p != row; p = after(p)) {
        const node n = nodes_[at(p)];
        nodes_[at(n.up)].down = n.down;
        nodes_[at(n.down)].up = n.up;
        --headers_[at(n.item)].size;
      }
  }

  // The reverse of cover, in reverse order.
  void uncover(place covered) {
    for (place row = nodes_[at(covered)].up; row != covered; row = nodes_[at(row)].up)
      for (place p = before(row); p != row; p = before(p)) {
        const node n = nodes_[at(p)];
        nodes_[at(n.up)].down = p;
        nodes_[at(n.down)].up = p;
        ++headers_[at(n.item)].size;
      }
    const header h = headers_[at(covered)];
    headers_[at(h.left)].right = covered;
    headers_[at(h.right)].left = covered;
  }

  std::vector<header> headers_;
  std::vector<node> nodes_;
  std::array<place, most_depth> branched_{};  // the items branched on; 0 if nothing was left
  std::size_t depth_ = 0;
};

/// The possible options of the item to branch on as an array, which parallel programs need.
class possible_options {
 public:
  explicit possible_options(const exact_cover& state) {
    for (auto p = state.first_option(); p != 0; p = state.next_option(p)) option_[count_++] = p;
  }
  [[nodiscard]] std::span<const exact_cover::place> all() const { return {option_, count_}; }

 private:
  exact_cover::place option_[exact_cover::most_options];
  std::size_t count_ = 0;
};

/// The largest size of Langford's problem for which the types above have room.
inline constexpr int most_langford = 20;

/// Langford's problem: the numbers 1 to n twice each in a row of 2n places, with i other numbers between the
/// two i. The items are the numbers and the places. An option puts one number on its two places. Of each
/// arrangement and its reverse only one remains: the number n (n - 1 if n is even) comes first in the first
/// half.
inline exact_cover langford(int n) {
  exact_cover cover(3 * n);
  const int halved = n % 2 == 0 ? n - 1 : n;
  for (int number = 1; number <= n; ++number)
    for (int left = 1; left + number + 1 <= 2 * n; ++left)
      if (number != halved || 2 * left <= n) cover.add_option({number, n + left, n + left + number + 1});
  return cover;
}

}  // namespace kernels

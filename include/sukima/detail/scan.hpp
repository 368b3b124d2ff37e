// SPDX-License-Identifier: Apache-2.0
// How a scan is split: only stolen pieces are added up first and scanned afterwards.
//
// A worker that knows the sum of all earlier elements scans an element once. The thief of a piece does not
// know that sum, so it adds up blocks and keeps their sums. When the owner reaches the beginning of the
// piece, it passes its own sum to the thief. From there on the thief writes results as well. Any idle worker
// scans the blocks that were only added up, with the known sums, block by block.
#pragma once

#include <sukima/fork.hpp>
#include <sukima/loop.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace SUKIMA_DETAIL_NAMESPACE {

enum class scan_form { inclusive, exclusive };

/// One scan. T is the type of the running total.
template <scan_form Form, class T, class In, class Out, class Operation> class scan {
 public:
  scan(In in, Out out, Operation& operation) : in_(in), out_(out), operation_(operation) {}

  /// Writes all results from `from` on. \param carry  the total of all elements before
  void write_all(context here, std::int64_t from, std::int64_t to, T carry) {
    if constexpr (!exactly_associative<T, std::remove_const_t<Operation>>) {
      if (uses_fixed_order()) {
        write_in_fixed_order(here, from, to, std::move(carry));
        return;
      }
    }
    write_results(here, from, to, std::move(carry));
  }

  /// Writes the results of [from, to). \param carry  the total of all elements before `from`
  /// \returns the total of all elements before `to`
  T write_results(context here, std::int64_t from, std::int64_t to, T carry) {
    if (from >= to) return carry;
    settled_side origin{this};
    loop_point* r = push(here, from, to, &origin);
    try {
      {
        const ambient_context ambient(above(here));
        detail::run_strips(r, 0, ambient.state(), [&](std::int64_t i, std::int64_t stop) {
          carry = strip(i, stop, std::move(carry));
        });
      }
      hand_sum(r, carry);
    } catch (...) {
      leave_by_exception(r);
    }
    return take_over(here, r, std::move(carry));
  }

 private:
  /// Elements [from, to), added up before the sum in front of them was known.
  struct block {
    std::int64_t from;
    std::int64_t to;
    T sum;
  };

  /// A piece that was split off. Its owner writes `before`, then `known`. The thief writes the rest, and the
  /// owner reads that after the join.
  struct piece : loop_task {
    scan* whole = nullptr;
    std::optional<T> before;  ///< all elements before the piece
    std::atomic<bool> known{false};  ///< `before` has been written. pairs with: hand_sum, run_piece
    std::vector<block> blocks;  ///< of a piece that ended without the total before it
    std::optional<T> through;  ///< total of all elements before its end, if it got `before` in time

    /// \pre `known` is true
    T take_before() {
      return std::move(*before);  // NOLINT(bugprone-unchecked-optional-access): written before `known`
    }
  };

  /// The data that the choice points of both kinds of loops refer to.
  struct side {
    scan* whole;
    loop_task* make_task() const {
      auto* t = new piece;
      t->whole = whole;
      t->run = [](task* self, context c) {
        auto* me = static_cast<piece*>(self);
        me->whole->run_piece(c, *me);
      };
      t->destroy = delete_task<piece>;
      return t;
    }
  };
  /// Two workers finish at the same time if the second one takes two thirds. It adds up the first of them
  /// while the owner scans its own third. Then it scans the other third while the owner scans the added-up
  /// one.
  struct settled_side : side {
    static std::int64_t split_place(std::int64_t next, std::int64_t end) noexcept {
      return next + (end - next) / 3;
    }
  };
  struct summing_side : side {};

  template <class Side>
  static loop_point* push(context here, std::int64_t from, std::int64_t to, Side* side) noexcept {
    return ::new (static_cast<void*>(here.top)) loop_point{
        {reinterpret_cast<std::uintptr_t>(&loop_operations<Side>::kind)}, at(from + 1), at(to), side};
  }
  static context above(context here) noexcept { return {here.top + sizeof(loop_point)}; }

  In input(std::int64_t i) const { return in_ + static_cast<std::iter_difference_t<In>>(i); }
  Out output(std::int64_t i) const { return out_ + static_cast<std::iter_difference_t<Out>>(i); }

  /// Scans [i, stop) and returns the running total for the next strip. Not inlined, because g++ would keep
  /// `carry` in memory for the closure around it (a cheap operation would take three times as long).
  [[gnu::noinline]] T strip(std::int64_t i, std::int64_t stop, T carry) const {
    In in = input(i);
    const In end = input(stop);
    Out out = output(i);
    for (; in != end; ++in, ++out) {
      if constexpr (Form == scan_form::inclusive) {
        carry = operation_(std::move(carry), *in);
        *out = carry;
      } else {
        T next = operation_(carry, *in);  // first, because the output may be the input
        *out = std::move(carry);
        carry = std::move(next);
      }
    }
    return carry;
  }

  /// The same for a block whose total is not needed afterwards.
  void last_strip(std::int64_t i, std::int64_t stop, T carry) const {
    if constexpr (Form == scan_form::inclusive) {
      strip(i, stop, std::move(carry));
    } else {
      carry = strip(i, stop - 1, std::move(carry));
      *output(stop - 1) = std::move(carry);
    }
  }

  T add_up(std::int64_t i, std::int64_t stop) const {
    In in = input(i);
    const In end = input(stop);
    T sum(*in);
    for (++in; in != end; ++in) sum = operation_(std::move(sum), *in);
    return sum;
  }

  /// Passes the total to the first child, whose elements follow this choice point's own. From now on the
  /// child may write results.
  static void hand_sum(loop_point* r, const T& carry) {
    if (!was_split(r)) return;
    auto* first = static_cast<piece*>(newest_child(r));
    first->before.emplace(carry);
    first->known.store(true, std::memory_order_release);
  }

  /// Replaces each block's sum by the total before it. \returns the total after all of them
  T put_before(std::vector<block>& blocks, T carry) const {
    for (block& b : blocks) {
      T next = operation_(carry, std::move(b.sum));
      b.sum = std::move(carry);
      carry = std::move(next);
    }
    return carry;
  }
  /// Scans blocks whose `sum` is the total before them.
  void settle_blocks(context here, std::vector<block>& blocks) const {
    sukima::parallel_for(here, blocks, [this](block& b) { last_strip(b.from, b.to, std::move(b.sum)); });
  }

  /// Adds up blocks whose bounds depend only on the number of elements, and then scans each of them.
  void write_in_fixed_order(context here, std::int64_t from, std::int64_t to, T carry) const {
    const std::int64_t size = block_of_a_scan(to - from);
    const std::int64_t count = (to - from + size - 1) / size;
    std::vector<std::optional<T>> sums(static_cast<std::size_t>(count));
    const auto end_of = [&](std::int64_t b) { return std::min(to, from + (b + 1) * size); };
    const auto add_block = [&](std::int64_t b) {
      sums[static_cast<std::size_t>(b)].emplace(add_up(from + b * size, end_of(b)));
    };
    std::vector<block> blocks;
    blocks.reserve(sums.size());
    sukima::parallel_for(here, std::int64_t{0}, count, add_block);
    {
      const ambient_context ambient(here);
      for (std::int64_t b = 0; b != count; ++b)
        blocks.push_back({from + b * size, end_of(b), std::move(*sums[static_cast<std::size_t>(b)])});
      put_before(blocks, std::move(carry));
    }
    settle_blocks(here, blocks);
  }
  /// The size of a block: about the number of blocks, because one worker adds up the sums of all blocks.
  static std::int64_t block_of_a_scan(std::int64_t elements) noexcept {
    const auto bits = std::bit_width(static_cast<std::uint64_t>(elements));
    return std::int64_t{1} << (bits / 2);
  }

  /// Waits for the pieces that were split off from `point`, and scans the elements that they only added up.
  T take_over(context here, loop_point* point, T carry) {
    if (!was_split(point) && untouched(point)) [[likely]]
      return carry;
    std::vector<block> open;
    {
      children left(join_children(point));
      const ambient_context ambient(here);
      for (; left.next() != nullptr; left.pop()) {
        auto* p = static_cast<piece*>(left.next());
        if (p->through) {
          carry = std::move(*p->through);
        } else {
          carry = put_before(p->blocks, std::move(carry));
          append(open, p->blocks);
        }
      }
    }
    settle_blocks(here, open);
    return carry;
  }

  static void append(std::vector<block>& to, std::vector<block>& from) {
    if (to.empty())
      to.swap(from);
    else
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  }

  /// Called when the piece has received the total before it. Writes the results of [from, to), and at the
  /// same time those of the elements that were only added up.
  T go_on(context c, std::int64_t from, std::int64_t to, piece& me) {
    const ambient_context taken(ambient_of(c.top));  // both branches take a context
    T carry = put_before(me.blocks, me.take_before());
    auto [through, none] = sukima::fork2(
        c, [&](context below) { return write_results(below, from, to, std::move(carry)); },
        [&](context below) { settle_blocks(below, me.blocks); });
    static_cast<void>(none);
    return std::move(through);
  }

  void run_piece(context here, piece& me) {
    if (me.known.load(std::memory_order_acquire)) {
      me.through.emplace(write_results(here, me.from, me.to, me.take_before()));
      return;
    }
    summing_side origin{this};
    loop_point* r = push(here, me.from, me.to, &origin);
    std::optional<T> carry;  // the running total, once it is known
    try {
      const ambient_context ambient(above(here));
      detail::run_strips(r, 0, ambient.state(), [&](std::int64_t i, std::int64_t stop) {
        if (carry) {  // continues with the elements that no worker took
          carry = strip(i, stop, std::move(*carry));
          return;
        }
        me.blocks.push_back({i, stop, add_up(i, stop)});
        if (!me.known.load(std::memory_order_acquire)) return;
        const std::int64_t end = number(r->end);
        r->end = at(stop);  // nothing is split off here while go_on runs
        carry = go_on(above(here), stop, end, me);
        r->next = r->end = at(end);
      });
      if (carry) hand_sum(r, *carry);
    } catch (...) {
      leave_by_exception(r);
    }
    if (carry) {
      me.through.emplace(take_over(here, r, std::move(*carry)));
      return;
    }
    if (!was_split(r) && untouched(r)) return;
    // This piece got no total, so it passed none on.
    for (children left(join_children(r)); left.next() != nullptr; left.pop())
      append(me.blocks, static_cast<piece*>(left.next())->blocks);
  }

  In in_;
  Out out_;
  Operation& operation_;
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

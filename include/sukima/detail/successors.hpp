// SPDX-License-Identifier: Apache-2.0
// Loops and searches over ranges that can only find each element's successor, as by "take the lowest bit".
#pragma once

#include <sukima/detail/loop.hpp>
#include <sukima/detail/loop_end.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <type_traits>

namespace sukima::detail {

/// An iterator that is stored in choice points. The runtime copies and increments it whenever it looks for
/// work.
template <class I>
concept one_word_iterator = std::forward_iterator<I> && std::is_trivially_copyable_v<I> &&
                            sizeof(I) <= sizeof(void*) && alignof(I) <= alignof(void*);
/// A range over which loops run without counting its elements first.
template <class Range>
concept successor_range = (std::ranges::common_range<Range> || ends_by_condition<Range>) &&
                          one_word_iterator<std::ranges::iterator_t<Range>>;

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// `current` is the element that the owner has begun or is about to begin. `end` is the first one that is no
/// longer the owner's. The owner uses them, or a helper while the owner is suspended.
template <one_word_iterator I> struct alignas(choice_point_alignment) successor_point : choice_point {
  using place = I;
  I current;
  I end;
  void* frame;
};

/// Like `loop_operations`, with iterators instead of numbers. Elements are counted only when another worker
/// wants a part.
template <class Frame, one_word_iterator I> struct successor_operations {
  using point = successor_point<I>;
  static point* loop(choice_point* r) noexcept { return static_cast<point*>(r); }
  static Frame& frame(choice_point* r) noexcept { return *static_cast<Frame*>(loop(r)->frame); }
  static I next(const point* l) noexcept {
    I i = l->current;
    return ++i;
  }

  static bool open(const choice_point* r) noexcept {
    const auto* l = static_cast<const point*>(r);
    return next(l) != l->end;
  }
  static task* split(choice_point* whole) {
    point* l = loop(whole);
    I from = next(l);
    std::int64_t left = 0;
    for (I i = from; i != l->end; ++i) ++left;
    std::int64_t kept = left / 2;
    // Numbers count from the element in progress, which is number 0.
    if constexpr (requires { frame(whole).split_place(kept, left); })
      kept = std::clamp(frame(whole).split_place(1, left + 1), std::int64_t{1}, left) - 1;
    else if constexpr (piece_travels<Frame>)
      kept = left - static_cast<std::int64_t>(travelling_part(static_cast<std::uint64_t>(left)));
    for (; kept > 0; --kept) ++from;
    piece_task<I>* t = frame(whole).make_task();
    t->from = from;
    t->to = l->end;
    t->frame = l->frame;
    detail::link_child(whole, t);
    l->end = from;
    return t;
  }
  static void reclaim(choice_point* r, task* t) noexcept {
    loop(r)->end = static_cast<piece_task<I>*>(t)->to;
    unlink_child(r, t);
    t->destroy(t);
  }
  static void stop(choice_point* r) noexcept { loop(r)->end = next(loop(r)); }
  static void undo(choice_point* r) { frame(r).undo(loop(r)->current); }
  static void redo(choice_point* r) { frame(r).redo(loop(r)->current); }
  static double guard(choice_point* r) { return frame(r).guard(); }

  static constexpr choice_point_kind kind = kind_of_loop<Frame, successor_operations>();
};

template <one_word_iterator I> struct loop_form<I> {
  using point = successor_point<I>;
  static bool any(I from, I to) { return from != to; }
  template <class Frame>
  [[gnu::always_inline]] static point* push(char* top, I from, I to, Frame& frame) noexcept {
    return ::new (static_cast<void*>(top))
        point{{reinterpret_cast<std::uintptr_t>(&successor_operations<Frame, I>::kind)}, from, to, &frame};
  }
  static I first(const point* r) noexcept { return r->current; }
  static void begin(point* r, I i) noexcept { r->current = i; }
  static bool more(const point* r, I i) { return i != r->end; }
};

/// The source of loops whose places are iterators.
template <one_word_iterator I> struct successor_source {
  using place = I;
  using arguments = argument_list<std::iter_reference_t<I>>;
  static constexpr bool in_blocks = false;
  static constexpr bool walks = false;
  decltype(auto) operator[](I i) const { return *i; }
  template <class F> [[gnu::always_inline]] void visit(I i, F&& f) const { f(*i); }
};

}  // namespace SUKIMA_DETAIL_NAMESPACE

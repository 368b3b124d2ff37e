// SPDX-License-Identifier: Apache-2.0
// The loop under parallel_for, parallel_reduce and search. It has one choice point, and gives iterations away
// from its upper end.
#pragma once

#include <sukima/detail/clone.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/detail/strip_length.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/detail/travel.hpp>

#include <algorithm>
#include <cstdint>

namespace sukima::detail {

/// The arguments that a source gives to a body for one iteration.
template <class... Arguments> struct argument_list {};

/// Whether a body that is called with `Before…` and a source's arguments takes a context in front of them.
template <class Body, class List, class... Before> inline constexpr bool body_takes_context = false;
template <class Body, class... Arguments, class... Before>
inline constexpr bool body_takes_context<Body, argument_list<Arguments...>, Before...> =
    takes_context<Body, Before..., Arguments...>;
template <class Body, class List, class... Before> inline constexpr bool body_is_callable = false;
template <class Body, class... Arguments, class... Before>
inline constexpr bool body_is_callable<Body, argument_list<Arguments...>, Before...> =
    callable_with<Body, Before..., Arguments...>;

/// The type by which a loop over a source names its iterations: numbers, unless the source defines another.
template <class Source> struct place_in {
  using type = std::int64_t;
};
template <class Source>
  requires requires { typename Source::place; }
struct place_in<Source> {
  using type = typename Source::place;
};
template <class Source> using place_of = typename place_in<Source>::type;

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// The number of an iteration, counted from the loop's first one. It has a type of its own, so the compiler
/// knows that a body's stores to integers do not change the loop's bounds, and may keep the bounds in
/// registers and vectorise.
enum class position : std::int64_t {};
inline constexpr position at(std::int64_t i) noexcept { return static_cast<position>(i); }
inline constexpr std::int64_t number(position p) noexcept { return static_cast<std::int64_t>(p); }

/// `next` is the first iteration that the owner has not begun and is not about to begin. `end` is the first
/// one that is no longer the owner's. The owner uses them, or a helper while the owner is suspended.
struct alignas(choice_point_alignment) loop_point : choice_point {
  using place = std::int64_t;
  position next;
  position end;
  void* frame;
};

/// The task of a loop: its iterations, and the frame that its owner keeps alive until the join.
/// \tparam Place how the loop names an iteration: by its number, or by an iterator (successors.hpp)
template <class Place> struct piece_task : task {
  Place from;
  Place to;
  void* frame;
};
using loop_task = piece_task<std::int64_t>;

/// A specialization with a member `point` makes the pieces of the loop with this frame travel
/// (sukima/cluster/loops.hpp).
template <class Frame> struct travels_piece {};
template <class Frame>
concept piece_travels = requires { travels_piece<Frame>::point; };

/// The kind of a loop's choice points. `guard`, `undo` and `redo` depend on the members of its frame.
template <class Frame, class Operations> constexpr choice_point_kind kind_of_loop() {
  using point = typename Operations::point;
  choice_point_kind k{sizeof(point), Operations::open, Operations::split, Operations::reclaim, nullptr,
                      nullptr,       nullptr,          nullptr,           Operations::stop};
  if constexpr (requires(Frame& f, typename point::place i) { f.undo(i); }) {
    k.undo = Operations::undo;
    k.redo = Operations::redo;
  }
  if constexpr (requires(Frame& f) { f.guard(); }) k.guard = Operations::guard;
  if constexpr (piece_travels<Frame>) k.travel = &travels_piece<Frame>::point;
  return k;
}

/// Operations of a loop's choice point. Frame has `loop_task* make_task()` and perhaps `guard()`,
/// `split_place(next, end)`, `undo(iteration)`, `redo(iteration)`.
template <class Frame> struct loop_operations {
  using point = loop_point;
  static loop_point* loop(choice_point* r) noexcept { return static_cast<loop_point*>(r); }
  static Frame& frame(choice_point* r) noexcept { return *static_cast<Frame*>(loop(r)->frame); }

  static bool open(const choice_point* r) noexcept {
    const auto* l = static_cast<const loop_point*>(r);
    return l->next < l->end;
  }
  static task* split(choice_point* point) {
    loop_point* l = loop(point);
    const std::int64_t next = number(l->next);
    const std::int64_t end = number(l->end);
    std::int64_t from = next + (end - next) / 2;
    if constexpr (requires { frame(point).split_place(next, end); })
      from = std::clamp(frame(point).split_place(next, end), next, end - 1);
    else if constexpr (piece_travels<Frame>)
      from = end - static_cast<std::int64_t>(travelling_part(static_cast<std::uint64_t>(end - next)));
    loop_task* t = frame(point).make_task();
    t->from = from;
    t->to = end;
    t->frame = l->frame;
    link_child(point, t);
    l->end = at(from);
    return t;
  }
  static void reclaim(choice_point* r, task* t) noexcept {
    loop(r)->end = at(static_cast<loop_task*>(t)->to);
    unlink_child(r, t);
    t->destroy(t);
  }
  static void stop(choice_point* r) noexcept { loop(r)->end = loop(r)->next; }
  static void undo(choice_point* r) { frame(r).undo(number(loop(r)->next) - 1); }
  static void redo(choice_point* r) { frame(r).redo(number(loop(r)->next) - 1); }
  static double guard(choice_point* r) { return frame(r).guard(); }

  static constexpr choice_point_kind kind = kind_of_loop<Frame, loop_operations>();
};

/// The operations of a loop on its own choice point. This specialization is for numbered iterations;
/// successors.hpp has the one for forward ranges.
template <class Place> struct loop_form;
template <> struct loop_form<std::int64_t> {
  using point = loop_point;
  static bool any(std::int64_t from, std::int64_t to) noexcept { return from < to; }
  template <class Frame>
  [[gnu::always_inline]] static point* push(char* top, std::int64_t from, std::int64_t to,
                                            Frame& frame) noexcept {
    return ::new (static_cast<void*>(top)) loop_point{
        {reinterpret_cast<std::uintptr_t>(&loop_operations<Frame>::kind)}, at(from + 1), at(to), &frame};
  }
  static std::int64_t first(const point* r) noexcept { return number(r->next) - 1; }
  static void begin(point* r, std::int64_t i) noexcept { r->next = at(i + 1); }
  static bool more(const point* r, std::int64_t i) noexcept { return i < number(r->end); }
};

/// Runs the iterations of one loop that do not take a context, in strips with a poll before each; a strip
/// cannot be split. If the body turns out to contain forks or loops itself, the rest is run iteration by
/// iteration.
/// \param run_strip run_strip(i, stop) runs the iterations [i, stop)
template <class Strip>
[[gnu::always_inline]] inline void run_strips(loop_point* point, std::int64_t grain,
                                              const ambient_state& ambient, Strip&& run_strip) {
  std::int64_t i = number(point->next) - 1;
  strip_length strip(grain);
  const std::uint32_t uses = ambient.uses;
  for (;;) {
    // A rest that is known to end within a strip is not split any more: `next` is then the end.
    point->next = at(strip.covers(number(point->end) - i) ? number(point->end) : i + 1);
    poll(point);
    point->next = at(std::max(strip.end(i, number(point->end) - i), i + 1));
    run_strip(i, number(point->next));
    const std::int64_t done = number(point->next) - i;
    i = number(point->next);
    if (i >= number(point->end) && !(was_split(point) && reclaim_child(point))) return;
    if (ambient.uses == uses)
      strip.learn(done);
    else
      strip.forget();
  }
}

/// Holds finished children, and destroys those that were not merged because a merge threw.
class children {
 public:
  explicit children(task* newest) noexcept : next_(newest) {}
  children(const children&) = delete;
  children& operator=(const children&) = delete;
  ~children() {
    while (next_ != nullptr) pop();
  }
  task* next() const noexcept { return next_; }
  void pop() noexcept {
    task* done = next_;
    next_ = done->older;
    done->destroy(done);
  }

 private:
  task* next_;
};

/// The sum of a loop that has no result.
struct nothing {};

/// Joins and merges the children of a loop that was split.
/// \param sum  a reference if moving a Sum may throw: nothing may throw before the children are joined
template <class Sum, class From, class Merge>
[[gnu::cold, gnu::noinline]] Sum merge_children(choice_point* r, From sum, const Merge& merge) {
  children left(join_children(r));
  for (; left.next() != nullptr; left.pop()) merge(sum, left.next());
  return static_cast<Sum&&>(sum);
}

/// Runs the iterations [from, to) of a loop as its owner, and merges the results of its children.
///
/// The sum is passed by value and is a local variable wherever values are added to it. No other code has its
/// address, so it stays in a register across the polls.
/// \param iterate  sum = iterate(choice point, context below it, sum): the owner's iterations, until `next`
/// is `end`
/// \param merge    merge(sum, task*): takes over the result of a finished child, in the order of the
/// iterations
template <context_type C, class Place, class Sum, class Frame, class Iterate, class Merge>
[[gnu::always_inline]] inline Sum run_loop(C here, Frame& frame, Place from, Place to, Sum sum,
                                           Iterate&& iterate, Merge&& merge) {
  using form = loop_form<Place>;
  if (!form::any(from, to)) return sum;
  auto* r = form::push(here.top, from, to, frame);
  Sum own = [&]() __attribute__((always_inline)) -> Sum {
    try {
      return iterate(r, below(here, sizeof *r), std::move(sum));
    } catch (...) {
      detail::leave_by_exception(r);
    }
  }();
  if (detail::was_split(r) || !detail::untouched(r)) [[unlikely]]
    return detail::merge_children<Sum,
                                  std::conditional_t<std::is_nothrow_move_constructible_v<Sum>, Sum, Sum&&>>(
        r, std::move(own), merge);
  return own;
}

/// Runs the iterations of a loop one by one, with a poll before each.
/// \param step step(sum, context, place)
template <class Point, context_type C, class Sum, class Step>
[[gnu::always_inline]] inline Sum run_each(Point* r, C below, Sum sum, const Step& step) {
  using form = loop_form<typename Point::place>;
  auto i = form::first(r);
  do {
    form::begin(r, i);
    detail::poll(r);
    step(sum, below, i);
    ++i;
  } while (form::more(r, i) || (detail::was_split(r) && detail::reclaim_child(r)));
  return sum;
}

/// Whether a loop may call a copy of this callable, without any visible difference. The compiler then knows
/// that no other code changes its captures, and keeps them in registers.
template <class F> constexpr bool is_copied_unnoticed() {
  if constexpr (std::is_class_v<F> && std::is_trivially_copyable_v<F> && std::is_copy_constructible_v<F>)
    return sizeof(F) <= 128;
  else
    return false;
}
/// The callable itself, or its address if a copy would make a visible difference.
template <class F> struct local_callable {
  static constexpr bool copied = is_copied_unnoticed<std::remove_const_t<F>>();
  [[no_unique_address]] std::conditional_t<copied, std::remove_const_t<F>, F*> callee;
  explicit local_callable(F& f)
      : callee([&] {
          if constexpr (copied)
            return f;
          else
            return &f;
        }()) {}
  F& get() const noexcept {
    if constexpr (copied)
      return const_cast<F&>(callee);
    else
      return *callee;
  }
};

/// A source as a loop stores it: a copy, which no other code changes, or its address if it walks.
template <class Source> struct held_source {
  std::conditional_t<Source::walks, const Source*, Source> held;
  explicit held_source(const Source& s)
      : held([&] {
          if constexpr (Source::walks)
            return &s;
          else
            return s;
        }()) {}
  const Source& get() const noexcept {
    if constexpr (Source::walks)
      return *held;
    else
      return held;
  }
};

/// Runs the owner's iterations of a loop over a source's elements, in the way that suits the body.
/// \tparam Before arguments that the body is given before the element
/// \param add  add(sum, f) calls f(before…) and adds its result to the sum
template <class... Before, class Point, context_type C, class Sum, class Body, class Source, class Add>
[[gnu::always_inline]] inline Sum iterate(Point* point, C below, std::int64_t grain, Body& body,
                                          const Source& source, Sum sum, const Add& add) {
  using place = typename Point::place;
  constexpr bool with_context = body_takes_context<Body&, typename Source::arguments, Before...>;
  if constexpr (with_context && Source::in_blocks) {
    detail::run_strips(point, grain, ambient_of(below.top), [&](std::int64_t i, std::int64_t stop) {
      source.each(i, stop, [&](auto&&... elements) {
        add(sum, [&](auto&... before) -> decltype(auto) {
          return detail::call(below, body, before..., std::forward<decltype(elements)>(elements)...);
        });
      });
    });
    return sum;
  } else if constexpr (with_context) {
    const local_callable<Body> local(body);
    const held_source<Source> elements(source);
    return detail::run_each(point, below, std::move(sum), [elements, local, add](Sum& s, C deeper, place i) {
      elements.get().visit(i, [&](auto&&... element) {
        add(s, [&](auto&... before) -> decltype(auto) {
          return detail::call(deeper, local.get(), before..., std::forward<decltype(element)>(element)...);
        });
      });
    });
  } else if constexpr (!std::is_same_v<place, std::int64_t>) {
    const ambient_context ambient(below);
    const local_callable<Body> local(body);
    return detail::run_each(point, below, std::move(sum), [local, add](Sum& s, C, place i) {
      add(s, [&](auto&... before) -> decltype(auto) { return std::invoke(local.get(), before..., *i); });
    });
  } else {
    const ambient_context ambient(below);
    detail::run_strips(
        point, grain, ambient.state(), [&](std::int64_t i, std::int64_t stop) __attribute__((always_inline)) {
          const local_callable<Body> local(body);
          Sum strip_sum = std::move(sum);
          source.each(i, stop, [&](auto&&... element) __attribute__((always_inline)) {
            add(strip_sum, [&](auto&... before) __attribute__((always_inline)) -> decltype(auto) {
              return std::invoke(local.get(), before..., std::forward<decltype(element)>(element)...);
            });
          });
          sum = std::move(strip_sum);
        });
    return sum;
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

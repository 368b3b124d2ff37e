// SPDX-License-Identifier: Apache-2.0
// The loop under parallel_for, parallel_reduce and search: one choice point, iterations given away from its
// upper end.
#pragma once

#include <sukima/detail/hints.hpp>
#include <sukima/detail/task.hpp>

#include <algorithm>
#include <cstdint>

#if !defined(__x86_64__)
#include <chrono>
#endif

namespace sukima::detail {

/// Iterations are numbered from the loop's first one. A type of its own: the compiler then knows that a
/// body's stores to integers do not change the loop's bounds, and may keep the bounds in registers and
/// vectorise.
enum class position : std::int64_t {};
inline constexpr position at(std::int64_t i) noexcept { return static_cast<position>(i); }
inline constexpr std::int64_t number(position p) noexcept { return static_cast<std::int64_t>(p); }

/// `next` is the first iteration that the owner has not begun (nor is about to), `end` the first one that is
/// not its own any more. Used by the owner, or by a helper while the owner is suspended.
struct alignas(choice_point_alignment) loop_point : choice_point {
  position next;
  position end;
  void* frame;
};

/// What a loop's task carries: its iterations, and the frame that its owner keeps alive until the join.
struct loop_task : task {
  std::int64_t from;
  std::int64_t to;
  void* frame;
};

/// Operations of a loop's choice point. Frame has `loop_task* make_task()` and perhaps `guard()`,
/// `split_place(next, end)`, `undo(iteration)`, `redo(iteration)`.
template <class Frame> struct loop_operations {
  static loop_point* loop(choice_point* r) noexcept { return static_cast<loop_point*>(r); }
  static Frame& frame(choice_point* r) noexcept { return *static_cast<Frame*>(loop(r)->frame); }

  static bool open(const choice_point* r) noexcept {
    const auto* l = static_cast<const loop_point*>(r);
    return l->next < l->end;
  }
  static task* split(choice_point* r) {
    loop_point* l = loop(r);
    const std::int64_t next = number(l->next);
    const std::int64_t end = number(l->end);
    std::int64_t from = next + (end - next) / 2;
    if constexpr (requires { frame(r).split_place(next, end); })
      from = std::clamp(frame(r).split_place(next, end), next, end - 1);
    loop_task* t = frame(r).make_task();
    t->from = from;
    t->to = end;
    t->frame = l->frame;
    link_child(r, t);
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

  static constexpr bool has_guard = requires(Frame& f) { f.guard(); };
  static constexpr bool has_undo = requires(Frame& f) { f.undo(std::int64_t{}); };

  static constexpr choice_point_kind make_kind() {
    choice_point_kind k{sizeof(loop_point), open, split, reclaim, nullptr, nullptr, nullptr, nullptr, stop};
    if constexpr (has_undo) {
      k.undo = undo;
      k.redo = redo;
    }
    if constexpr (has_guard) k.guard = guard;
    return k;
  }
  static constexpr choice_point_kind kind = make_kind();
};

/// A clock for the length of strips: cheap, any unit near a third of a nanosecond.
inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) * 3;
#endif
}

/// A strip should last about this long, so that a thief waits no longer for an answer: 1 to 2 µs.
inline constexpr std::uint64_t strip_ticks = 5000;
/// After the first iteration, which is timed alone, a strip is at most this long; after that it grows by its
/// own measure. Keeps a loop whose first iteration happens to be short from running long without a poll.
inline constexpr std::int64_t second_strip = 63;
/// Longer strips end where the iteration's number is a multiple of this: vectors that were aligned at the
/// loop's beginning stay so.
inline constexpr std::int64_t strip_alignment = 64;
/// What reading the clock itself adds to a measured strip, about.
inline constexpr std::uint64_t clock_ticks = 30;

/// How many iterations take about `strip_ticks`, if `done` of them took `elapsed`.
inline std::int64_t iterations_of_a_strip(std::int64_t done, std::uint64_t elapsed) noexcept {
  const std::uint64_t net = std::max(elapsed > clock_ticks ? elapsed - clock_ticks : 0, elapsed / 4) + 1;
  const auto counted = static_cast<std::uint64_t>(std::min(done, std::int64_t{1} << 40));
  return std::max<std::int64_t>(static_cast<std::int64_t>(counted * strip_ticks / net), 1);
}

/// Runs the iterations of one loop that do not take a context, in strips with a poll before each; a strip
/// cannot be split. If the body turns out to contain forks or loops itself, the rest is run iteration by
/// iteration.
/// \param run_strip run_strip(i, stop) runs the iterations [i, stop)
template <class Strip>
[[gnu::always_inline]] inline void run_strips(loop_point* r, std::int64_t grain, const ambient_state& ambient,
                                              Strip&& run_strip) {
  std::int64_t i = number(r->next) - 1;
  std::int64_t strip = grain > 0 ? grain : 1;
  std::uint64_t begun = grain > 0 ? 0 : ticks();
  const std::uint32_t uses = ambient.uses;
  bool measured = false;
  for (;;) {
    // What is known to be over within a strip is not split any more: next is the end then.
    r->next = at(measured && number(r->end) - i <= strip ? number(r->end) : i + 1);
    poll(r);
    const std::int64_t left = number(r->end) - i;
    std::int64_t stop = i + std::min(strip, left);
    if (grain == 0 && strip < left && (stop & -strip_alignment) > i) stop &= -strip_alignment;
    r->next = at(std::max(stop, i + 1));
    run_strip(i, number(r->next));
    const std::int64_t done = number(r->next) - i;
    i = number(r->next);
    if (i >= number(r->end) && !(was_split(r) && reclaim_child(r))) return;
    if (grain > 0) continue;
    if (ambient.uses != uses) {
      strip = 1;
      measured = false;
      continue;
    }
    const std::uint64_t now = ticks();
    const std::int64_t longest = done == 1 ? second_strip : done * 1024;
    measured = done > 1;  // the first iteration alone may be an exception
    strip = std::min(iterations_of_a_strip(done, now - begun), longest);
    begun = now;
  }
}

/// Ends finished children that were not merged because a merge threw.
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

/// What a loop that has no result adds up.
struct nothing {};

/// The cold end of a loop that was split.
template <class Sum, class Merge>
[[gnu::cold, gnu::noinline]] Sum merge_children(loop_point* r, Sum sum, const Merge& merge) {
  children left(join_children(r));
  for (; left.next() != nullptr; left.pop()) merge(sum, left.next());
  return sum;
}

/// Runs the iterations [from, to) of a loop as its owner, and merges what its children bring.
///
/// What is added up travels by value and is a local variable wherever it is added to: nobody has its address,
/// so it stays in a register across the polls.
/// \param iterate  sum = iterate(choice point, context below it, sum): the owner's iterations, until `next`
/// is `end`
/// \param merge    merge(sum, task*): takes over what a finished child brings; in the order of the iterations
template <class Sum, class Frame, class Iterate, class Merge>
[[gnu::always_inline]] inline Sum run_loop(context here, Frame& frame, std::int64_t from, std::int64_t to,
                                           Sum sum, Iterate&& iterate, Merge&& merge) {
  using operations = loop_operations<Frame>;
  if (from >= to) return sum;
  auto* r = ::new (static_cast<void*>(here.top))
      loop_point{{reinterpret_cast<std::uintptr_t>(&operations::kind)}, at(from + 1), at(to), &frame};
  Sum own = [&]() -> Sum {
    try {
      return iterate(r, context{here.top + sizeof(loop_point)}, std::move(sum));
    } catch (...) {
      leave_by_exception(r);
    }
  }();
  if (was_split(r) || !untouched(r)) [[unlikely]]
    return merge_children(r, std::move(own), merge);
  return own;
}

/// The iterations of a loop whose body takes a context: a poll before each one.
/// \param step step(sum, context, i)
template <class Sum, class Step>
[[gnu::always_inline]] inline Sum run_each(loop_point* r, context below, Sum sum, const Step& step) {
  std::int64_t i = number(r->next) - 1;
  do {
    r->next = at(i + 1);
    poll(r);
    step(sum, below, i);
    ++i;
  } while (i < number(r->end) || (was_split(r) && reclaim_child(r)));
  return sum;
}

/// Can a loop call a copy of this callable, and nobody sees a difference? The compiler then knows that nobody
/// else changes what it captured, and keeps that in registers.
template <class F> constexpr bool is_copied_unnoticed() {
  if constexpr (std::is_class_v<F> && std::is_trivially_copyable_v<F>)
    return sizeof(F) <= 128;
  else
    return false;
}
/// The callable itself, or its address where a copy could be noticed.
template <class F> struct local_callable {
  static constexpr bool copied = is_copied_unnoticed<std::remove_const_t<F>>();
  std::conditional_t<copied, std::remove_const_t<F>, F*> callee;
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

/// The owner's iterations of a loop over a source's elements, in the way that suits the body.
/// \param add  add(sum, f) calls f() and adds its result up
template <class Element, class Sum, class Body, class Source, class Add>
[[gnu::always_inline]] inline Sum iterate(loop_point* r, context below, std::int64_t grain, Body& body,
                                          const Source& source, Sum sum, const Add& add) {
  if constexpr (takes_context<Body&, Element>) {
    const local_callable<Body> local(body);
    return run_each(r, below, std::move(sum), [source, local, add](Sum& s, context deeper, std::int64_t i) {
      add(s, [&]() -> decltype(auto) { return call(deeper, local.get(), source[i]); });
    });
  } else {
    const ambient_context ambient(below);
    run_strips(r, grain, ambient.state(), [&](std::int64_t i, std::int64_t stop) {
      const local_callable<Body> local(body);
      Sum strip_sum = std::move(sum);
      source.each(i, stop, [&](auto&& element) {
        add(strip_sum, [&]() -> decltype(auto) { return std::invoke(local.get(), element); });
      });
      sum = std::move(strip_sum);
    });
    return sum;
  }
}

}  // namespace sukima::detail

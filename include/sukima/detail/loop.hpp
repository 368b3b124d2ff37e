// SPDX-License-Identifier: Apache-2.0
// The loop under parallel_for, parallel_reduce and search: one record, iterations given away from its upper
// end.
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
/// not its own any more. Owner only, or a stand-in.
struct alignas(record_alignment) loop_record : record {
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

/// Operations of a loop's record. Frame gives `task* make_task(from, to)` and perhaps `guard()`,
/// `split_place(next, end)`, `undo(iteration)`, `redo(iteration)`.
template <class Frame> struct loop_operations {
  static loop_record* loop(record* r) noexcept { return static_cast<loop_record*>(r); }
  static Frame& frame(record* r) noexcept { return *static_cast<Frame*>(loop(r)->frame); }

  static bool open(const record* r) noexcept {
    const auto* l = static_cast<const loop_record*>(r);
    return l->next < l->end;
  }
  static task* split(record* r) {
    loop_record* l = loop(r);
    const std::int64_t next = number(l->next);
    const std::int64_t end = number(l->end);
    std::int64_t from = next + (end - next) / 2;
    if constexpr (requires { frame(r).split_place(next, end); })
      from = std::clamp(frame(r).split_place(next, end), next, end - 1);
    loop_task* t = frame(r).make_task();
    t->from = from;
    t->to = end;
    t->frame = l->frame;
    adopt(r, t);
    l->end = at(from);
    return t;
  }
  static void take_back(record* r, task* t) noexcept {
    loop(r)->end = at(static_cast<loop_task*>(t)->to);
    disown(r, t);
    t->destroy(t);
  }
  static void stop(record* r) noexcept { loop(r)->end = loop(r)->next; }
  static void undo(record* r) { frame(r).undo(number(loop(r)->next) - 1); }
  static void redo(record* r) { frame(r).redo(number(loop(r)->next) - 1); }
  static double guard(record* r) { return frame(r).guard(); }

  static constexpr bool has_guard = requires(Frame& f) { f.guard(); };
  static constexpr bool has_undo = requires(Frame& f) { f.undo(std::int64_t{}); };

  template <bool Present, auto Operation> static constexpr auto if_present() {
    if constexpr (Present)
      return Operation;
    else
      return nullptr;
  }
  static constexpr record_kind make_kind() {
    record_kind k{sizeof(loop_record), open, split, take_back, nullptr, nullptr, nullptr, nullptr, stop};
    if constexpr (has_undo) {
      k.undo = undo;
      k.redo = redo;
    }
    if constexpr (has_guard) k.guard = guard;
    return k;
  }
  static constexpr record_kind kind = make_kind();
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
/// own measure. Keeps a loop whose first iteration happens to be short from running long without a test.
inline constexpr std::int64_t second_strip = 32;

/// Runs the iterations of one loop that do not take a context, in strips with a test before each; a strip
/// cannot be split. If the body turns out to contain forks or loops itself, the rest is run iteration by
/// iteration.
/// \tparam Strip strip(i, stop) runs the iterations [i, stop)
template <class Strip>
[[gnu::always_inline]] inline void run_strips(loop_record* r, std::int64_t grain, const kept_state& kept,
                                              Strip&& run_strip) {
  std::int64_t i = number(r->next) - 1;
  std::int64_t strip = grain > 0 ? grain : 1;
  std::uint64_t begun = grain > 0 ? 0 : ticks();
  const std::uint32_t uses = kept.uses;
  for (;;) {
    r->next = at(i + 1);
    test_entry(r);
    const std::int64_t stop = i + std::min(strip, number(r->end) - i);
    r->next = at(std::max(stop, i + 1));
    run_strip(i, number(r->next));
    i = number(r->next);
    if (i >= number(r->end)) return;
    if (grain > 0) continue;
    if (kept.uses != uses) {
      strip = 1;
      continue;
    }
    const std::uint64_t now = ticks();
    const std::uint64_t each = (now - begun) / static_cast<std::uint64_t>(strip) + 1;
    const std::int64_t longest = strip == 1 ? second_strip : strip * 1024;
    strip = std::clamp<std::int64_t>(static_cast<std::int64_t>(strip_ticks / each), 1, longest);
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

/// Runs the iterations [from, to) of a loop as its owner.
/// \param iterate  iterate(record, context below it): runs the owner's iterations until `next` has reached
/// `end`
/// \param merge    merge(task*): takes over what a finished child brings; in the order of the iterations
template <class Frame, class Iterate, class Merge>
[[gnu::always_inline]] inline void run_loop(context here, Frame& frame, std::int64_t from, std::int64_t to,
                                            Iterate&& iterate, Merge&& merge) {
  using operations = loop_operations<Frame>;
  if (from >= to) return;
  auto* r = ::new (static_cast<void*>(here.top))
      loop_record{{reinterpret_cast<std::uintptr_t>(&operations::kind)}, at(from + 1), at(to), &frame};
  try {
    iterate(r, context{here.top + sizeof(loop_record)});
  } catch (...) {
    leave_by_exception(r);
  }
  if (was_split(r) || !untouched(r)) [[unlikely]] {
    children left(join_children(r));
    for (; left.next() != nullptr; left.pop()) merge(left.next());
  }
}

/// The iterations of a loop whose body takes a context: a test before each one.
template <class Step> [[gnu::always_inline]] inline void run_each(loop_record* r, context below,
                                                                  Step&& step) {
  std::int64_t i = number(r->next) - 1;
  do {
    r->next = at(i + 1);
    test_entry(r);
    step(below, i);
    ++i;
  } while (i < number(r->end));
}

/// Can a loop call a copy of the body, and nobody sees a difference?
template <class Body, class Element> constexpr bool is_copied_unnoticed() {
  if constexpr (std::is_class_v<Body> && std::is_trivially_copyable_v<Body>)
    return sizeof(Body) <= 128 && std::is_invocable_v<const Body&, Element>;
  else
    return false;
}

/// The owner's iterations of a loop over a source's elements, in the way that suits the body.
/// \param use  use(f) calls f() and does something with its result
template <class Element, class Body, class Source, class Use>
[[gnu::always_inline]] inline void iterate(loop_record* r, context below, std::int64_t grain, Body& body,
                                           const Source& source, Use use) {
  if constexpr (takes_context<Body&, Element>) {
    run_each(r, below, [source, &body, use](context deeper, std::int64_t i) {
      use([&]() -> decltype(auto) { return call(deeper, body, source[i]); });
    });
  } else {
    const top_keeper keep(below);
    // A body that can be copied unnoticed is: the compiler then sees that its stores do not change what it
    // captured.
    constexpr bool copied = is_copied_unnoticed<Body, Element>();
    run_strips(r, grain, keep.kept(), [&](std::int64_t i, std::int64_t stop) {
      if constexpr (copied) {
        const Body local = body;
        source.each(i, stop, [&](auto&& element) {
          use([&]() -> decltype(auto) { return std::invoke(local, element); });
        });
      } else {
        source.each(i, stop, [&](auto&& element) {
          use([&]() -> decltype(auto) { return std::invoke(body, element); });
        });
      }
    });
  }
}

}  // namespace sukima::detail

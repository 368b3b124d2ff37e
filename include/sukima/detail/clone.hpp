// SPDX-License-Identifier: Apache-2.0
// Sequential clones in C++: when a generic callable runs as a clone, and how a clone polls.
//
// A callable that takes its context as `auto` exists twice: with a tracked_context it forks, with a
// clone_context its forks are calls. Parallel code enters the clone if the work below is expected to be short
// (clone.h). The clone polls at some forks, loops and searches. When a worker wants work, the oldest choice
// point is split, as always. If no work is left there, or the fiber must leave, the clone's next call runs
// the parallel version, down to the leaves.
//
// If clones are off, and in the rest of a clone that received a request, no times are measured and no depth
// is kept. The callable then gets a parallel_context, and costs as much as one with a plain context.
#pragma once

#include <sukima/detail/clone.h>
#include <sukima/context.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>

namespace sukima::detail {

/// The context `size` bytes further up the choice stack, one fork deeper.
[[gnu::always_inline]] inline context below(context c, std::size_t size) noexcept { return {c.top + size}; }
[[gnu::always_inline]] inline tracked_context below(tracked_context c, std::size_t size) noexcept {
  return {{c.top + size}, c.depth + 1};
}
[[gnu::always_inline]] inline parallel_context below(parallel_context c, std::size_t size) noexcept {
  return {{c.top + size}};
}

/// The context itself if it forks; for the context of a clone, a plain context, which forks.
template <context_type C> [[gnu::always_inline]] inline auto forking_context(C c) noexcept {
  if constexpr (clone_context_type<C>)
    return static_cast<context>(c);
  else
    return c;
}
inline tracked_context tracked(context c) noexcept { return {c, 0}; }
inline tracked_context tracked(tracked_context c) noexcept { return c; }

/// The depth of a context. A fork's choice point or a loop's frame stores it for the pieces that are split
/// off, which run at that depth.
template <class C> struct kept_depth {
  kept_depth() = default;
  explicit kept_depth(C) noexcept {}
  /// Calls f with the context of a piece that begins at `c`.
  template <class F> decltype(auto) run_piece(context c, F&& f) const { return f(c); }
};
template <> struct kept_depth<tracked_context> {
  std::uint32_t depth = 0;
  kept_depth() = default;
  explicit kept_depth(tracked_context c) noexcept : depth(c.depth) {}
  template <class F> decltype(auto) run_piece(context c, F&& f) const { return f(tracked_context{c, depth}); }
};
/// A piece that is split off the rest of a clone may run as clones again.
template <> struct kept_depth<parallel_context> {
  kept_depth() = default;
  explicit kept_depth(parallel_context) noexcept {}
  template <class F> decltype(auto) run_piece(context c, F&& f) const {
    if (gate_of(c.top).clone_grain != 0) return f(tracked_context{c, sukima_clone_depths});
    return f(parallel_context{c});
  }
};

/// The number of levels of forks, below a fork that polls, that do not poll. At most six branches begin
/// between two polls, and compilers turn these levels into straight code. (Instructions of subset sums,
/// divided by those of the plain recursion: with g++ 2.9 for 0 levels and 1.7 for 2; with clang 1.4 and 0.8.
/// Three levels are no better.)
inline constexpr unsigned unpolled_forks = 2;
/// The same below a loop or search that polls. It is smaller, because a loop has more bodies than a fork has
/// branches. Two nested short loops have at most 1024 bodies (a fork may have two such pairs below it). A
/// recursion polls at every second level, however few bodies its loops have. (With g++ a node of
/// nqueens-array takes a tenth fewer instructions than with 0.)
inline constexpr unsigned unpolled_loops = 1;

/// Whether a fork or loop with this context polls.
template <clone_context_type C> inline constexpr bool polls = false;
template <bool Closed> inline constexpr bool polls<clone_mark<Closed, 0>*> = true;

template <clone_context_type C> char* top_of(C c) noexcept { return reinterpret_cast<char*>(c); }
template <bool Closed, unsigned Unpolled> clone_mark<Closed, Unpolled>* clone_at(char* top) noexcept {
  return reinterpret_cast<clone_mark<Closed, Unpolled>*>(top);
}
/// The context that a clone's fork passes to its branches.
template <bool Closed, unsigned Unpolled> auto below_fork(clone_mark<Closed, Unpolled>* c) noexcept {
  return clone_at < Closed, Unpolled == 0 ? unpolled_forks : Unpolled - 1 > (top_of(c));
}
/// The context that a clone's loop or search passes to its bodies.
template <bool Closed, unsigned Unpolled> auto below_loop(clone_mark<Closed, Unpolled>* c) noexcept {
  return clone_at < Closed, Unpolled == 0 ? unpolled_loops : Unpolled - 1 > (top_of(c));
}

/// The context of a clone's long loop, which polls at every level, and so do its bodies. Then only loops that
/// poll call the function for the level below, so g++ inlines that function into the one caller. (A node of
/// nqueens takes a seventh fewer instructions. In searches g++ inlines it anyway.)
template <bool Closed, unsigned Unpolled> auto in_long_loop(clone_mark<Closed, Unpolled>* c) noexcept {
  return clone_at<Closed, Closed ? Unpolled : 0>(top_of(c));
}

/// Whether a call leaves the callable unchanged. False for a named object whose call operator is not const:
/// its owner may read the changes afterwards.
template <class F> inline constexpr bool is_unchanged_by_call =
    !std::is_lvalue_reference_v<F> || callable_with<const std::remove_reference_t<F>&>;

/// How a callable is passed to a function that is not inlined: by value if the caller cannot observe the
/// difference, so that the caller may keep the captures in registers.
template <class F> using by_value_or_reference =
    std::conditional_t<std::is_trivially_copyable_v<std::remove_reference_t<F>> &&
                           std::is_copy_constructible_v<std::remove_reference_t<F>> &&
                           sizeof(std::remove_reference_t<F>) <= 64 && is_unchanged_by_call<F>,
                       std::remove_cvref_t<F>, F&&>;

/// An argument of type T, made from `from`, for a function that is rarely called. g++ stores an object that
/// is passed in memory where the object is made, before the test whether to call. A copy is stored after that
/// test.
template <class T, class From> [[gnu::always_inline]] inline T passed_rarely(From&& from) {
  if constexpr (std::is_reference_v<T>) {
    return static_cast<T>(from);
  } else {
    T copy(std::forward<From>(from));
    return copy;
  }
}

/// The fast half of a clone's poll. Unlike `untouched`, it lets compilers compute one mask for all polls of a
/// clone.
[[gnu::always_inline]] inline bool raised(const char* top) noexcept {
#if defined(SUKIMA_ATOMICS)
  return !untouched(reinterpret_cast<const choice_point*>(top));
#else
  return top < __atomic_load_n(reinterpret_cast<char* const*>(&gate_of(top).limit), __ATOMIC_RELAXED);
#endif
}

/// The site of a place. `Tag` is a type that only this place uses.
template <class Tag> struct clone_site_of {
  static inline constinit sukima_clone_site site{};
};

/// The compiler's name of a place: of the function around its first lambda (g++), or of the file and line
/// (clang). The runtime shortens it (src/runtime/observe/traced_clones.cpp).
template <class Tag> constexpr const char* name_of_place() noexcept { return __PRETTY_FUNCTION__; }

/// The entry of a site for calls at this depth.
template <class Site> auto& entry_at(Site& site, std::uint32_t depth) noexcept {
  return site.at[std::min<std::uint32_t>(depth, sukima_clone_depths - 1)];
}

/// Whether the call at this depth is expected to be short enough for a clone. Small fibers never run clones,
/// because their limit is always raised.
inline bool expects_clone(const sukima_clone_site& site, std::uint32_t depth, const gate& g) noexcept {
  const auto& entry = entry_at(site, depth);
  const std::uint32_t expected = __atomic_load_n(&entry.expected, __ATOMIC_RELAXED);
  return expected < g.clone_grain &&
         __atomic_load_n(&entry.samples, __ATOMIC_RELAXED) >= sukima_clone_first_samples;
}

/// Whether this call should be timed: the first calls at a site, then one of each `calls_per_sample` of a
/// fiber.
inline bool is_timed(const sukima_clone_site& site, std::uint32_t depth, gate& g) noexcept {
  constexpr std::uint32_t calls_per_sample = 32;
  if (__atomic_load_n(&entry_at(site, depth).samples, __ATOMIC_RELAXED) < sukima_clone_first_samples)
    return true;
  if (g.calls_until_sample != 0) {
    --g.calls_until_sample;
    return false;
  }
  g.calls_until_sample = calls_per_sample - 1;
  return true;
}

/// Measures a call, and records the time at its site unless the call ends by an exception.
template <class Tag> class clone_timer {
 public:
  clone_timer(std::uint32_t depth, bool on) noexcept : depth_(depth), begun_(on ? ticks() : 0) {}
  void end() const noexcept {
    if (begun_ != 0) learn();
  }

 private:
  [[gnu::cold, gnu::noinline]] void learn() const noexcept {
    sukima_clone_learn(&clone_site_of<Tag>::site, name_of_place<Tag>(), depth_, ticks() - begun_);
  }

  std::uint32_t depth_;
  std::uint64_t begun_;  // 0: this call is not timed
};

/// Calls parallel(context) or clone(), depending on the expectation for this place, and records the time.
template <class Tag, class Parallel, class Clone>
inline decltype(auto) parallel_or_clone(tracked_context c, Parallel&& parallel, Clone&& clone) {
  gate& g = gate_of(c.top);
  if (g.clone_grain == 0) return parallel(parallel_context{c});
  sukima_clone_site& site = clone_site_of<Tag>::site;
  const clone_timer<Tag> timer(c.depth, is_timed(site, c.depth, g));
  const auto chosen = [&]() -> decltype(auto) {
    if (!expects_clone(site, c.depth, g)) return parallel(c);
    sukima_count_clone(&site, c.depth, c.top);
    return clone();
  };
  if constexpr (std::is_void_v<decltype(chosen())>) {
    chosen();
    timer.end();
  } else {
    decltype(auto) result = chosen();
    timer.end();
    return result;
  }
}

}  // namespace sukima::detail

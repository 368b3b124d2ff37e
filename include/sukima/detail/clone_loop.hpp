// SPDX-License-Identifier: Apache-2.0
// Loops and searches of sequential clones: plain loops. Short ones poll before the first iteration, at every
// second level; long ones poll after each eighth iteration, at every level.
#pragma once

#include <sukima/detail/clone.hpp>
#include <sukima/detail/loop.hpp>
#include <sukima/detail/loop_end.hpp>
#include <sukima/detail/strip_length.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// Iterators of this type never have more than 64 elements before them, so a clone's loop polls once.
template <class I> inline constexpr bool few_elements = requires { I::few_elements; };

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Number of iterations of a clone's long loop between two polls of the loop itself. The bodies poll, too.
inline constexpr int iterations_between_polls = 8;
/// A loop of up to this many iterations polls before the first one only. An outer loop with polls would cost
/// searches up to a quarter of their time, because compilers would keep fewer values in registers.
inline constexpr int short_loop = 32;

/// Calls f with the source's arguments for one iteration or block.
template <class Source, class Place, class F>
[[gnu::always_inline]] inline void visit(const Source& source, F&& f, Place i) {
  source.visit(i, std::forward<F>(f));
}
template <class Source, class F>
[[gnu::always_inline]] inline void visit(const Source& source, F&& f, std::int64_t i, std::int64_t stop) {
  source.each(i, stop, std::forward<F>(f));
}

/// Runs a clone's long loop. It gets a copy of the work, so that the caller can keep its own in registers.
/// \tparam Work its step(context, sum, place) does one iteration
template <clone_context_type C, class Place, class End, class Sum, class Work>
[[gnu::noinline]] Sum run_long_clone(C c, Place i, End to, Sum sum, Work work) {
  while (detail::any_left(i, to)) {
    if (raised(top_of(c)) && sukima_poll_in_clone(top_of(c)) != 0)
      return work.in_parallel(parallel_context{c}, i, detail::end_from(i, to), std::move(sum));
    for (int n = iterations_between_polls; n > 0 && detail::any_left(i, to); --n, ++i) work.step(c, sum, i);
  }
  return sum;
}

/// Continues a clone's loop whose first poll found a request: as a clone, or in parallel.
template <clone_context_type C, class Place, class End, class Sum, class Work>
[[gnu::cold, gnu::noinline]] Sum run_raised_clone(C c, Place i, End to, Sum sum, Work work) {
  if (sukima_poll_in_clone(top_of(c)) != 0)
    return work.in_parallel(parallel_context{c}, i, detail::end_from(i, to), std::move(sum));
  return detail::run_long_clone(c, i, to, std::move(sum), std::move(work));
}

/// Runs a clone's loop in blocks, which are as long as those of parallel code, with a poll before each.
/// \tparam Work its step(context, sum, i, stop) does one block
template <clone_context_type C, class Sum, class Work>
Sum run_clone_in_blocks(C c, std::int64_t i, std::int64_t to, Sum sum, const Work& work) {
  strip_length block(work.hints.grain());
  while (i < to) {
    if (raised(top_of(c)) && sukima_poll_in_clone(top_of(c)) != 0)
      return work.in_parallel(parallel_context{c}, i, to, std::move(sum));
    const std::int64_t stop = block.end(i, to - i);
    work.step(below_loop(c), sum, i, stop);
    block.learn(stop - i);
    i = stop;
  }
  return sum;
}

/// Runs the iterations [i, to) of a clone's loop.
/// \tparam Polls  whether a short loop polls before its first iteration
template <bool Polls, clone_context_type C, class Place, class End, class Sum, class Work>
[[gnu::always_inline]] inline Sum run_clone(C c, Place i, End to, Sum sum, const Work& work) {
  if constexpr (Work::in_blocks) {
    return detail::run_clone_in_blocks(c, i, to, std::move(sum), work);
  } else {
    if (!detail::any_left(i, to)) return sum;
    if constexpr (Polls)
      if (raised(top_of(c))) [[unlikely]]
        return detail::run_raised_clone(in_long_loop(c), i, to, std::move(sum),
                                        detail::passed_rarely<Work>(work));
    if constexpr (std::is_integral_v<End> || few_elements<Place>) {
      if constexpr (std::is_integral_v<End>)
        if (to - i > short_loop) [[unlikely]]
          return detail::run_long_clone(in_long_loop(c), i, to, std::move(sum),
                                        detail::passed_rarely<Work>(work));
      for (; detail::any_left(i, to); ++i) work.step(below_loop(c), sum, i);
    } else {
      // The number of elements is unknown: the first ones run here, as those of a short loop.
      int left = short_loop;
      do {
        if (left-- == 0) [[unlikely]]
          return detail::run_long_clone(in_long_loop(c), i, to, std::move(sum),
                                        detail::passed_rarely<Work>(work));
        work.step(below_loop(c), sum, i);
        ++i;
      } while (detail::any_left(i, to));
    }
    return sum;
  }
}

/// Runs a loop in parallel code whose body also exists as a clone. Not inlined, like `fork2_tracked`.
template <class Tag, class Sum, class Work, class Place, class End>
[[gnu::noinline]] Sum loop_tracked(tracked_context here, const Work& work, Place from, End to, Sum sum) {
  return detail::parallel_or_clone<Tag>(
      here, [&](auto c) { return work.in_parallel(c, from, detail::end_from(from, to), std::move(sum)); },
      [&] {
        // Polls, and so do its bodies: see in_long_loop.
        const auto c = clone_at<false, 1>(here.top);
        return detail::run_clone<true>(c, from, to, std::move(sum), work);
      });
}
/// Runs a loop in the way that suits its context.
template <class Tag, context_type C, class Sum, class Work, class Place, class End>
[[gnu::always_inline]] inline Sum loop_in(C c, Work work, Place from, End to, Sum sum) {
  if constexpr (clone_context_type<C>)
    return detail::run_clone<polls<C>>(c, from, to, std::move(sum), work);
  else
    return detail::loop_tracked<Tag>(tracked(c), work, from, to, std::move(sum));
}

/// Keeps the choice points that are older than a clone closed during its lifetime.
class closed_older {
 public:
  explicit closed_older(char* top) noexcept : top_(top), older_(sukima_close_older(top)) {}
  closed_older(const closed_older&) = delete;
  closed_older& operator=(const closed_older&) = delete;
  ~closed_older() { sukima_reopen_older(top_, older_); }

 private:
  char* top_;
  char* older_;
};

/// Whether a body is a generic one for these elements.
template <class Body, class List, class... Before> inline constexpr bool body_is_generic = false;
template <class Body, class... Arguments, class... Before>
inline constexpr bool body_is_generic<Body, argument_list<Arguments...>, Before...> =
    generic_callable<Body, Before..., Arguments...>;
/// Whether a loop over this source with this body may run as a clone.
/// \tparam Before  types of the arguments before the element
template <class C, class Source, class Body, class... Before>
concept clonable_loop = !checks::on && !std::is_same_v<C, parallel_context> &&
                        body_is_generic<Body&, typename Source::arguments, Before...>;

/// The context for the body of a loop that has no clone: a plain one unless the body may be generic.
template <class Body, context_type C> auto context_for(C c) noexcept {
  if constexpr (may_be_generic<Body>)
    return forking_context(c);
  else
    return static_cast<context>(c);
}

/// The type that identifies the place of a loop. The runtime measures each place separately.
template <class Source, class... Callables> struct loop_place {};

}  // namespace SUKIMA_DETAIL_NAMESPACE

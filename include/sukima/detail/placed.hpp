// SPDX-License-Identifier: Apache-2.0
// Hints about the place of a computation: the data in a frame, and the request for a place.
//
// Only `on` writes a `placed` object, in its own frame, and links it to the innermost one of the fiber.
// Frames are in the order of the choice stack. A choice point belongs to the youngest of these objects whose
// `top` is not above it. So calls, forks and loops inherit their place without passing it on.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/fork.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/place.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace sukima::detail {

/// The address of such an object identifies a hint in the source. The runtime measures the branches of each
/// hint.
struct alignas(16) hint_code {};
/// \tparam Types  the types of the hint's place and of what it calls
template <class... Types> inline constexpr hint_code code_of_hint{};

/// The hint of one frame.
struct placed {
  sukima_place place;
  std::uint32_t number;  ///< among its fiber's frames with a hint
  char* top;  ///< of its context: choice points from here on inherit the place
  placed* outer;  ///< the next outer frame with a hint in this segment of the fiber; null: none
  const hint_code* code;
  std::uint64_t since;  ///< tick at which it was reported (runtime/place/hints.hpp); 0: it was not
};

/// Links the frame's hint, whose `place` is set. \returns false: the frame has that place already, or there
/// is no memory for the runtime's table of places; nothing is linked then
bool begin_placed(placed& frame, char* top, const hint_code& code) noexcept;
/// Unlinks the frame's hint, on any worker.
void end_placed(placed& frame) noexcept;

/// The argument that names a place: a place, or a function that returns one.
template <class P>
concept place_source = std::convertible_to<P, place> || requires(P& p) {
  { p() } -> std::convertible_to<place>;
};
/// The place that the argument of a hint names. An argument that names none gives no place, so that the
/// sentence of the function that refuses it is the only error.
template <class P> sukima_place requested_place(P& where) {
  if constexpr (std::convertible_to<P, place>)
    return static_cast<place>(where).number();
  else if constexpr (place_source<P>)
    return static_cast<place>(where()).number();
  else
    return SUKIMA_PLACE_ANY;
}

/// A hint that lasts as long as this object, which is in the frame of `on`. The place is not requested if
/// hints are switched off.
class placed_scope {
 public:
  template <class P> [[gnu::always_inline]] placed_scope(char* top, P& where, const hint_code& code) {
    if (!gate_of(top).follows_hints) return;
    frame_.place = detail::requested_place(where);
    linked_ = begin_placed(frame_, top, code);
  }
  placed_scope(const placed_scope&) = delete;
  placed_scope& operator=(const placed_scope&) = delete;
  [[gnu::always_inline]] ~placed_scope() {
    if (linked_) end_placed(frame_);
  }

 private:
  placed frame_;
  bool linked_ = false;
};

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Calls f with a hint. A sequential clone is too short for a hint, so there this is a plain call.
template <context_type C, class P, class F>
[[gnu::always_inline]] inline decltype(auto) call_on(C c, P& where, F&& f) {
  if constexpr (clone_context_type<C>) {
    return detail::call(c, std::forward<F>(f));
  } else {
    const placed_scope hint(c.top, where, code_of_hint<P, std::remove_cvref_t<F>>);
    return detail::call(c, std::forward<F>(f));
  }
}

/// A branch of a fork with a hint: the runtime asks for the place when the branch is given away.
/// \tparam F a reference, or the callable itself
template <class P, class F> struct placed_branch : with_place {
  P where;
  F f;
  placed_branch(P w, F&& callee) : where(std::move(w)), f(std::forward<F>(callee)) {}
  sukima_place place() { return detail::requested_place(where); }
  result_of<F&&> operator()(context c) && { return detail::call_on(c, where, std::forward<F>(f)); }
};
template <class P, class F>
  requires generic_callable<F&&>
struct placed_branch<P, F> : with_place {
  P where;
  F f;
  placed_branch(P w, F&& callee) : where(std::move(w)), f(std::forward<F>(callee)) {}
  sukima_place place() { return detail::requested_place(where); }
  template <context_type C>
    requires std::is_invocable_v<F&&, C>
  result_of<F&&> operator()(C c) && {
    return detail::call_on(c, where, std::forward<F>(f));
  }
};

/// fork2 with a hint for the second branch, and perhaps one for the first.
template <context_type C, class First, class Second, class... Hints>
inline auto fork2_placed(C c, First&& first, Second&& second, Hints... hints) {
  auto hint = detail::pick_place(hints...);
  static_assert(place_source<decltype(hint.where)>,
                "at a fork sukima::on takes a place, or a function without arguments that returns one");
  using kept_place = decltype(hint.first);
  placed_branch<decltype(hint.where), std::decay_t<Second>> given(
      std::move(hint.where), std::decay_t<Second>(std::forward<Second>(second)));
  if constexpr (std::is_same_v<kept_place, no_hint>)
    return detail::fork2_in(c, std::forward<First>(first), std::move(given), detail::pick_guard(hints...));
  else
    return detail::fork2_in(
        c, placed_branch<kept_place, First&&>(std::move(hint.first), std::forward<First>(first)),
        std::move(given), detail::pick_guard(hints...));
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

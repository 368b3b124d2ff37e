// SPDX-License-Identifier: Apache-2.0
// The implementation of fork2: the choice point of a fork, its two branches, and the fork of a sequential
// clone.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/clone.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/detail/task.hpp>
#include <sukima/detail/travel.hpp>

#include <memory>
#include <utility>
#include <variant>

namespace sukima {
/// \addtogroup forks
/// @{

/// The results of fork2. It is an aggregate instead of a std::pair, whose constructor g++ counts when it
/// decides about inlining.
/// A std::monostate takes no space; other empty classes do, because g++ 12 fails with an internal error
/// otherwise.
template <class A, class B> struct forked {
  A first;
  B second;
};
template <class A> struct forked<A, std::monostate> {
  A first;
  [[no_unique_address]] std::monostate second;
};
template <class B> struct forked<std::monostate, B> {
  [[no_unique_address]] std::monostate first;
  B second;
};
template <> struct forked<std::monostate, std::monostate> {
  [[no_unique_address]] std::monostate first;
  [[no_unique_address]] std::monostate second;
};

/// @}
}  // namespace sukima

namespace SUKIMA_DETAIL_NAMESPACE {

/// The second branch in a fork's choice point: the closure itself, or the address of an over-aligned one.
template <class Second> struct captured {
  static constexpr bool by_address = alignof(Second) > choice_point_alignment;
  std::conditional_t<by_address, Second*, Second> value;
  explicit captured(Second& second)
      : value([&]() -> decltype(auto) {
          if constexpr (by_address)
            return &second;
          else
            return std::move(second);
        }()) {}
  Second& get() noexcept {
    if constexpr (by_address)
      return *value;
    else
      return value;
  }
};

template <class Second, class Guard, class Depth>
struct alignas(choice_point_alignment) fork_point : choice_point {
  captured<Second> second;
  [[no_unique_address]] Guard guard;
  [[no_unique_address]] Depth depth_of_second;
};

/// \tparam C the context of the fork
template <class Second, class Guard, class C = context> struct fork_operations {
  using point_type = fork_point<Second, Guard, kept_depth<C>>;
  using result = result_of<Second&&>;
  static constexpr bool has_guard = !std::is_same_v<Guard, no_hint>;

  struct fork_task : task {
    result_slot<stored<result>> value;
    Second* second;
    [[no_unique_address]] kept_depth<C> depth_of_second;
  };

  static bool open(const choice_point* r) noexcept { return !was_split(r); }
  static task* split(choice_point* point) {
    Second* const second = &static_cast<point_type*>(point)->second.get();
    std::uint16_t place = inherited_place;
    if constexpr (std::is_base_of_v<with_place, Second>)
      if (gate_of(point).follows_hints) place = second->place();
    auto* t = new fork_task;
    t->second = second;
    t->place = place;
    t->depth_of_second = static_cast<point_type*>(point)->depth_of_second;
    t->run = [](task* self, context c) {
      auto* me = static_cast<fork_task*>(self);
      me->value.fill([&]() -> decltype(auto) {
        return me->depth_of_second.run_piece(
            c, [&](auto at) -> decltype(auto) { return detail::call(at, std::move(*me->second)); });
      });
    };
    t->destroy = delete_task<fork_task>;
    link_child(point, t);
    return t;
  }
  static void reclaim(choice_point* r, task* t) noexcept {
    unlink_child(r, t);
    t->destroy(t);
  }
  static double guard(choice_point* r) {
    if constexpr (has_guard)
      return static_cast<point_type*>(r)->guard();
    else
      return 1.0;
  }
  static void destroy(choice_point* r) noexcept { std::destroy_at(&static_cast<point_type*>(r)->second); }

  /// Another node receives the captures. They also stay here while that node works.
  template <class F>
  static constexpr travel_point travel{
      &travels<F>::form,
      [](const task& t, std::vector<std::byte>& to) {
        travels<F>::put(*static_cast<const fork_task&>(t).second, to);
      },
      [](task& t, std::span<const std::byte> from) {
        static_cast<fork_task&>(t).value.fill([&] { return travels<F>::get(from); });
      },
  };
  static constexpr const travel_point* travel_or_null() noexcept {
    if constexpr (travels<Second>::possible)
      return &travel<Second>;
    else
      return nullptr;
  }

  /// The kind, in checked mode, of a choice point whose second branch runs here; nothing can be split off
  /// from it. So that branch has another context than the function that forked, and the use of an outer
  /// context is detected in the branch, too.
  static constexpr choice_point_kind passed_kind = closed_kind(sizeof(point_type));
  static constexpr choice_point_kind kind{
      sizeof(point_type),
      open,
      split,
      reclaim,
      nullptr,
      nullptr,
      has_guard ? guard : nullptr,
      std::is_trivially_destructible_v<captured<Second>> ? nullptr : destroy,
      nullptr,
      nullptr,
      false,
      false,
      travel_or_null(),
  };
  [[gnu::always_inline]] static Second take(point_type* r) {
    if constexpr (std::is_trivially_destructible_v<captured<Second>>) {
      return std::move(r->second.get());
    } else {
      struct end_captures {  // also if the move throws
        point_type* r;
        ~end_captures() { destroy(r); }
      } const at_end{r};
      return std::move(r->second.get());
    }
  }

  /// Runs the second branch here. Its captures are moved out of the choice point first, because the branch's
  /// own forks will use the memory of the choice point. The optimiser turns the move into loads of the
  /// captures that are still needed.
  [[gnu::always_inline]] static stored<result> run_here(C here, point_type* r) {
    Second second(take(r));
    if constexpr (checks::on) {
      r->word = reinterpret_cast<std::uintptr_t>(&passed_kind);
      here.top += sizeof(point_type);
    }
    if constexpr (std::is_void_v<result>) {
      detail::call(below(here, 0), std::move(second));
      return {};
    } else {
      return detail::call(below(here, 0), std::move(second));
    }
  }

  /// Returns the result of the second branch if the choice point may have been split.
  [[gnu::cold, gnu::noinline]] static stored<result> join(C here, point_type* r) {
    task* t = detail::join_child(r);
    if (t == nullptr) return run_here(here, r);
    struct end_child {
      point_type* r;
      task* t;
      ~end_child() {
        t->destroy(t);
        if constexpr (!std::is_trivially_destructible_v<captured<Second>>) destroy(r);
      }
    } at_end{r, t};
    return std::move(static_cast<fork_task*>(t)->value.get());
  }
};

/// Both results; nothing if both functions return nothing.
template <class A, class B>
using both = std::conditional_t<std::is_void_v<A> && std::is_void_v<B>, void, forked<stored<A>, stored<B>>>;

/// The base of a branch that wraps F: with_place if F has a hint of its own.
template <class F> using place_of_branch =
    std::conditional_t<std::is_base_of_v<with_place, std::remove_reference_t<F>>, with_place, no_hint>;
/// Wraps a branch. If the branch returns a reference, the wrapper returns the address.
template <class F> struct by_address : place_of_branch<F> {
  using result = result_of<F&&>;
  F f;
  explicit by_address(F callee) : f(std::forward<F>(callee)) {}
  std::uint16_t place() { return f.place(); }
  std::conditional_t<std::is_reference_v<result>, std::add_pointer_t<result>, result> operator()(
      context c) && {
    if constexpr (std::is_reference_v<result>) {
      auto&& found = detail::call(c, static_cast<F&&>(f));
      return std::addressof(found);
    } else {
      return detail::call(c, static_cast<F&&>(f));
    }
  }
};
template <class Result, class Kept> stored<Result> from_address(Kept& kept) {
  if constexpr (std::is_reference_v<Result>)
    return static_cast<Result>(*kept);
  else
    return std::move(kept);
}

template <class C, class First, class Second, class Guard>
both<result_of<First>, result_of<Second&&>> fork2_at(C here, First&& first, Second second, Guard guard);
template <class C, class First, class Second, class Guard>
[[gnu::always_inline]] inline both<result_of<First>, result_of<Second&&>> fork2_at(C here, First&& first,
                                                                                   Second second, Guard guard)
  requires(std::is_reference_v<result_of<First>> || std::is_reference_v<result_of<Second &&>>)
{
  auto found = detail::fork2_at(here, by_address<First&&>(std::forward<First>(first)),
                                by_address<Second>(std::move(second)), guard);
  return {detail::from_address<result_of<First>>(found.first),
          detail::from_address<result_of<Second&&>>(found.second)};
}

template <class C, class First, class Second, class Guard>
[[gnu::always_inline]] inline both<result_of<First>, result_of<Second&&>> fork2_at(C here, First&& first,
                                                                                   Second second,
                                                                                   Guard guard) {
  using operations = fork_operations<Second, Guard, C>;
  using point_type = typename operations::point_type;
  using result_a = result_of<First>;
  using result_b = result_of<Second&&>;
  C deeper = here;  // not in a function, or g++ no longer inlines the branches
  deeper.top += sizeof(point_type);
  if constexpr (std::is_same_v<C, tracked_context>) ++deeper.depth;
  auto* pending =
      ::new (static_cast<void*>(here.top)) point_type{{reinterpret_cast<std::uintptr_t>(&operations::kind)},
                                                      captured<Second>(second),
                                                      guard,
                                                      kept_depth<C>(deeper)};
  detail::poll(pending);
  if constexpr (std::is_void_v<result_a>) {
    try {
      detail::call(deeper, std::forward<First>(first));
    } catch (...) {
      detail::leave_by_exception(pending);
    }
    if (!untouched(pending)) [[unlikely]] {
      if constexpr (std::is_void_v<result_b>) {
        operations::join(here, pending);
        return;
      } else {
        return {std::monostate{}, operations::join(here, pending)};
      }
    }
    if constexpr (std::is_void_v<result_b>)
      operations::run_here(here, pending);
    else
      return {std::monostate{}, operations::run_here(here, pending)};
  } else {
    // Trivially copyable: a copy that throws would leave the pending branch unjoined.
    if constexpr (std::is_trivially_default_constructible_v<stored<result_a>> &&
                  std::is_trivially_copyable_v<stored<result_a>> &&
                  std::is_copy_constructible_v<stored<result_a>> &&
                  std::is_assignable_v<stored<result_a>&, result_a>) {
      stored<result_a> a;
      try {
        a = detail::call(deeper, std::forward<First>(first));
      } catch (...) {
        detail::leave_by_exception(pending);
      }
      if (!detail::untouched(pending)) [[unlikely]]
        return {a, operations::join(here, pending)};
      return {a, operations::run_here(here, pending)};
    } else {
      auto a = [&]() -> stored<result_a> {
        try {
          return detail::call(deeper, std::forward<First>(first));
        } catch (...) {
          detail::leave_by_exception(pending);
        }
      }();
      // The second result comes first, because a move that throws must not leave a child unjoined.
      stored<result_b> b =
          detail::untouched(pending) ? operations::run_here(here, pending) : operations::join(here, pending);
      return {std::move(a), std::move(b)};
    }
  }
}

/// The type that identifies the place of a fork. The runtime measures each place separately.
template <class First, class Second> struct fork_place {};

/// Calls both branches, the first one first.
template <class C, class First, class Second>
[[gnu::always_inline]] inline both<result_of<First&&>, result_of<Second&&>> call_both(C here, First&& first,
                                                                                      Second&& second) {
  using result_a = result_of<First&&>;
  using result_b = result_of<Second&&>;
  if constexpr (std::is_void_v<result_a> && std::is_void_v<result_b>) {
    detail::call(here, std::forward<First>(first));
    detail::call(here, std::forward<Second>(second));
  } else if constexpr (std::is_void_v<result_a>) {
    detail::call(here, std::forward<First>(first));
    return {std::monostate{}, detail::call(here, std::forward<Second>(second))};
  } else if constexpr (std::is_void_v<result_b>) {
    stored<result_a> a = detail::call(here, std::forward<First>(first));
    detail::call(here, std::forward<Second>(second));
    return {std::move(a), std::monostate{}};
  } else {
    stored<result_a> a = detail::call(here, std::forward<First>(first));
    return {std::move(a), detail::call(here, std::forward<Second>(second))};
  }
}

/// A fork of a clone whose poll found a request: another worker wants work, or the fiber must leave. Captures
/// are passed by value if that makes no visible difference, so the clone keeps them in registers.
template <clone_context_type C, class First, class Second, class Guard>
[[gnu::cold, gnu::noinline]] both<result_of<First&&>, result_of<Second&&>> fork2_when_raised(C here,
                                                                                             First first,
                                                                                             Second second,
                                                                                             Guard guard) {
  if (sukima_poll_in_clone(top_of(here)) != 0)
    return detail::fork2_at(parallel_context{here}, std::forward<First>(first), std::forward<Second>(second),
                            guard);
  return detail::call_both(here, std::forward<First>(first), std::forward<Second>(second));
}

/// The fork of a clone: two calls.
template <clone_context_type C, class First, class Second, class Guard>
[[gnu::always_inline]] inline both<result_of<First&&>, result_of<Second&&>> fork2_in_clone(C here,
                                                                                           First&& first,
                                                                                           Second&& second,
                                                                                           Guard guard) {
  if constexpr (polls<C>)
    if (raised(top_of(here))) [[unlikely]] {
      return detail::fork2_when_raised<C, by_value_or_reference<First>, by_value_or_reference<Second>>(
          here, detail::passed_rarely<by_value_or_reference<First>>(std::forward<First>(first)),
          detail::passed_rarely<by_value_or_reference<Second>>(std::forward<Second>(second)), guard);
    }
  return detail::call_both(below_fork(here), std::forward<First>(first), std::forward<Second>(second));
}

/// A fork whose branches exist as clones, too. Not inlined, so that its callers stay small.
template <class First, class Second, class Guard>
[[gnu::noinline]] both<result_of<First>, result_of<Second&&>> fork2_tracked(tracked_context here,
                                                                            First&& first, Second second,
                                                                            Guard guard) {
  return detail::parallel_or_clone<fork_place<First, Second>>(
      here, [&](auto c) { return detail::fork2_at(c, std::forward<First>(first), std::move(second), guard); },
      [&] {
        return detail::fork2_in_clone(clone_at<false, 0>(here.top), std::forward<First>(first),
                                      std::move(second), guard);
      });
}

/// Whether each branch exists as a clone or needs no context, and at least one of them exists as a clone.
template <class First, class Second>
concept clonable_fork = !checks::on && fits_clone<First> && fits_clone<Second&&> &&
                        (generic_callable<First> || generic_callable<Second&&>) &&
                        !std::is_reference_v<result_of<First>> && !std::is_reference_v<result_of<Second&&>>;

/// Runs a fork in the way that suits its context and its branches.
template <context_type C, class First, class Second, class Guard>
[[gnu::always_inline]] inline both<result_of<First>, result_of<Second&&>> fork2_in(C here, First&& first,
                                                                                   Second&& second,
                                                                                   Guard guard)
  requires(!std::is_reference_v<Second>)
{
  if constexpr (!clonable_fork<First, Second>)
    return detail::fork2_at<decltype(forking_context(here)), First, Second>(
        forking_context(here), std::forward<First>(first), std::forward<Second>(second), guard);
  else if constexpr (std::is_same_v<C, parallel_context>)
    return detail::fork2_at<C, First, Second>(here, std::forward<First>(first), std::forward<Second>(second),
                                              guard);
  else if constexpr (clone_context_type<C>)
    return detail::fork2_in_clone(here, std::forward<First>(first), std::forward<Second>(second), guard);
  else
    return detail::fork2_tracked<First, Second>(tracked(here), std::forward<First>(first),
                                                std::forward<Second>(second), guard);
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

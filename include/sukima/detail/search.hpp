// SPDX-License-Identifier: Apache-2.0
// The implementation of search: the loop that applies and undoes steps, in parallel and in sequential clones.
#pragma once

#include <sukima/detail/clone_loop.hpp>
#include <sukima/detail/successors.hpp>
#include <sukima/errors.hpp>
#include <sukima/loop.hpp>

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace sukima::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_replay() {
  throw replay_error(
      "sukima: apply refused a choice, when a search was replayed, that it had accepted before; let apply "
      "depend on the workspace and the choice alone, and prune in the body");
}

/// Refuses a search without the function that combines two results.
template <class Body> constexpr void require_search_combine() noexcept {
  static_assert(sizeof(Body) == 0,
                "sukima::search needs a function that combines two results after the body, as in "
                "sukima::search(workspace, choices, apply, undo, body, std::plus{})");
}

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// Refuses arguments of a search that do not fit each other. \returns true if they fit
/// \tparam Choice  what the iterators of the choices refer to. The steps and the body get it as an lvalue
template <class T, class Workspace, class Choice, class Apply, class Undo, class Body, class Combine>
consteval bool require_search_arguments() noexcept {
  constexpr bool steps = std::is_invocable_v<Apply&, Workspace&, Choice> &&
                         std::is_invocable_v<Apply&, Workspace&, Choice&> &&
                         std::is_invocable_v<Undo&, Workspace&, Choice&>;
  static_assert(
      steps,
      "sukima::search calls apply(workspace, choice) and undo(workspace, choice): let both functions "
      "take these two arguments, the choice by value or by const reference");
  constexpr bool deeper = callable_with<Body&, Workspace&, Choice&>;
  static_assert(deeper,
                "sukima::search calls body(context, workspace, choice) or body(workspace, choice): let the "
                "body take these arguments");
  if constexpr (deeper) {
    constexpr bool combined = combines<T, Combine, Body, argument_list<Workspace&, Choice&>>;
    static_assert(
        combined,
        "after the body sukima::search takes init, then combine, then hints, as in search(workspace, "
        "choices, apply, undo, body, 0, std::plus{}); body returns what combine takes as its second "
        "argument and what a value of init's type can be made from, and combine joins two such "
        "values, too");
    return steps && combined;
  } else {
    return false;
  }
}

/// Whether `apply` reports if a choice is possible.
template <class Choice, class Apply, class Workspace> inline constexpr bool may_refuse =
    std::is_convertible_v<std::invoke_result_t<Apply&, Workspace&, Choice>, bool>;
/// Applies a choice. \returns false if `apply` refused it
template <class Choice, class Apply, class Workspace>
[[gnu::always_inline]] inline bool is_applied(Apply& apply, Workspace& workspace, Choice& choice) {
  if constexpr (may_refuse<Choice, Apply, Workspace>) {
    return apply(workspace, choice);
  } else {
    apply(workspace, choice);
    return true;
  }
}
/// Undoes a step whose body was left by an exception. The steps contain the code for the normal end. This
/// code is kept out of them, because otherwise clang takes 37 more instructions a node.
/// \tparam Owner  its undo_left(left) undoes the step
template <class Owner, class Left> struct undoing {
  Owner& owner;
  Left left;
  bool pending = true;
  ~undoing() noexcept(noexcept(owner.undo_left(left))) {
    if (pending) owner.undo_left(left);
  }
};

/// The largest number of choices in a row that a search may refuse between two polls.
inline constexpr int refusals_between_polls = 16;

/// Runs the iterations of a search that may refuse choices. Polls before the first one, after each one that
/// was accepted, and after some that were refused. A refused choice takes little time, and without a poll
/// before it the compiler keeps the values that `step` tests in registers. (With g++ a node of nqueens-array
/// takes 10 % fewer instructions, with clang 23 %.)
/// \param step step(sum, context, place) returns false if it refused the choice and did nothing else
template <class Point, context_type C, class Sum, class Step>
[[gnu::always_inline]] inline Sum run_each_accepted(Point* r, C below, Sum sum, const Step& step) {
  using form = loop_form<typename Point::place>;
  auto i = form::first(r);
  do {
    form::begin(r, i);
    detail::poll(r);
    for (int left = refusals_between_polls;; form::begin(r, i)) {
      const bool accepted = step(sum, below, i);
      ++i;
      if (accepted || --left == 0 || !form::more(r, i)) break;
    }
  } while (form::more(r, i) || (detail::was_split(r) && detail::reclaim_child(r)));
  return sum;
}

/// The frame of a search's loop. When a fiber backtracks, undo and redo change the workspace of that fiber's
/// loop, so each loop has a frame of its own.
///
/// Callables that may be copied without a visible difference are stored in the frame, once. The loop calls
/// the frame's copies, and the caller's own are never stored. (With the address in the frame and one more
/// copy for the loop, a node of nqueens-array took 21 more instructions with g++, and 10 with clang.)
template <class Workspace, class Source, class Apply, class Undo, class Body, class Combine, class Result,
          class Hints, class C>
struct search_frame : Hints {
  Workspace& workspace;
  [[no_unique_address]] Source source;
  [[no_unique_address]] local_callable<Apply> apply;
  [[no_unique_address]] local_callable<Undo> undo_choice;
  [[no_unique_address]] local_callable<Body> body;
  [[no_unique_address]] local_callable<Combine> combine;
  [[no_unique_address]] kept_depth<C> depth;
  /// Whether the step in progress is applied: false while the fiber backtracks over it, and after its replay
  /// has failed.
  bool applied = true;

  search_frame(C here, Hints hints, Workspace& w, Source s, Apply& a, Undo& u, Body& b, Combine& c)
      : Hints(hints), workspace(w), source(s), apply(a), undo_choice(u), body(b), combine(c), depth(here) {}
  search_frame(const search_frame& outer, Workspace& w)
      : Hints(outer),
        workspace(w),
        source(outer.source),
        apply(outer.apply),
        undo_choice(outer.undo_choice),
        body(outer.body),
        combine(outer.combine),
        depth(outer.depth) {}

  /// The frame of a search_task is made at the split, because the owner's callables may change while the task
  /// runs.
  using place = place_of<Source>;
  struct search_task : piece_task<place> {
    Workspace workspace;  ///< the only copy that is ever made
    search_frame own;
    std::optional<Result> value;
    explicit search_task(const search_frame& outer) : workspace(outer.workspace), own(outer, workspace) {}
  };

  void undo(place i) {
    applied = false;
    undo_choice.get()(workspace, source[i]);
  }
  void redo(place i) {
    auto&& choice = source[i];
    if (!detail::is_applied<decltype(choice)>(apply.get(), workspace, choice)) refuse_replay();
    applied = true;
  }
  /// After a failed replay, steps that were not applied again are not undone.
  template <class Choice>
  [[gnu::cold, gnu::noinline]] void undo_left(Choice& choice) noexcept(noexcept(undo_choice.get()(workspace,
                                                                                                  choice))) {
    if (applied) undo_choice.get()(workspace, choice);
  }
  /// The place of a choice that may be refused. If its address were kept, the choice would be stored at each
  /// try.
  template <class Choice> struct left_at {
    place i;
  };
  template <class Choice>
  [[gnu::cold, gnu::noinline]] void undo_left(left_at<Choice>& at) noexcept(
      noexcept(undo_choice.get()(workspace, std::declval<Choice&>()))) {
    if (applied) undo_choice.get()(workspace, source[at.i]);
  }

  piece_task<place>* make_task() {
    auto* t = new search_task(*this);
    t->run = [](task* self, context c) {
      auto* me = static_cast<search_task*>(self);
      me->value = me->own.depth.run_piece(c, [me](auto at) {
        return me->own.loop(at, me->from, me->to, std::optional<Result>(),
                            fold_into_nothing<Result, Combine>{me->own.combine.get()});
      });
    };
    t->destroy = delete_task<search_task>;
    return t;
  }
  [[gnu::always_inline]] Result run(C c, place from, place to, Result init) {
    return loop(c, from, to, std::move(init), fold_into<Result, Combine>{combine.get()});
  }

  template <context_type At, class Sum, class Fold>
  [[gnu::always_inline]] Sum loop(At c, place from, place to, Sum sum, Fold fold) {
    using choice_type = decltype(source[from])&&;
    constexpr bool refuses = may_refuse<choice_type, Apply, Workspace>;
    const auto step = [this, fold](Sum& s, At below, place i) {
      auto&& choice = source[i];
      if (!detail::is_applied<choice_type>(apply.get(), workspace, choice)) return false;
      // Undo actions run innermost first: this one after all those of the body.
      using left = std::conditional_t<refuses, left_at<choice_type>, decltype((choice))>;
      undoing<search_frame, left> at_end{*this, [&]() -> left {
                                           if constexpr (refuses)
                                             return {i};
                                           else
                                             return choice;
                                         }()};
      fold(s, detail::call(below, body.get(), workspace, choice));
      at_end.pending = false;
      undo_choice.get()(workspace, choice);
      return true;
    };
    return detail::run_loop(
        c, *this, from, to, std::move(sum),
        [&step](auto* r, At below, Sum s) {
          if constexpr (refuses)
            return detail::run_each_accepted(r, below, std::move(s), step);
          else
            return detail::run_each(r, below, std::move(s), step);
        },
        [fold](Sum& into, task* t) {
          if (auto& value = static_cast<search_task*>(t)->value) fold(into, std::move(*value));
        });
  }
};

/// The steps of a search, for its parallel version and for its clone.
template <class Workspace, class Source, class Apply, class Undo, class Body, class Combine, class T,
          class Hints>
struct search_work {
  using place = place_of<Source>;
  static constexpr bool in_blocks = false;
  Workspace& workspace;
  [[no_unique_address]] Source source;
  [[no_unique_address]] local_callable<Apply> apply;
  [[no_unique_address]] local_callable<Undo> undo_choice;
  [[no_unique_address]] local_callable<Body> body;
  [[no_unique_address]] local_callable<Combine> combine;
  [[no_unique_address]] Hints hints;

  template <context_type C>
  [[gnu::always_inline]] T in_parallel(C c, place from, place to, T sum) const {
    search_frame<Workspace, Source, Apply, Undo, Body, Combine, T, Hints, C> frame(
        c, hints, workspace, source, apply.get(), undo_choice.get(), body.get(), combine.get());
    return frame.run(c, from, to, std::move(sum));
  }
  template <clone_context_type C> [[gnu::always_inline]] void step(C c, T& sum, place i) const {
    auto&& choice = source[i];
    if (!detail::is_applied<decltype(choice)>(apply.get(), workspace, choice)) return;
    // There is no guard object: with one, a node of nqueens-array takes a tenth more time with g++. As with a
    // guard object, an undo that throws here ends the program.
    try {
      sum = combine.get()(std::move(sum), detail::call(c, body.get(), workspace, choice));
    } catch (...) {
      [&]() noexcept { undo_choice.get()(workspace, choice); }();
      throw;
    }
    undo_choice.get()(workspace, choice);
  }
};

/// A clone's search below parallel code or below a clone without searches. Until it ends, no older choices
/// are given away, because no worker can backtrack over the steps of the clone.
template <unsigned Unpolled, class Place, class End, class T, class Work>
[[gnu::always_inline]] inline T search_in_clone(clone_mark<false, Unpolled>* c, Place from, End to, T init,
                                                const Work& work) {
  if (!detail::any_left(from, to)) return init;
  const closed_older closed(top_of(c));
  return detail::run_clone < Unpolled ==
         0 > (clone_at<true, Unpolled>(top_of(c)), from, to, std::move(init), work);
}
template <unsigned Unpolled, class Place, class End, class T, class Work>
[[gnu::always_inline]] inline T search_in_clone(clone_mark<true, Unpolled>* c, Place from, End to, T init,
                                                const Work& work) {
  return detail::run_clone < Unpolled == 0 > (c, from, to, std::move(init), work);
}
/// Runs a search in parallel code whose body also exists as a clone. Not inlined, like `fork2_tracked`.
template <class Tag, class T, class Work, class Place, class End>
[[gnu::noinline]] T search_tracked(tracked_context here, const Work& work, Place from, End to, T init) {
  return detail::parallel_or_clone<Tag>(
      here, [&](auto c) { return work.in_parallel(c, from, detail::end_from(from, to), std::move(init)); },
      [&] { return detail::search_in_clone(clone_at<false, 0>(here.top), from, to, std::move(init), work); });
}

/// A search whose result does not depend on the splits (sukima/detail/ordered_search.hpp).
template <context_type C, class Workspace, class Source, class Apply, class Undo, class Body, class T,
          class Combine, class... Hints>
T search_in_fixed_order(C c, Workspace& workspace, const Source& source, place_of<Source> from,
                        place_of<Source> to, Apply& apply, Undo& undo, Body& body, T init, Combine& combine,
                        Hints... hints);

template <context_type C, class Workspace, class Source, class End, class Apply, class Undo, class Body,
          class T, class Combine, class... Hints>
[[gnu::always_inline]] inline T search_between(C c, Workspace& workspace, Source source,
                                               place_of<Source> from, End to, Apply& apply, Undo& undo,
                                               Body& body, T init, Combine& combine, Hints... hints) {
  if constexpr (!exactly_associative<T, std::remove_const_t<Combine>>) {
    if (uses_fixed_order()) [[unlikely]]
      return detail::search_in_fixed_order(c, workspace, source, from, detail::end_from(from, to), apply,
                                           undo, body, std::move(init), combine, hints...);
  }
  auto chosen = detail::pick_hints(hints...);
  if constexpr (clonable_loop<C, Source, Body, Workspace&>) {
    const search_work<Workspace, Source, Apply, Undo, Body, Combine, T, decltype(chosen)> work{
        workspace,
        source,
        local_callable<Apply>(apply),
        local_callable<Undo>(undo),
        local_callable<Body>(body),
        local_callable<Combine>(combine),
        chosen};
    if constexpr (clone_context_type<C>)
      return detail::search_in_clone(c, from, to, std::move(init), work);
    else
      return detail::search_tracked<loop_place<Source, Body, Apply, Undo>>(tracked(c), work, from, to,
                                                                           std::move(init));
  } else {
    const auto here = context_for<Body>(c);
    search_frame<Workspace, Source, Apply, Undo, Body, Combine, T, decltype(chosen),
                 std::remove_const_t<decltype(here)>>
        frame(here, chosen, workspace, source, apply, undo, body, combine);
    return frame.run(here, from, detail::end_from(from, to), std::move(init));
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

#include <sukima/detail/ordered_search.hpp>

// SPDX-License-Identifier: Apache-2.0
// Search over one workspace per worker: apply a choice, go deeper, undo it.
#pragma once

#include <sukima/cancel.hpp>
#include <sukima/detail/loop.hpp>
#include <sukima/loop.hpp>

#include <mutex>
#include <optional>

namespace sukima::detail {

/// What a search's loop shares with the pieces that were split off from it. The undo and redo of a fiber
/// that backtracks work on the workspace that this fiber's loop runs on, so each loop has a frame of its own.
template <class Workspace, class Source, class Apply, class Undo, class Body, class Combine, class Result,
          class Hints>
struct search_frame : Hints {
  Workspace& workspace;
  Source source;
  Apply& apply;
  Undo& undo_choice;
  Body& body;
  Combine& combine;

  search_frame(Hints hints, Workspace& w, Source s, Apply& a, Undo& u, Body& b, Combine& c)
      : Hints(hints), workspace(w), source(s), apply(a), undo_choice(u), body(b), combine(c) {}

  struct search_task : loop_task {
    Workspace workspace;  ///< the only copy that is ever made
    std::optional<Result> value;
    explicit search_task(const Workspace& w) : workspace(w) {}
  };

  void undo(std::int64_t i) { undo_choice(workspace, source[i]); }
  void redo(std::int64_t i) { apply(workspace, source[i]); }

  loop_task* make_task() {
    auto* t = new search_task(workspace);
    t->run = [](task* self, context c) {
      auto* me = static_cast<search_task*>(self);
      auto* outer = static_cast<search_frame*>(me->frame);
      search_frame mine(*outer, me->workspace, outer->source, outer->apply, outer->undo_choice, outer->body,
                        outer->combine);
      me->value = mine.loop(c, me->from, me->to, std::optional<Result>(),
                            fold_into_nothing<Result, Combine>{outer->combine});
    };
    t->destroy = delete_task<search_task>;
    return t;
  }

  template <class Sum, class Fold>
  [[gnu::always_inline]] Sum loop(context c, std::int64_t from, std::int64_t to, Sum sum, Fold fold) {
    Workspace* const place = &workspace;
    const local_callable<Apply> do_it(apply);
    const local_callable<Undo> undo_it(undo_choice);
    const local_callable<Body> go_on(body);
    const auto step = [place, do_it, undo_it, go_on, fold, choices = source](Sum& s, context below,
                                                                             std::int64_t i) {
      auto&& choice = choices[i];
      if constexpr (std::is_convertible_v<std::invoke_result_t<Apply&, Workspace&, decltype(choice)>, bool>) {
        if (!do_it.get()(*place, choice)) return;
      } else {
        do_it.get()(*place, choice);
      }
      // Undo actions run innermost first: this one after all those of the body.
      const undoing<decltype(choice)> undo_at_end{*place, undo_it.get(), choice};
      fold(s, call(below, go_on.get(), *place, choice));
    };
    return run_loop(
        c, *this, from, to, std::move(sum),
        [&step](loop_point* r, context below, Sum s) { return run_each(r, below, std::move(s), step); },
        [fold](Sum& into, task* t) {
          if (auto& value = static_cast<search_task*>(t)->value) fold(into, std::move(*value));
        });
  }

 private:
  template <class Choice> struct undoing {
    Workspace& workspace;
    Undo& undo;
    Choice& choice;
    ~undoing() noexcept(noexcept(undo(workspace, choice))) { undo(workspace, choice); }
  };
};

}  // namespace sukima::detail

namespace sukima {

/// Tries every choice: applies it to the workspace, calls the body, undoes it; combines what the bodies
/// return.
///
/// A worker never copies its workspace on its own path. Only when another worker is idle, the fiber
/// backtracks to the oldest search that has choices left (undoing what is applied above it), copies the
/// workspace for the thief, and replays by applying the same choices again.
/// \param workspace copyable; one for each worker at a time
/// \param choices   a random-access range, alive and unchanged during the call; `std::views::iota(0, n)` for
/// the integers below n
/// \param apply     apply(workspace, choice); may return bool: false means that the choice is not possible
/// and nothing was
///                  changed. Applied to the same state it must do the same
/// \param undo      undo(workspace, choice) restores the state before `apply`. If it throws while the
///                  fiber backtracks or replays, the exception leaves at the next join of that fiber; during
///                  another exception it ends the program
/// \param body      body(workspace, choice) or body(context, workspace, choice)
/// \param init      what the results are combined with, once; need not be neutral
/// \param combine   associative; results are combined in the order of the choices
/// \throws what a callback throws; undo actions run innermost first on the way out; `aborted` as for fork2
/// \par Complexity one apply, body and undo for each choice; one workspace copy for each piece given away
template <class Workspace, std::ranges::random_access_range Choices, class Apply, class Undo, class Body,
          class T, class Combine, class... Hints>
[[gnu::always_inline]] inline T search(context c, Workspace& workspace, Choices&& choices, Apply&& apply,
                                       Undo&& undo, Body&& body, T init, Combine&& combine, Hints... hints) {
  auto first = std::ranges::begin(choices);
  using source = detail::element_source<decltype(first)>;
  auto chosen = detail::pick_hints(hints...);
  detail::search_frame<Workspace, source, std::remove_reference_t<Apply>, std::remove_reference_t<Undo>,
                       std::remove_reference_t<Body>, std::remove_reference_t<Combine>, T, decltype(chosen)>
      frame(chosen, workspace, source{first}, apply, undo, body, combine);
  return frame.loop(c, 0, static_cast<std::int64_t>(std::ranges::distance(choices)), std::move(init),
                    detail::fold_into<T, std::remove_reference_t<Combine>>{combine});
}

/// The same with the value-initialised result as `init`: as in search(c, b, b.moves(), place, remove, solve,
/// std::plus{}).
template <class Workspace, std::ranges::random_access_range Choices, class Apply, class Undo, class Body,
          class Combine>
  requires detail::callable_with<Body&, Workspace&, std::ranges::range_reference_t<Choices>>
[[gnu::always_inline]] inline auto search(context c, Workspace& workspace, Choices&& choices, Apply&& apply,
                                          Undo&& undo, Body&& body, Combine&& combine) {
  using result =
      std::remove_cvref_t<detail::result_of<Body&, Workspace&, std::ranges::range_reference_t<Choices>>>;
  return search(c, workspace, choices, apply, undo, body, result{}, combine);
}

/// The best solution so far, shared by all workers: for branch and bound.
/// \tparam Less less(a, b): a is better than b
template <class Value, class Cost, class Less = std::less<Cost>> class best_solution {
 public:
  explicit best_solution(Cost bound, Less less = {}) : bound_(bound), less_(less) {}

  /// The bound to prune by: nothing that costs as much or more is worth looking at. May be a moment old,
  /// never too good.
  Cost bound() const noexcept { return bound_.load(std::memory_order_relaxed); }
  /// Could something of this cost still be the best?
  bool promising(const Cost& cost) const { return less_(cost, bound()); }
  /// Offers a solution; keeps it if it is better than all before. \returns was it kept?
  bool offer(const Cost& cost, const Value& value) {
    if (!promising(cost)) return false;
    const std::lock_guard hold(lock_);
    if (!less_(cost, bound_.load(std::memory_order_relaxed))) return false;
    best_ = value;
    bound_.store(cost, std::memory_order_relaxed);
    return true;
  }
  /// The best one, after the search.
  const std::optional<Value>& best() const noexcept { return best_; }

 private:
  std::atomic<Cost> bound_;
  Less less_;
  std::mutex lock_;
  std::optional<Value> best_;
};

/// Receives the first solution of `search_first`; the rest is aborted.
template <class Value> class first_solution {
 public:
  /// Reports a solution and leaves the search; of several that come at the same time one is kept.
  /// \throws aborted always
  [[noreturn]] void found(Value value) {
    {
      const std::lock_guard hold(lock_);
      if (!value_) value_.emplace(std::move(value));
    }
    cancel_.cancel();
    throw aborted{};
  }

 private:
  template <class V, class F> friend std::optional<V> search_first(context c, F&& f);
  explicit first_solution(canceller cancel) : cancel_(std::move(cancel)) {}
  canceller cancel_;
  std::mutex lock_;
  std::optional<Value> value_;
};

/// Calls f(context, solution), which searches and calls solution.found(value) for what it finds: returns the
/// value and aborts the rest of the search; nothing if f ends without one.
/// \throws what f throws
template <class Value, class F> std::optional<Value> search_first(context c, F&& f) {
  std::optional<Value> result;
  cancellable(c, [&](context below, canceller cancel) {
    first_solution<Value> solution(std::move(cancel));
    try {
      f(below, solution);
    } catch (const aborted&) {
      result = std::move(solution.value_);
      throw;
    }
    result = std::move(solution.value_);
  });
  return result;
}

}  // namespace sukima

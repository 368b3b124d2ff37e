// SPDX-License-Identifier: Apache-2.0
// fork2 and fork: call functions that may run at the same time.
#pragma once

#include <sukima/detail/ambient.hpp>
#include <sukima/detail/hints.hpp>
#include <sukima/detail/task.hpp>

#include <cstring>
#include <tuple>

namespace sukima {

/// The results of fork2. An aggregate and not a std::pair, whose constructor g++ counts when it decides about
/// inlining.
/// A std::monostate takes no room; other empty classes do, because g++ 12 fails with an internal error
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

}  // namespace sukima

namespace sukima::detail {

/// What a fork's choice point holds of the second branch: the closure itself, or its address where it is
/// over-aligned.
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

template <class Second, class Guard> struct alignas(choice_point_alignment) fork_point : choice_point {
  captured<Second> second;
  [[no_unique_address]] Guard guard;
};

template <class Second, class Guard> struct fork_operations {
  using point_type = fork_point<Second, Guard>;
  using result = result_of<Second&&>;
  static constexpr bool has_guard = !std::is_same_v<Guard, no_hint>;

  struct fork_task : task {
    result_slot<stored<result>> value;
    Second* second;
  };

  static bool open(const choice_point* r) noexcept { return !was_split(r); }

  static task* split(choice_point* r) {
    auto* t = new fork_task;
    t->second = &static_cast<point_type*>(r)->second.get();
    t->run = [](task* self, context c) {
      auto* me = static_cast<fork_task*>(self);
      me->value.fill([&]() -> decltype(auto) { return call(c, std::move(*me->second)); });
    };
    t->destroy = delete_task<fork_task>;
    link_child(r, t);
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
  };

  /// Runs the second branch here. Its captures are moved out of the choice point first: the choice point's
  /// place is free then, and the branch's own forks will use it. The optimiser turns the move into loads of
  /// what is still needed.
  [[gnu::always_inline]] static stored<result> run_here(context here, point_type* r) {
    Second second(std::move(r->second.get()));
    if constexpr (!std::is_trivially_destructible_v<captured<Second>>) destroy(r);
    if constexpr (std::is_void_v<result>) {
      call(here, std::move(second));
      return {};
    } else {
      return call(here, std::move(second));
    }
  }

  /// The result of the second branch when the choice point is perhaps touched.
  [[gnu::cold, gnu::noinline]] static stored<result> join(context here, point_type* r) {
    task* t = join_child(r);
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

template <class First, class Second, class Guard>
[[gnu::always_inline]] inline both<result_of<First>, result_of<Second&&>> fork2_at(context here,
                                                                                   First&& first,
                                                                                   Second second,
                                                                                   Guard guard) {
  using operations = fork_operations<Second, Guard>;
  using point_type = typename operations::point_type;
  using result_a = result_of<First>;
  using result_b = result_of<Second&&>;
  auto* pending = ::new (static_cast<void*>(here.top))
      point_type{{reinterpret_cast<std::uintptr_t>(&operations::kind)}, captured<Second>(second), guard};
  const context below{here.top + sizeof(point_type)};
  poll(pending);
  if constexpr (std::is_void_v<result_a>) {
    try {
      call(below, std::forward<First>(first));
    } catch (...) {
      leave_by_exception(pending);
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
    if constexpr (std::is_trivially_default_constructible_v<stored<result_a>>) {
      stored<result_a> a;
      try {
        a = call(below, std::forward<First>(first));
      } catch (...) {
        leave_by_exception(pending);
      }
      if (!untouched(pending)) [[unlikely]]
        return {a, operations::join(here, pending)};
      return {a, operations::run_here(here, pending)};
    } else {
      auto a = [&]() -> stored<result_a> {
        try {
          return call(below, std::forward<First>(first));
        } catch (...) {
          leave_by_exception(pending);
        }
      }();
      // The second result comes first: a move of the first one that throws must not leave a child unjoined.
      stored<result_b> b =
          untouched(pending) ? operations::run_here(here, pending) : operations::join(here, pending);
      return {std::move(a), std::move(b)};
    }
  }
}

}  // namespace sukima::detail

namespace sukima {

/// Calls `first` and `second`, which may run at the same time, and returns both results as an aggregate
/// {first, second}, made for structured bindings (std::monostate for a void one; nothing at all if both are
/// void).
///
/// Nothing is allocated and no task is made until another worker is idle; a fork that nobody takes costs
/// about a nanosecond. `first` runs here and now; `second` runs here afterwards, unless another worker took
/// it meanwhile. Each may take a `sukima::context` as its argument and should hand it on to what it calls.
/// \param c        the caller's own context
/// \param second   is moved into the choice stack; captures may need destruction, results need no default
/// constructor
/// \param hints    `sukima::guard(p)`: may this fork be split?
/// \throws what `first` throws, else what `second` throws, after the other one was aborted and awaited;
///         `sukima::aborted` where the caller itself is aborted
/// \par Complexity constant. docs/protocols.md describes the protocol: Tascell's temporary backtracking, with
/// two polls for each fork
template <class First, class Second, class... Hints>
  requires detail::callable_with<First> && detail::callable_with<std::decay_t<Second>&&>
[[gnu::always_inline]] inline auto fork2(context c, First&& first, Second&& second, Hints... hints) {
  return detail::fork2_at(c, std::forward<First>(first), std::decay_t<Second>(std::forward<Second>(second)),
                          detail::pick_guard(hints...));
}

/// The same without a context: it is looked up. On a thread that is not in a runtime the call enters the
/// default one.
template <class First, class Second, class... Hints>
  requires detail::callable_with<First> && detail::callable_with<std::decay_t<Second>&&>
inline auto fork2(First&& first, Second&& second, Hints... hints) {
  return detail::with_context([&](context c) {
    return detail::fork2_at(c, std::forward<First>(first), std::decay_t<Second>(std::forward<Second>(second)),
                            detail::pick_guard(hints...));
  });
}

/// Calls any number of functions, which may run at the same time; the results come as a tuple in the order of
/// the arguments, std::monostate for a void one. As nested fork2: what was written last is given away first.
template <class F> inline auto fork(context c, F&& f) {
  using result = detail::result_of<F>;
  if constexpr (std::is_void_v<result>) {
    detail::call(c, std::forward<F>(f));
    return std::tuple<std::monostate>{};
  } else {
    return std::tuple<detail::stored<result>>(detail::call(c, std::forward<F>(f)));
  }
}

template <class F, class G, class... More> inline auto fork(context c, F&& f, G&& g, More&&... more) {
  using results = std::tuple<detail::stored<detail::result_of<F>>, detail::stored<detail::result_of<G>>,
                             detail::stored<detail::result_of<More>>...>;
  using first_result = detail::result_of<F>;
  auto rest = [&](context below) { return fork(below, std::forward<G>(g), std::forward<More>(more)...); };
  auto [first, others] = detail::fork2_at(c, std::forward<F>(f), rest, detail::no_hint{});
  return results(
      std::tuple_cat(std::tuple<detail::stored<first_result>>(std::move(first)), std::move(others)));
}

/// The same without a context.
template <class F, class G, class... More>
  requires(!std::is_same_v<std::decay_t<F>, context>)
inline auto fork(F&& f, G&& g, More&&... more) {
  return detail::with_context([&](context c) {
    return fork(c, std::forward<F>(f), std::forward<G>(g), std::forward<More>(more)...);
  });
}

}  // namespace sukima

// SPDX-License-Identifier: Apache-2.0
// The parallel interpreter of random programs.
#include "execute.hpp"

#include "bodies.hpp"
#include "forms.hpp"
#include "meeting.hpp"

#include <sukima/task_group.hpp>

#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>

namespace random_programs {

namespace {

using sukima::context;

/// Whether a pointer to such a context is null where code is called without one. A sequential clone always
/// has a context, so its code without one would never run, but take time to compile.
template <class C> inline constexpr bool may_be_null = std::is_same_v<C, context>;

/// Counts captured objects.
class witness {
 public:
  explicit witness(observations& seen) noexcept : seen_(&seen) { ++seen_->captures; }
  witness(const witness& other) noexcept : seen_(other.seen_) { ++seen_->captures; }
  witness& operator=(const witness&) = delete;
  ~witness() { --seen_->captures; }

 private:
  observations* seen_;
};

/// A branch of a fork, with a workspace of its own.
template <bool WithContext> struct branch;
struct branch_data {
  const node* n;
  surroundings s;
  path workspace;
  witness alive;

  branch_data(const node& root, const surroundings& where)
      : n(&root), s(where), workspace(where.workspace->copy()), alive(*where.seen) {}
};
template <> struct branch<true> : branch_data {
  using branch_data::branch_data;
  std::uint64_t operator()(auto c) {
    s.workspace = &workspace;
    return evaluate(&c, *n, s);
  }
};
template <> struct branch<false> : branch_data {
  using branch_data::branch_data;
  std::uint64_t operator()() {
    s.workspace = &workspace;
    return evaluate(no_context, *n, s);
  }
};

template <class F, class G> auto fork2_without_context(const node& n, F&& f, G&& g) {
  if (n.guard != 2) return sukima::fork2(std::forward<F>(f), std::forward<G>(g), guard_of(n));
  if (n.place == 0) return sukima::fork2(std::forward<F>(f), std::forward<G>(g));
  return sukima::fork2(std::forward<F>(f), std::forward<G>(g), sukima::on(place_in(n), place_in(n, 1)));
}
template <class C, class F, class G> auto fork2(const C* c, const node& n, F&& f, G&& g) {
  if constexpr (may_be_null<C>)
    if (c == nullptr) return fork2_without_context(n, std::forward<F>(f), std::forward<G>(g));
  if (n.guard != 2) return sukima::fork2(*c, std::forward<F>(f), std::forward<G>(g), guard_of(n));
  if (n.place == 0) return sukima::fork2(*c, std::forward<F>(f), std::forward<G>(g));
  return sukima::fork2(*c, std::forward<F>(f), std::forward<G>(g), sukima::on(place_in(n), place_in(n, 1)));
}

std::uint64_t leaf(const node& n, const surroundings& around) {
  ++around.seen->leaves;
  const std::uint64_t v = mix(mix(n.number, around.input), around.workspace->value());
  const std::uint64_t work = v % 512 == 0 ? 20'000 : v % 64;
  for (std::uint64_t i = 0; i < work; ++i) asm volatile("");
  if (v % 128 == 1) std::this_thread::yield();
  return v;
}

template <class C> std::uint64_t fork_two(const C* c, const node& n, const surroundings& around) {
  return in_form_of(*n.children[0], [&](auto a) {
    return in_form_of(*n.children[1], [&](auto b) {
      const auto [x, y] = fork2(c, n, branch<a.value>(*n.children[0], with_input(around, 0)),
                                branch<b.value>(*n.children[1], with_input(around, 1)));
      return mix(mix(n.number, x), y);
    });
  });
}

template <class C> std::uint64_t fork_three(const C* c, const node& n, const surroundings& around) {
  return in_form_of(*n.children[0], [&](auto form) {
    using one = branch<form.value>;
    one x(*n.children[0], with_input(around, 0)), y(*n.children[1], with_input(around, 1)),
        z(*n.children[2], with_input(around, 2));
    const auto [a, b, d] = [&] {
      if constexpr (may_be_null<C>)
        if (c == nullptr) return sukima::fork(std::move(x), std::move(y), std::move(z));
      return sukima::fork(*c, std::move(x), std::move(y), std::move(z));
    }();
    return mix(mix(mix(n.number, a), b), d);
  });
}

/// Calls loop(body, hints, range…) with a body of the child's form.
template <class Use, class Loop> auto with_body(const node& n, const surroundings& around, Use use,
                                                Loop loop) {
  return in_form_of(*n.children[0], [&](auto form) {
    const loop_body<form.value, Use> body{{n.children[0].get(), &around, around.workspace->copy(), use}};
    return with_iterations(n, [&](const auto& hints, auto... range) { return loop(body, hints, range...); });
  });
}

struct place_of_iteration {
  const node* n;
  sukima::place operator()(int i) const { return place_in(*n, i); }
};

template <class C> std::uint64_t loop(const C* c, const node& n, const surroundings& around) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(n.iterations));
  with_body(n, around, store_value{&values}, [&](const auto& body, const auto& hints, auto... range) {
    std::apply(
        [&](auto... hint) {
          if constexpr (may_be_null<C>)
            if (c == nullptr) {
              sukima::parallel_for(range..., body, hint...);
              return;
            }
          if constexpr (sizeof...(hint) == 0 && sizeof...(range) == 2)
            if (n.place != 0) {
              sukima::parallel_for(*c, range..., body, sukima::on(place_of_iteration{&n}));
              return;
            }
          sukima::parallel_for(*c, range..., body, hint...);
        },
        hints);
  });
  return std::accumulate(values.begin(), values.end(), n.number, mix);
}

std::uint64_t group(const context* c, const node& n, const surroundings& around) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(n.iterations));
  const path workspace = around.workspace->copy();
  const node& child = *n.children[0];
  meeting all(n.iterations);
  const auto one = [&](const context* below, int i) {
    if (n.construct == kind::meeting) all.arrive(below);
    path own = workspace.copy();
    surroundings mine = with_input(around, static_cast<std::uint64_t>(i));
    mine.workspace = &own;
    values[static_cast<std::size_t>(i)] = evaluate(below, child, mine);
  };
  const auto run_all = [&](sukima::task_group& children) {
    for (int i = 0; i < n.iterations; ++i)
      if (child.with_context)
        children.run([&one, i, alive = witness(*around.seen)](context below) { one(&below, i); });
      else
        children.run([&one, i, alive = witness(*around.seen)] { one(no_context, i); });
    if (!children.wait()) std::abort();
  };
  if (c != nullptr) {
    context here = *c;
    sukima::task_group children(here);
    sukima::detail::call(here, [&] { run_all(children); });
  } else {
    sukima::run([&] {
      sukima::task_group children;
      run_all(children);
    });
  }
  return std::accumulate(values.begin(), values.end(), n.number, mix);
}

/// A future's expression: a branch as of a fork.
template <bool WithContext> struct expression : branch_data {
  using branch_data::branch_data;
  std::uint64_t operator()(context c) {
    s.workspace = &workspace;
    return evaluate(&c, *n, s);
  }
};
template <> struct expression<false> : branch_data {
  using branch_data::branch_data;
  std::uint64_t operator()() {
    s.workspace = &workspace;
    return evaluate(no_context, *n, s);
  }
};

using number_future = sukima::future<std::uint64_t>;

/// Touches both in the program's order; then again, by several at a time.
std::uint64_t touch_both(context c, const node& n, number_future& x, number_future& y) {
  (n.number % 2 == 0 ? x : y).touch(c);
  (n.number % 2 == 0 ? y : x).touch(c);
  if (n.number % 3 == 0) sukima::fork2(c, [&](context b) { x.touch(b); }, [&](context b) { y.touch(b); });
  return mix(mix(n.number, x.touch(c)), y.touch(c));
}

std::uint64_t two_futures(context c, const node& n, const surroundings& around) {
  return in_form_of(*n.children[0], [&](auto a) {
    return in_form_of(*n.children[1], [&](auto b) {
      expression<a.value> first(*n.children[0], with_input(around, 0));
      expression<b.value> second(*n.children[1], with_input(around, 1));
      if (n.place != 0) {
        number_future x(c, std::move(first), sukima::on(place_in(n)));
        number_future y(c, std::move(second), sukima::on(place_in(n, 1)));
        return touch_both(c, n, x, y);
      }
      number_future x(c, std::move(first));
      number_future y(c, std::move(second));
      return touch_both(c, n, x, y);
    });
  });
}

std::uint64_t launch_all(context c, const node& n, const surroundings& around) {
  std::vector<sukima::shared_future<std::uint64_t>> all;
  for (int i = 0; i < n.iterations; ++i) {
    expression<true> one(*n.children[0], with_input(around, static_cast<std::uint64_t>(i)));
    one.s.scopes = nullptr;
    all.push_back(n.place != 0 ? sukima::launch(std::move(one), sukima::on(place_in(n, i)))
                               : sukima::launch(std::move(one)));
  }
  if (n.number % 2 == 0)
    for (auto one = all.rbegin(); one != all.rend(); ++one) one->touch(c);
  std::uint64_t v = n.number;
  for (const auto& one : all) v = mix(v, one.touch(c));
  return v;
}

/// The kinds that are the same with each context.
std::uint64_t evaluate_with_plain_context(const context* c, const node& n, const surroundings& around) {
  if (n.construct == kind::group || n.construct == kind::meeting) return group(c, n, around);
  const auto body = [&](context here) {
    if (n.construct == kind::futures) return two_futures(here, n, around);
    if (n.construct == kind::launched) return launch_all(here, n, around);
    // A thread-bound fiber cannot call code without a context if the top is not known.
    return sukima::thread_bound([&] { return evaluate(&here, *n.children[0], around); });
  };
  return c != nullptr ? body(*c) : sukima::run(body);
}
std::uint64_t evaluate_in_other_runtime(const node& n, const surroundings& around) {
  surroundings mine = around;
  mine.scopes = nullptr;
  const node& inner = *n.children[0];
  return around.other->run(
      [&](context below) { return evaluate(inner.with_context ? &below : no_context, inner, mine); });
}

template <class C> std::uint64_t reduce(const C* c, const node& n, const surroundings& around) {
  return with_body(n, around, as_affine{}, [&](const auto& body, const auto& hints, auto... range) {
    const affine first = affine_of(n.number);
    const auto reduced = [&](auto... hint) {
      if constexpr (may_be_null<C>)
        if (c == nullptr) return sukima::parallel_reduce(range..., first, body, compose, hint...);
      return sukima::parallel_reduce(*c, range..., first, body, compose, hint...);
    };
    return std::apply(reduced, hints).value();
  });
}

template <class C> std::uint64_t search(C c, const node& n, const surroundings& around) {
  static constexpr auto all = [] {
    std::array<std::uint64_t, 256> numbers{};
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
  }();
  const apply_choice apply{&n};
  const undo_choice undo;
  const auto over = [&](const auto& choices) {
    return in_form_of(*n.children[0], [&](auto form) {
      const search_body<form.value> body{{&n, &around}};
      const affine first = affine_of(n.number);
      if (n.guard == 2)
        return sukima::search(c, *around.workspace, choices, apply, undo, body, first, compose);
      return sukima::search(c, *around.workspace, choices, apply, undo, body, first, compose, guard_of(n),
                            split_of(n));
    });
  };
  if (by_successor(n)) return over(successive<std::uint64_t>{n.iterations}).value();
  return over(std::span(all).first(static_cast<std::size_t>(n.iterations))).value();
}

struct scope_body {
  const node* n;
  const surroundings* around;
  std::uint64_t operator()(context below, const sukima::canceller& cancel) const {
    const node& child = *n->children[0];
    const scope link{&cancel, around->scopes};
    surroundings mine = *around;
    mine.scopes = &link;
    return evaluate(child.with_context ? &below : no_context, child, mine);
  }
};

template <class C> std::uint64_t in_scope(const C* c, const node& n, const surroundings& around) {
  const scope_body body{&n, &around};
  const auto value = [&] {
    if constexpr (may_be_null<C>)
      if (c == nullptr) return sukima::cancellable(body);
    return sukima::cancellable(*c, body);
  }();
  return value ? *value : n.number;
}

struct nothing {
  void operator()() const {}
};

template <class C> [[noreturn]] void cancel(const C* c, const node& n, const surroundings& around) {
  const scope* target = around.scopes;
  for (int i = 0; i < n.iterations; ++i) target = target->outer;
  if (n.number % 3 == 0)
    around.agent->post([cancel = *target->cancel] { cancel.cancel(); });
  else
    target->cancel->cancel();
  for (;;) {
    if constexpr (may_be_null<C>)
      if (c == nullptr) {
        sukima::fork2(nothing{}, nothing{});
        continue;
      }
    sukima::fork2(*c, nothing{}, nothing{});
  }
}

struct resume_soon {
  const node* n;
  const surroundings* around;
  void operator()(sukima::resumer r) const {
    if (n->number % 4 == 0)
      r.resume();
    else
      around->agent->post([r, wait = n->number % 1024] {
        for (std::uint64_t i = 0; i < wait; ++i) asm volatile("");
        r.resume();
      });
  }
};

template <class C> void park(const C* c, const node& n, const surroundings& around) {
  const resume_soon f{&n, &around};
  if constexpr (may_be_null<C>)
    if (c == nullptr) {
      sukima::suspend(f);
      return;
    }
  sukima::suspend(*c, f);
}

/// A fiber that parks, and the other branch, which resumes it.
struct sleeping {
  std::atomic<bool> parked{false};
  sukima::resumer sleeper;
};
struct store_sleeper {
  sleeping* s;
  void operator()(sukima::resumer r) const {
    s->sleeper = r;
    s->parked.store(true, std::memory_order_release);  // pairs with: wake_sleeper
  }
};
struct wake_sleeper {
  sleeping* s;
  void operator()() const {
    // pairs with: store_sleeper
    while (!s->parked.load(std::memory_order_acquire)) std::this_thread::yield();
    s->sleeper.resume();
  }
};
struct sleep_below {
  sleeping* s;
  void operator()(context below) const { sukima::suspend(below, store_sleeper{s}); }
};
struct sleep_without_context {
  sleeping* s;
  void operator()() const { sukima::suspend(store_sleeper{s}); }
};

template <class C> void meet(const C* c, const node& n) {
  sleeping both;
  if constexpr (may_be_null<C>)
    if (c == nullptr) {
      fork2_without_context(n, sleep_without_context{&both}, wake_sleeper{&both});
      return;
    }
  fork2(c, n, sleep_below{&both}, wake_sleeper{&both});
}

struct increment {
  std::uint64_t* n;
  void operator()() const { ++*n; }
};
struct count_iteration {
  std::atomic<int>* counted;
  void operator()(int) const { counted->fetch_add(1, std::memory_order_relaxed); }
};
struct square {
  std::uint64_t operator()(int i) const {
    return static_cast<std::uint64_t>(i) * static_cast<std::uint64_t>(i);
  }
};

/// During another exception its forks and loops run to their end; else they may be aborted as any others.
template <class C> struct works_at_end {
  const C* c;
  const node& n;
  ~works_at_end() noexcept(false) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (int i = 0; i < 3; ++i) fork2(c, n, increment{&a}, increment{&b});
    if (a + b != 6) std::abort();
    std::atomic<int> counted{0};
    const std::uint64_t squares = [&] {
      if constexpr (may_be_null<C>)
        if (c == nullptr) {
          sukima::parallel_for(0, 50, count_iteration{&counted});
          return sukima::parallel_reduce(0, 50, std::uint64_t{0}, square{}, std::plus<>());
        }
      sukima::parallel_for(*c, 0, 50, count_iteration{&counted});
      return sukima::parallel_reduce(*c, 0, 50, std::uint64_t{0}, square{}, std::plus<>());
    }();
    if (counted != 50 || squares != 40425) std::abort();
  }
};

/// All but forks, which alone know how many levels above them have polled.
template <class C> std::uint64_t evaluate_other(const C* c, const node& n, const surroundings& around) {
  const auto child = [&] { return evaluate(c, *n.children[0], around); };
  switch (n.construct) {
    case kind::leaf:
      return leaf(n, around);
    case kind::fork:
    case kind::many:
      break;  // evaluate
    case kind::loop:
      return loop(c, n, around);
    case kind::reduce:
      return reduce(c, n, around);
    case kind::search:
      if constexpr (may_be_null<C>)
        if (c == nullptr) return sukima::run([&](context here) { return search(here, n, around); });
      return search(*c, n, around);
    case kind::fail:
      if (happens(n, around.input)) throw failure{n.number};
      return child();
    case kind::handle:
      try {
        return child();
      } catch (const failure& f) {
        return mix(n.number, f.number);
      }
    case kind::cancellable:
      return in_scope(c, n, around);
    case kind::cancel:
      if (happens(n, around.input)) cancel(c, n, around);
      return child();
    case kind::suspend:
      park(c, n, around);
      return child();
    case kind::rendezvous:
      meet(c, n);
      return child();
    case kind::group:
    case kind::meeting:
    case kind::futures:
    case kind::launched:
    case kind::thread_bound: {
      if constexpr (may_be_null<C>)
        if (c == nullptr) return evaluate_with_plain_context(nullptr, n, around);
      const context here = *c;
      return evaluate_with_plain_context(&here, n, around);
    }
    case kind::at_end: {
      const works_at_end<C> at_end{c, n};
      return child();
    }
    case kind::other_runtime:
      return evaluate_in_other_runtime(n, around);
  }
  std::abort();
}

/// The context for all but forks: they are the same code on each level that does not poll.
template <class C> C without_levels(C c) { return c; }
template <bool Closed> auto without_levels(sukima::clone_mark<Closed, 2>* c) {
  return reinterpret_cast<sukima::clone_mark<Closed, 1>*>(c);
}

}  // namespace

namespace {

template <class C> std::uint64_t evaluate_here(const C* c, const node& n, const surroundings& around) {
  if (n.construct == kind::fork) return fork_two(c, n, around);
  if (n.construct == kind::many) return fork_three(c, n, around);
  if constexpr (may_be_null<C>)
    if (c == nullptr) return evaluate_other(no_context, n, around);
  const auto here = without_levels(*c);
  return evaluate_other(&here, n, around);
}

}  // namespace

template <class C> std::uint64_t evaluate(const C* c, const node& n, const surroundings& around) {
  if (n.place == 0 || n.number % 2 == 0) return evaluate_here(c, n, around);
  if constexpr (may_be_null<C>)
    if (c == nullptr)
      return sukima::on([&] { return place_in(n); }, [&] { return evaluate_here(no_context, n, around); });
  return sukima::on(*c, place_in(n), [&](auto below) { return evaluate_here(&below, n, around); });
}

result execute(const program& p, sukima::runtime& runtime, sukima::runtime& other, outsider& agent,
               observations& seen) {
  path workspace(p.fragile);
  const surroundings s{0, &workspace, nullptr, &other, &agent, &seen};
  result r;
  try {
    r.number = p.root->with_context ? runtime.run([&](context c) { return evaluate(&c, *p.root, s); })
                                    : runtime.run([&] { return evaluate(no_context, *p.root, s); });
    r.how = result::end::value;
  } catch (const failure& f) {
    r.how = result::end::failure;
    r.number = f.number;
  } catch (const std::exception& e) {
    r.text = e.what();
  } catch (const sukima::aborted&) {
    r.text = "sukima::aborted left run";
  }
  if (!workspace.empty()) {
    r.how = result::end::error;
    r.text = "the workspace is not as it was";
  }
  return r;
}

}  // namespace random_programs

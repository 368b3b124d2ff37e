// SPDX-License-Identifier: Apache-2.0
// The parallel interpreter of random programs.
#include "execute.hpp"

#include <array>
#include <numeric>
#include <span>

namespace random_programs {

outsider::outsider() : thread_([this] { main(); }) {}

outsider::~outsider() {
  {
    const std::lock_guard hold(lock_);
    ends_ = true;
  }
  told_.notify_one();
  thread_.join();
}

void outsider::tell(std::function<void()> action) {
  {
    const std::lock_guard hold(lock_);
    actions_.push_back(std::move(action));
  }
  told_.notify_one();
}

void outsider::main() {
  std::unique_lock hold(lock_);
  for (;;) {
    told_.wait(hold, [this] { return ends_ || !actions_.empty(); });
    if (actions_.empty()) return;
    const auto action = std::move(actions_.front());
    actions_.pop_front();
    hold.unlock();
    action();
    hold.lock();
  }
}

namespace {

using sukima::context;

struct scope {
  const sukima::canceller* cancel;
  const scope* outer;
};

struct surroundings {
  std::uint64_t input;
  path* workspace;
  const scope* scopes;
  sukima::runtime* other;
  outsider* agent;
  observations* seen;
};

surroundings with_input(surroundings s, std::uint64_t child) {
  s.input = input_of(s.input, child);
  return s;
}

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

/// \param c  null: called without a context
std::uint64_t evaluate(const context* c, const node& n, const surroundings& s);

/// A branch of a fork, with a workspace of its own.
template <bool WithContext> struct branch {
  const node* n;
  surroundings s;
  path workspace;
  witness alive;

  branch(const node& what, const surroundings& where)
      : n(&what), s(where), workspace(*where.workspace), alive(*where.seen) {}
  std::uint64_t operator()(context c)
    requires WithContext
  {
    s.workspace = &workspace;
    return evaluate(&c, *n, s);
  }
  std::uint64_t operator()()
    requires(!WithContext)
  {
    s.workspace = &workspace;
    return evaluate(nullptr, *n, s);
  }
};

/// Calls f with std::true_type if the node is to be called with a context, else with std::false_type.
template <class F> auto in_form_of(const node& n, F f) {
  return n.with_context ? f(std::true_type{}) : f(std::false_type{});
}

auto guard_of(const node& n) {
  return sukima::guard([p = n.guard] { return p; });
}
auto split_of(const node& n) {
  return sukima::split([uneven = n.splits_unevenly](std::int64_t next, std::int64_t end) {
    return next + (end - next) / (uneven ? 4 : 2);
  });
}

template <class F, class G> auto fork2(const context* c, const node& n, F&& f, G&& g) {
  if (n.guard == 2)
    return c != nullptr ? sukima::fork2(*c, std::forward<F>(f), std::forward<G>(g))
                        : sukima::fork2(std::forward<F>(f), std::forward<G>(g));
  return c != nullptr ? sukima::fork2(*c, std::forward<F>(f), std::forward<G>(g), guard_of(n))
                      : sukima::fork2(std::forward<F>(f), std::forward<G>(g), guard_of(n));
}

std::uint64_t leaf(const node& n, const surroundings& s) {
  ++s.seen->leaves;
  const std::uint64_t v = mix(mix(n.number, s.input), s.workspace->value());
  const std::uint64_t work = v % 512 == 0 ? 20'000 : v % 64;
  for (std::uint64_t i = 0; i < work; ++i) asm volatile("");
  if (v % 128 == 1) std::this_thread::yield();
  return v;
}

std::uint64_t fork_two(const context* c, const node& n, const surroundings& s) {
  return in_form_of(*n.children[0], [&](auto a) {
    return in_form_of(*n.children[1], [&](auto b) {
      const auto [x, y] = fork2(c, n, branch<a.value>(*n.children[0], with_input(s, 0)),
                                branch<b.value>(*n.children[1], with_input(s, 1)));
      return mix(mix(n.number, x), y);
    });
  });
}

std::uint64_t fork_three(const context* c, const node& n, const surroundings& s) {
  return in_form_of(*n.children[0], [&](auto form) {
    using one = branch<form.value>;
    one x(*n.children[0], with_input(s, 0)), y(*n.children[1], with_input(s, 1)),
        z(*n.children[2], with_input(s, 2));
    const auto [a, b, d] = c != nullptr ? sukima::fork(*c, std::move(x), std::move(y), std::move(z))
                                        : sukima::fork(std::move(x), std::move(y), std::move(z));
    return mix(mix(mix(n.number, a), b), d);
  });
}

/// Calls loop(body, hints…) with a body of the child's form; use(i, value) is called for each iteration.
template <class Use, class Loop>
auto with_body(const node& n, const surroundings& s, const path& workspace, Use use, Loop loop) {
  const node& child = *n.children[0];
  return in_form_of(child, [&](auto form) {
    const auto iteration = [&](const context* c, int i) {
      path own = workspace;
      surroundings mine = with_input(s, static_cast<std::uint64_t>(i));
      mine.workspace = &own;
      return use(i, evaluate(c, child, mine));
    };
    if constexpr (form.value) {
      const auto body = [&](context c, int i) { return iteration(&c, i); };
      if (n.guard == 2) return loop(body);
      return loop(body, guard_of(n), split_of(n), sukima::grain(n.grain));
    } else {
      const auto body = [&](int i) { return iteration(nullptr, i); };
      if (n.guard == 2) return loop(body);
      return loop(body, guard_of(n), split_of(n), sukima::grain(n.grain));
    }
  });
}

std::uint64_t loop(const context* c, const node& n, const surroundings& s) {
  std::vector<std::uint64_t> values(static_cast<std::size_t>(n.iterations));
  const path workspace = *s.workspace;
  with_body(
      n, s, workspace, [&](int i, std::uint64_t v) { values[static_cast<std::size_t>(i)] = v; },
      [&](const auto& body, auto... hints) {
        if (c != nullptr)
          sukima::parallel_for(*c, 0, n.iterations, body, hints...);
        else
          sukima::parallel_for(0, n.iterations, body, hints...);
      });
  return std::accumulate(values.begin(), values.end(), n.number, mix);
}

std::uint64_t reduce(const context* c, const node& n, const surroundings& s) {
  const path workspace = *s.workspace;
  return with_body(
      n, s, workspace, [](int, std::uint64_t v) { return affine_of(v); },
      [&](const auto& body, auto... hints) {
        return (c != nullptr
                    ? sukima::parallel_reduce(*c, 0, n.iterations, affine_of(n.number), body, compose,
                                              hints...)
                    : sukima::parallel_reduce(0, n.iterations, affine_of(n.number), body, compose, hints...))
            .value();
      });
}

std::uint64_t search(context c, const node& n, const surroundings& s) {
  static constexpr auto all = [] {
    std::array<std::uint64_t, 256> numbers{};
    std::iota(numbers.begin(), numbers.end(), 0u);
    return numbers;
  }();
  const auto choices = std::span(all).first(static_cast<std::size_t>(n.iterations));
  const auto apply = [&](path& w, std::uint64_t choice) {
    if (!applicable(n, w, choice)) return false;
    w.push(choice);
    return true;
  };
  const auto undo = [](path& w, std::uint64_t choice) { w.pop(choice); };
  const auto visit = [&](const context* below, path& w, std::uint64_t choice) {
    surroundings mine = with_input(s, choice);
    mine.workspace = &w;
    return affine_of(evaluate(below, *n.children[0], mine));
  };
  return in_form_of(*n.children[0],
                    [&](auto form) {
                      const auto body = [&] {
                        if constexpr (form.value)
                          return [&](context below, path& w, std::uint64_t choice) {
                            return visit(&below, w, choice);
                          };
                        else
                          return [&](path& w, std::uint64_t choice) { return visit(nullptr, w, choice); };
                      }();
                      if (n.guard == 2)
                        return sukima::search(c, *s.workspace, choices, apply, undo, body,
                                              affine_of(n.number), compose);
                      return sukima::search(c, *s.workspace, choices, apply, undo, body, affine_of(n.number),
                                            compose, guard_of(n), split_of(n));
                    })
      .value();
}

std::uint64_t in_scope(const context* c, const node& n, const surroundings& s) {
  const node& child = *n.children[0];
  const auto body = [&](context below, const sukima::canceller& cancel) {
    const scope link{&cancel, s.scopes};
    surroundings mine = s;
    mine.scopes = &link;
    return evaluate(child.with_context ? &below : nullptr, child, mine);
  };
  const auto value = c != nullptr ? sukima::cancellable(*c, body) : sukima::cancellable(body);
  return value ? *value : n.number;
}

[[noreturn]] void cancel(const context* c, const node& n, const surroundings& s) {
  const scope* target = s.scopes;
  for (int i = 0; i < n.iterations; ++i) target = target->outer;
  if (n.number % 3 == 0)
    s.agent->tell([cancel = *target->cancel] { cancel.cancel(); });
  else
    target->cancel->cancel();
  for (;;)
    if (c != nullptr)
      sukima::fork2(*c, [] {}, [] {});
    else
      sukima::fork2([] {}, [] {});
}

void park(const context* c, const node& n, const surroundings& s) {
  const auto f = [&](sukima::resumer r) {
    if (n.number % 4 == 0)
      r.resume();
    else
      s.agent->tell([r, wait = n.number % 1024] {
        for (std::uint64_t i = 0; i < wait; ++i) asm volatile("");
        r.resume();
      });
  };
  if (c != nullptr)
    sukima::suspend(*c, f);
  else
    sukima::suspend(f);
}

void meet(const context* c, const node& n) {
  std::atomic<bool> parked{false};
  sukima::resumer sleeper;
  const auto store = [&](sukima::resumer r) {
    sleeper = r;
    parked.store(true, std::memory_order_release);
  };
  const auto wake = [&] {
    while (!parked.load(std::memory_order_acquire)) std::this_thread::yield();
    sleeper.resume();
  };
  if (c != nullptr)
    fork2(c, n, [&](context below) { sukima::suspend(below, store); }, wake);
  else
    fork2(c, n, [&] { sukima::suspend(store); }, wake);
}

/// During another exception its forks run to their end; else they may be aborted as any others.
struct forks_at_end {
  const context* c;
  const node& n;
  ~forks_at_end() noexcept(false) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (int i = 0; i < 3; ++i) fork2(c, n, [&] { ++a; }, [&] { ++b; });
    if (a + b != 6) std::abort();
  }
};

std::uint64_t evaluate(const context* c, const node& n, const surroundings& s) {
  const auto child = [&] { return evaluate(c, *n.children[0], s); };
  switch (n.what) {
    case kind::leaf:
      return leaf(n, s);
    case kind::fork:
      return fork_two(c, n, s);
    case kind::many:
      return fork_three(c, n, s);
    case kind::loop:
      return loop(c, n, s);
    case kind::reduce:
      return reduce(c, n, s);
    case kind::search:
      if (c != nullptr) return search(*c, n, s);
      return sukima::run([&](context here) { return search(here, n, s); });
    case kind::fail:
      if (happens(n, s.input)) throw failure{n.number};
      return child();
    case kind::handle:
      try {
        return child();
      } catch (const failure& f) {
        return mix(n.number, f.number);
      }
    case kind::cancellable:
      return in_scope(c, n, s);
    case kind::cancel:
      if (happens(n, s.input)) cancel(c, n, s);
      return child();
    case kind::suspend:
      park(c, n, s);
      return child();
    case kind::rendezvous:
      meet(c, n);
      return child();
    case kind::thread_bound: {
      // A thread-bound fiber cannot call code without a context where nobody knows the top.
      const auto stay = [&](context here) {
        return sukima::thread_bound([&] { return evaluate(&here, *n.children[0], s); });
      };
      return c != nullptr ? stay(*c) : sukima::run(stay);
    }
    case kind::at_end: {
      const forks_at_end at_end{c, n};
      return child();
    }
    case kind::other_runtime: {
      surroundings mine = s;
      mine.scopes = nullptr;
      const node& inner = *n.children[0];
      return s.other->run(
          [&](context below) { return evaluate(inner.with_context ? &below : nullptr, inner, mine); });
    }
  }
  std::abort();
}

}  // namespace

result execute(const program& p, sukima::runtime& runtime, sukima::runtime& other, outsider& agent,
               observations& seen) {
  path workspace;
  const surroundings s{0, &workspace, nullptr, &other, &agent, &seen};
  result r;
  try {
    r.number = p.root->with_context ? runtime.run([&](context c) { return evaluate(&c, *p.root, s); })
                                    : runtime.run([&] { return evaluate(nullptr, *p.root, s); });
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

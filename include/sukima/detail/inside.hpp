// SPDX-License-Identifier: Apache-2.0
// Calls without a context: find the running fiber's top, or enter a runtime.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/task.hpp>

namespace sukima::detail {

/// What the fiber that this thread runs keeps; null on a thread that runs none.
/// The thread-local's address must not survive a fiber's move to another thread, so it is formed anew each
/// time.
extern "C" __thread kept_state* sukima_running_kept __attribute__((tls_model("initial-exec")));
/// The same as a call, where no assembly is at hand.
kept_state* find_kept_slowly() noexcept;

[[gnu::always_inline]] inline kept_state* find_kept() noexcept {
#if defined(__x86_64__)
  kept_state* found;
  asm volatile("movq sukima_running_kept@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(found));
  return found;
#else
  return find_kept_slowly();
#endif
}

/// A root: what an entering thread wants done.
struct root_task : task {
  worker* home = nullptr;  ///< whose thread waits for it; null: a fiber does
};

/// Runs a root on the default runtime and waits for it as a worker. \throws what it throws.
void enter_default(root_task& root);
/// Runs a root as a child of the running fiber on a fiber of its own, and waits: for calls without a
/// context below code with one, where nobody knows the top.
void enter_aside(root_task& root);

/// Fills a root task that calls f(context) and keeps its result.
template <class F> struct root_of : root_task {
  using result = std::invoke_result_t<F&, context>;
  F& f;
  result_slot<stored<result>> value;
  explicit root_of(F& callee) : f(callee) {
    run = [](task* self, context c) {
      auto* me = static_cast<root_of*>(self);
      me->value.fill([&]() -> decltype(auto) { return me->f(c); });
    };
  }
  result take() {
    if constexpr (!std::is_void_v<result>) return std::move(value.get());
  }
};

/// Marks the kept top as unknown while code with a context runs.
class top_restorer {
 public:
  explicit top_restorer(kept_state& kept) noexcept : kept_(kept), top_(kept.top) {
    kept_.top = nullptr;
    ++kept_.uses;
  }
  top_restorer(const top_restorer&) = delete;
  top_restorer& operator=(const top_restorer&) = delete;
  ~top_restorer() { kept_.top = top_; }
  char* top() const noexcept { return top_; }

 private:
  kept_state& kept_;
  char* top_;
};

/// Calls f(context) with the running fiber's context.
template <class F> inline std::invoke_result_t<F&, context> inside(F&& f) {
  kept_state* kept = find_kept();
  if (kept != nullptr && kept->top != nullptr) [[likely]] {
    top_restorer restore(*kept);
    return f(context{restore.top()});
  }
  root_of<std::remove_reference_t<F>> root(f);
  if (kept == nullptr)
    enter_default(root);
  else
    enter_aside(root);
  return root.take();
}

}  // namespace sukima::detail

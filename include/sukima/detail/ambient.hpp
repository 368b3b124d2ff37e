// SPDX-License-Identifier: Apache-2.0
// Calls without a context: use the running fiber's ambient context, or enter a runtime.
#pragma once

#include <sukima/context.hpp>
#include <sukima/detail/task.hpp>

namespace sukima::detail {

/// The ambient context of the fiber that this thread runs; null if it runs none.
/// The address of the thread-local must not be kept while a fiber moves to another thread, so each access
/// computes it anew.
extern "C" __thread ambient_state* sukima_running_ambient __attribute__((tls_model("initial-exec")));
/// The same by a call, for processors without the assembly below.
ambient_state* find_ambient_slowly() noexcept;

[[gnu::always_inline]] inline ambient_state* find_ambient() noexcept {
#if defined(__x86_64__)
  ambient_state* found;
  asm volatile("movq sukima_running_ambient@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(found));
  return found;
#else
  return find_ambient_slowly();
#endif
}

/// A root: the work of a thread that enters the runtime.
struct root_task : task {
  worker* home = nullptr;  ///< the worker whose thread waits for the root; null: a fiber waits for it
};

/// Runs a root on the default runtime, and waits for it as a worker. \throws the root's exception
void enter_default(root_task& root);
/// Runs a root as a child of the running fiber, on a fiber of its own, and waits for it. Used if code with a
/// context calls code without one: the top of the choice stack is then unknown.
void enter_on_new_fiber(root_task& root);

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
    if constexpr (!std::is_void_v<result>) return static_cast<result&&>(value.get());
  }
};

/// Ends the program, because the operation got a context that is not its caller's.
[[noreturn, gnu::cold]] void refuse_context(const char* operation) noexcept;

/// Calls f(context) in the default runtime, or, on a worker, on a new fiber.
/// \param shielded  on a new fiber, f runs even if the caller is aborted; f itself must shield the other
///   cases
template <class F>
[[gnu::noinline]] std::invoke_result_t<F&, context> enter_with(ambient_state* state, F f, bool shielded) {
  root_of<std::remove_reference_t<F>> root(f);
  root.shielded = shielded;
  if (state == nullptr)
    enter_default(root);
  else
    enter_on_new_fiber(root);
  return root.take();
}
/// Calls f(context) as with_context does.
/// \tparam Kept  the type in which f is passed to enter_with: a reference, or a copy
template <class Kept, class F>
[[gnu::always_inline]] inline std::invoke_result_t<F&, context> with_context_keeping(F& f,
                                                                                     bool shielded = false) {
  ambient_state* state = find_ambient();
  if (state != nullptr && state->top != nullptr) [[likely]] {
    const ambient_context taken(*state);
    ++state->uses;
    return f(taken.outer());
  }
  return enter_with<Kept>(state, static_cast<Kept>(f), shielded);
}

/// Calls f(context) with the ambient context. Without one it enters the default runtime, or, on a worker,
/// runs f on a new fiber.
/// \param shielded  see enter_with
template <class F> inline std::invoke_result_t<F&, context> with_context(F&& f, bool shielded = false) {
  return with_context_keeping<F&>(f, shielded);
}
/// The same for a closure of the library. Only a copy of it is passed to enter_with, so the compiler can keep
/// the captures of the closure itself in registers.
template <class F> [[gnu::always_inline]] inline std::invoke_result_t<F&, context> with_context_inlined(F f) {
  return with_context_keeping<F>(f);
}

}  // namespace sukima::detail

namespace SUKIMA_DETAIL_NAMESPACE {

/// In checked mode, ends the program with a message if the context is certainly not that of the running
/// function: this thread runs no fiber or another one, that function has no context, or it received a higher
/// one.
/// \param operation  the name of the function that the user called
[[gnu::always_inline]] inline void check_context([[maybe_unused]] context c,
                                                 [[maybe_unused]] const char* operation) noexcept {
  if constexpr (checks::on) {
    const ambient_state* const running = find_ambient();
    if (running == nullptr || c.top == nullptr || &ambient_of(c.top) != running || running->top != nullptr ||
        c.top < running->handed)
      refuse_context(operation);
  }
}

}  // namespace SUKIMA_DETAIL_NAMESPACE

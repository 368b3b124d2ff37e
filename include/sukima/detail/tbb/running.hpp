// SPDX-License-Identifier: Apache-2.0
// How the TBB headers enter a runtime, and how they call the program's functions.
#pragma once

#include <sukima/cancel.hpp>
#include <sukima/detail/tbb/group_state.hpp>
#include <sukima/detail/tbb/observers.hpp>
#include <sukima/suspend.hpp>

#include <cfenv>
#include <memory>
#include <utility>
#include <vector>

namespace sukima::detail::tbb {

class arena;
class group_tasks;

/// The state of a thread that runs code of a program. Members are null if the thread has called no function
/// of these headers.
struct running_state {
  group_state* group = nullptr;
  void* context = nullptr;  ///< the task_group_context of the program, if there is one
  arena* where = nullptr;  ///< null: the default arena
  const group_tasks* tasks = nullptr;  ///< of the group whose task this is; null: of an algorithm
  /// The state of the code that cannot continue before this code has ended; null: outermost, or not known
  /// yet.
  const running_state* around = nullptr;
  /// The counter of the fiber's bindings to its thread, and how many of them are not due to these headers.
  unsigned* bindings = nullptr;
  unsigned others_bindings = 0;
};
inline thread_local running_state running_on_this_thread;
/// The state of the calling thread. Its address must not be kept across a call that may change threads; the
/// assembly keeps the compiler from doing so.
[[gnu::noinline]] inline running_state& running() noexcept {
  asm volatile("" ::: "memory");
  return running_on_this_thread;
}

/// Number of calls into these headers that a thread of the program has begun and not ended.
inline thread_local unsigned outside_calls_of_this_thread = 0;
[[gnu::noinline]] inline unsigned& outside_calls() noexcept {
  asm volatile("" ::: "memory");
  return outside_calls_of_this_thread;
}

/// Sets the state of this thread during the object's lifetime. \pre the fiber is bound to its thread
class running_scope {
 public:
  explicit running_scope(running_state now) noexcept : before_(running()) {
    now.bindings = running_thread_bindings();
    if (now.around == nullptr) now.around = &before_;
    const bool same_fiber = before_.bindings == now.bindings;
    now.others_bindings = same_fiber                ? before_.others_bindings
                          : now.bindings == nullptr ? 0
                                                    : *now.bindings - 1;
    running() = now;
    if (!same_fiber && !observers().is_empty())
      seen_ = std::make_unique<seen>(observers().enter(now.where, outside_calls() == 0));
    const std::fenv_t* const wanted = now.group == nullptr ? nullptr : now.group->floating_point();
    if (wanted == nullptr) return;
    std::fegetenv(&floating_point_);
    restores_ = true;
    std::fesetenv(wanted);
  }
  running_scope(const running_scope&) = delete;
  running_scope& operator=(const running_scope&) = delete;
  ~running_scope() {
    if (restores_) std::fesetenv(&floating_point_);
    if (seen_ != nullptr) observers().leave(*seen_, outside_calls() == 0);
    running() = before_;
  }

 private:
  using seen = std::vector<thread_observer*>;
  running_state before_;
  std::unique_ptr<seen> seen_;
  std::fenv_t floating_point_;  // NOLINT(cppcoreguidelines-pro-type-member-init): read only if restores_
  bool restores_ = false;
};

/// Records that a thread of the program has begun a call.
class outside_call {
 public:
  outside_call() noexcept : counts_(find_ambient() == nullptr) {
    if (counts_) ++outside_calls();
  }
  outside_call(const outside_call&) = delete;
  outside_call& operator=(const outside_call&) = delete;
  ~outside_call() {
    if (counts_) --outside_calls();
  }

 private:
  bool counts_;
};

/// Calls f(context) on the default runtime, or as a part of the code that runs here if a worker is calling.
///
/// TBB returns on the thread that called it. Its programs do not handle `aborted`, so an abort from outside
/// takes effect afterwards.
template <class F> void enter(F&& f) {
  const outside_call noted;
  thread_bound([&] { shielded([&](context c) { f(c); }); });
}

/// Calls a function of the program for a task of a group. An exception of the function cancels the group.
template <class F> void run_body(context c, const running_state& task, F&& f) noexcept {
  detail::call(c, [&] {
    thread_bound([&] {
      try {
        const running_scope scope(task);
        f();
      } catch (...) {
        task.group->fail();
      }
    });
  });
}

/// Lets the running task move to another thread during the object's lifetime, unless it is bound by something
/// else than these headers. The state of the thread moves with it.
class movable_scope {
 public:
  movable_scope() noexcept
      : mine_(running()), moves_(mine_.bindings != nullptr && mine_.others_bindings == 0) {
    if (moves_) bindings_ = std::exchange(*mine_.bindings, 0U);
    running() = running_state();
  }
  movable_scope(const movable_scope&) = delete;
  movable_scope& operator=(const movable_scope&) = delete;
  ~movable_scope() {
    running() = mine_;
    if (moves_) *mine_.bindings = bindings_;
  }

 private:
  running_state mine_;
  bool moves_;
  unsigned bindings_ = 0;
};
/// Waits like sukima::suspend.
template <class F> void suspend_task(F&& f) {
  const movable_scope scope;
  sukima::suspend(std::forward<F>(f));
}

}  // namespace sukima::detail::tbb

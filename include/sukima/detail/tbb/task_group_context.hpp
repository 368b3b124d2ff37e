// SPDX-License-Identifier: Apache-2.0
// tbb::task_group_context, and the function that runs an algorithm in a context.
#pragma once

#include <sukima/detail/tbb/group_state.hpp>
#include <sukima/detail/tbb/running.hpp>

#include <cstdint>

namespace sukima::detail::tbb {
struct context_access;
}  // namespace sukima::detail::tbb

namespace tbb {

/// Tasks that are cancelled together. A bound context is cancelled with the context whose code used it first.
class task_group_context {
 public:
  enum kind_t { isolated, bound };
  using kind_type = kind_t;
  enum traits_type : std::uintptr_t { default_traits = 0, fp_settings = 1 << 1, concurrent_wait = 1 << 2 };

  task_group_context(kind_t relation_with_parent = bound,  // NOLINT(google-explicit-constructor)
                     std::uintptr_t traits = default_traits)
      : state_(relation_with_parent == bound), traits_(traits) {
    if ((traits & fp_settings) != 0) state_->capture_floating_point();
  }
  task_group_context(const task_group_context&) = delete;
  task_group_context& operator=(const task_group_context&) = delete;
  ~task_group_context() = default;

  /// Makes a context without running tasks as good as new, except that it stays bound.
  void reset() noexcept { state_->reset(); }
  /// \returns false if it was cancelled already
  bool cancel_group_execution() noexcept { return state_->cancel(); }
  bool is_group_execution_cancelled() const noexcept { return state_->is_cancelled(); }
  /// From now on its tasks run with the caller's floating-point settings.
  void capture_fp_settings() noexcept {
    state_->capture_floating_point();
    traits_ |= fp_settings;
  }
  std::uintptr_t traits() const noexcept { return traits_; }

 private:
  friend struct ::sukima::detail::tbb::context_access;
  ::sukima::detail::tbb::group_handle state_;
  std::uintptr_t traits_;
};

/// Whether the innermost group of the calling task is cancelled.
inline bool is_current_task_group_canceling() noexcept {
  const auto* const group = ::sukima::detail::tbb::running().group;
  return group != nullptr && group->is_cancelled();
}

}  // namespace tbb

namespace sukima::detail::tbb {

struct context_access {
  static group_state& state(const ::tbb::task_group_context& c) noexcept { return *c.state_; }
};

/// Calls f(context, running_state of its tasks) as an algorithm of a group.
/// \throws the first exception of a task of the group
template <class F> void run_in(::tbb::task_group_context& of, F&& f) {
  group_state& group = context_access::state(of);
  const running_state outer = running();
  group.bind_to(outer.group);
  if (!group.is_cancelled())
    enter([&](context c) { f(c, running_state{&group, &of, outer.where, nullptr, &outer}); });
  group.rethrow();
}

}  // namespace sukima::detail::tbb

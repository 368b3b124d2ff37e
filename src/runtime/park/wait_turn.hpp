// SPDX-License-Identifier: Apache-2.0
// How a thread waits by the policy of its setting: one turn of a policy that does not sleep, and a mutex.
#pragma once

#include "constants.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/settings.hpp>

#include <thread>

namespace sukima::detail {

/// Lets the CPU rest for some tens of cycles. On aarch64 `isb` does: `yield` is no more than a nop on cores
/// without simultaneous threads, which nearly all are (measured in github.com/rust-lang/rust/pull/84725).
inline void pause_cpu() noexcept {
#if defined(SUKIMA_SIMULATION)
  simulation::pause_cpu();
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

/// One turn of a policy that does not sleep.
inline void wait_a_moment(wait_policy p) noexcept {
  if (p == wait_policy::yield)
    std::this_thread::yield();
  else if (p != wait_policy::spin)
    pause_cpu();
}

/// Whether this policy sleeps at once.
inline bool sleeps_at_once(wait_policy p) noexcept {
  return p == wait_policy::block || p == wait_policy::condvar || p == wait_policy::inherit;
}

/// A mutex whose waiters follow a policy. `condvar` and `inherit` are the same as `block`: the mutex's own
/// wait.
class policy_mutex {
 public:
  explicit policy_mutex(wait_policy p) : policy_(p) {}
  void lock() {
    for (int tries = 0; !sleeps_at_once(policy_); ++tries) {
      if (mutex_.try_lock()) return;
      if (policy_ == wait_policy::adaptive && tries == tuning::lock_tries) break;
      wait_a_moment(policy_);
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  const wait_policy policy_;
  mutex mutex_;
};

}  // namespace sukima::detail

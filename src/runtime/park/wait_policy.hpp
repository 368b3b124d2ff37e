// SPDX-License-Identifier: Apache-2.0
// How a thread waits by the policy of its setting: one turn of a policy that does not sleep, and a mutex.
#pragma once

#include "tuning.hpp"

#include <sukima/settings.hpp>

#include <mutex>
#include <thread>

namespace sukima::detail {

inline void pause_cpu() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// One turn of a policy that does not sleep.
inline void wait_a_moment(wait_policy p) noexcept {
  if (p == wait_policy::yield)
    std::this_thread::yield();
  else if (p != wait_policy::spin)
    pause_cpu();
}

/// A mutex whose waiters follow a policy. `condvar` is the same as `block`, the mutex's own way to wait.
class policy_mutex {
 public:
  explicit policy_mutex(wait_policy p) : policy_(p) {}
  void lock() {
    for (int tries = 0; policy_ != wait_policy::block && policy_ != wait_policy::condvar; ++tries) {
      if (mutex_.try_lock()) return;
      if (policy_ == wait_policy::adaptive && tries == tuning::lock_tries) break;
      wait_a_moment(policy_);
    }
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }

 private:
  const wait_policy policy_;
  std::mutex mutex_;
};

}  // namespace sukima::detail

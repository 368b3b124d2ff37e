// SPDX-License-Identifier: Apache-2.0
// tbb::collaborative_call_once: calls a function once, and all callers wait for its end.
#pragma once

#include <oneapi/tbb/task_arena.h>
#include <sukima/blocking.hpp>
#include <sukima/suspend.hpp>

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

namespace tbb {

class collaborative_once_flag {
 public:
  collaborative_once_flag() = default;
  collaborative_once_flag(const collaborative_once_flag&) = delete;
  collaborative_once_flag& operator=(const collaborative_once_flag&) = delete;
  ~collaborative_once_flag() = default;

 private:
  template <class F, class... Arguments>
  friend void collaborative_call_once(collaborative_once_flag& flag, F&& f, Arguments&&... arguments);
  std::once_flag once_;
  std::atomic<bool> is_done_{false};  ///< pairs with: collaborative_call_once
};

/// Calls f, unless a call with this flag has already ended without an exception. A worker that waits for
/// another call lets one more worker run, which can help with the tasks of that call. f stays on its thread,
/// because std::call_once keeps data of the calling thread until f has returned.
template <class F, class... Arguments>
void collaborative_call_once(collaborative_once_flag& flag, F&& f, Arguments&&... arguments) {
  if (flag.is_done_.load(std::memory_order_acquire)) return;
  ::sukima::thread_bound([&] {
    ::sukima::blocking([&] {
      std::call_once(flag.once_, [&] {
        std::invoke(std::forward<F>(f), std::forward<Arguments>(arguments)...);
        flag.is_done_.store(true, std::memory_order_release);
      });
    });
  });
}

}  // namespace tbb

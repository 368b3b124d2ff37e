// SPDX-License-Identifier: Apache-2.0
// Makes calls that may wait for another program in a thread of their own, so that no other thread has to
// wait.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace sukima::host {

/// Makes one call at a time.
class caller {
 public:
  caller() = default;
  virtual ~caller() = default;
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  /// Begins a call. The call must not throw, and must own all data that it uses, because a call that hangs
  /// may outlive this object. \pre !busy()
  virtual void begin(std::function<void()> call) = 0;
  /// Whether the call is still running. Once this returns false, all effects of the call are visible to the
  /// caller. Never waits.
  virtual bool busy() const = 0;
  /// Waits for the end of the call. \returns false if the call has not ended by `end`
  virtual bool wait(std::chrono::steady_clock::time_point end) = 0;
};

/// Returns a caller that makes its calls in a thread. If a call hangs when the caller is destroyed, its
/// thread keeps running, because neither libvirt nor a monitor has a way to cancel a call.
std::unique_ptr<caller> make_calling_thread();

}  // namespace sukima::host

// SPDX-License-Identifier: Apache-2.0
// Calls that may wait for another program, made in a thread that holds up no other.
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

  /// Begins a call, which must not throw. What it uses it must own: a call that hangs may outlive this
  /// object. Precondition: !busy()
  virtual void begin(std::function<void()> call) = 0;
  /// Whether the call is under way. Once it is not, all that it did can be seen. Does not wait.
  virtual bool busy() const = 0;
  /// Waits for the end of the call. \returns false if it has not ended by then
  virtual bool wait(std::chrono::steady_clock::time_point end) = 0;
};

/// Makes the calls in a thread. When this ends, a thread that hangs in a call is left to itself: neither
/// libvirt nor a monitor has a way to call it back.
std::unique_ptr<caller> make_calling_thread();

}  // namespace sukima::host

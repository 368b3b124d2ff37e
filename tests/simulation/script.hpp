// SPDX-License-Identifier: Apache-2.0
// Threads of the laboratory without a real thread: a coroutine describes each of them. So its steps are
// function calls, and the laboratory can run hundreds of such threads without switching between real threads.
//
// A script works, and waits for counters, which other scripts increase. A wait first polls, for as long as
// the script's patience lasts, and then sleeps. Polling uses its vCPU's time in one piece, not poll by poll.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

namespace sukima::simulation {

class script {
 public:
  struct promise_type {
    script get_return_object() noexcept { return script(handle::from_promise(*this)); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::terminate(); }
  };

  script() = default;
  script(script&& other) noexcept : body_(std::exchange(other.body_, nullptr)) {}
  script& operator=(script&& other) noexcept {
    std::swap(body_, other.body_);
    return *this;
  }
  ~script() {
    if (body_) body_.destroy();
  }

  explicit operator bool() const noexcept { return static_cast<bool>(body_); }
  /// Runs the script until it works, waits or ends. \returns whether it has not ended
  bool go_on() const {
    body_.resume();
    return !body_.done();
  }

 private:
  using handle = std::coroutine_handle<promise_type>;
  explicit script(handle body) noexcept : body_(body) {}
  handle body_ = nullptr;
};

/// A number in the memory of scripts that only grows.
struct counter {
  std::uint64_t value = 0;
  std::vector<std::size_t> waiting;  ///< threads that wait for it
};

/// The CPU time for which a script polls before it sleeps.
struct patience {
  std::uint64_t nanoseconds;
  bool pauses = true;  ///< whether it uses the pause instruction, so that the processor detects a loop
  static constexpr std::uint64_t endless = ~std::uint64_t{0} / 8;
};

}  // namespace sukima::simulation

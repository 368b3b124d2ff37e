// SPDX-License-Identifier: Apache-2.0
// Scenes: small programs about parts of the library that random programs do not use. The seed selects and
// varies them. Each scene ends with the same result in every schedule.
#pragma once

#include "../runtime/random/numbers.hpp"
#include "atomics.hpp"

#include <sukima/sukima.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

namespace sukima::simulation {

/// The input of a scene, and its verdict.
struct stage {
  sukima::runtime& runtime;
  random_programs::numbers random;
  int places = 0;  ///< of the made-up machine; 0: none
  std::string error{};  ///< the first expectation that was not met

  /// Any thread of the machine may call this.
  void expect(bool holds, const char* claim) {
    if (!holds && error.empty()) error = claim;
  }
  int number(int from, int to) {
    return from + static_cast<int>(random.below(static_cast<std::uint64_t>(to - from + 1)));
  }
  bool has_others() const { return runtime.workers() > 1; }
};

struct scene {
  const char* name;
  void (*play)(stage&);
  /// Whether a fiber in it loops until another fiber, which may run only on another worker, ends the loop.
  bool needs_its_workers = false;
};

std::span<const scene> scenes_of_futures() noexcept;
std::span<const scene> scenes_of_control() noexcept;
std::span<const scene> scenes_of_threads() noexcept;
std::span<const scene> scenes_of_sharing() noexcept;
std::span<const scene> scenes_of_regions() noexcept;

/// Returns the scene of that seed.
const scene& scene_of(std::uint64_t seed) noexcept;

inline long fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
inline long fibonacci(context c, int n) {
  if (n < 2) return n;
  const auto [a, b] = fork2(
      c, [&](context below) { return fibonacci(below, n - 1); },
      [&](context below) { return fibonacci(below, n - 2); });
  return a + b;
}

/// Forks until the condition holds, and lets other threads run in between.
template <class Condition> void poll_until(context c, Condition condition) {
  while (!condition()) {
    fork2(c, [] {}, [] {});
    std::this_thread::yield();
  }
}
[[noreturn]] inline void fork_for_ever(context c) {
  for (;;) {
    fork2(c, [] {}, [] {});
    std::this_thread::yield();
  }
}

inline void sleep_us(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}

/// Whether a call throws that exception.
template <class Exception, class F> bool throws(F&& f) {
  try {
    f();
  } catch (const Exception&) {
    return true;
  }
  return false;
}

/// An event for which fibers wait. A cancelled fiber stops waiting.
class event {
 public:
  void wait(context c) {
    suspend(
        c,
        [this](resumer r) {
          waiting_ = r;
          begun.store(true);
        },
        [this](resumer r) noexcept {
          if (!taken_.exchange(true)) r.resume();
        });
  }
  /// \pre begun
  void happen() {
    if (!taken_.exchange(true)) waiting_.resume();
  }
  detail::atomic<bool> begun{false};

 private:
  resumer waiting_;
  detail::atomic<bool> taken_{false};
};

}  // namespace sukima::simulation

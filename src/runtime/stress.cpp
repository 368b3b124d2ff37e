// SPDX-License-Identifier: Apache-2.0
// The delays of the stress mode. On the simulated machine (docs/simulation.md), its scheduler chooses them.
#include "stress.hpp"

#if defined(SUKIMA_STRESS) && !defined(SUKIMA_SIMULATION)

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <thread>

namespace sukima::detail {

namespace {

std::uint64_t rate() noexcept {
  static const std::uint64_t value = [] {
    const char* text = std::getenv("SUKIMA_STRESS_RATE");
    const long n = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    return static_cast<std::uint64_t>(n > 0 ? n : 64);
  }();
  return value;
}

/// Draws the next number. The state is in a function of its own, because the compiler must not keep the
/// state's address while fibers move to other threads.
[[gnu::noinline]] std::uint64_t draw() noexcept {
  static thread_local std::uint64_t state = 0;
  if (state == 0) state = std::hash<std::thread::id>{}(std::this_thread::get_id()) | 1;
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 0x2545F4914F6CDD1Dull;
}

}  // namespace

void stress_point() noexcept {
  const std::uint64_t drawn = draw();
  if ((drawn >> 8) % rate() != 0) return;
  switch (drawn & 7) {
    case 0:
      std::this_thread::sleep_for(std::chrono::microseconds(drawn >> 58));
      break;
    case 1:
    case 2:
      for (int i = 0; i < 500; ++i) asm volatile("");
      break;
    default:
      std::this_thread::yield();
  }
}

}  // namespace sukima::detail

#endif

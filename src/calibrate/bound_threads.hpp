// SPDX-License-Identifier: Apache-2.0
// Threads bound to CPUs, and the clock of the measurements.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

namespace sukima::calibrate_detail {

using clock = std::chrono::steady_clock;

/// Measurements of each figure; the best one counts, so a disturbance does not falsify it.
inline constexpr int repetitions = 7;

/// Seconds since a time.
double seconds_since(clock::time_point begin);

/// A function and the CPU to run it on.
struct bound_function {
  unsigned cpu;
  std::function<void()> body;
};

/// Runs functions at the same time, each in a thread of its own that is bound to a CPU; they start together.
/// \throws std::system_error if a thread cannot be made or bound: then no function runs
void run_bound(const std::vector<bound_function>& functions);

/// Binds the calling thread to a CPU. \returns 0, or an error number
int bind_this_thread(unsigned cpu);

/// The CPUs that this process may run on, in ascending order.
std::vector<unsigned> allowed_cpus();

/// A pause instruction, for loops that wait: the runtime's own (src/runtime/park/wait_turn.hpp).
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace sukima::calibrate_detail

// SPDX-License-Identifier: Apache-2.0
// Runs threads that are bound to CPUs. Also has the clock of the measurements.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <vector>

namespace sukima::calibrate_detail {

using clock = std::chrono::steady_clock;

/// The number of measurements of each value. The best one counts, so a disturbance does not falsify the
/// value.
inline constexpr int repetitions = 7;

/// Seconds since a time.
double seconds_since(clock::time_point begin);

/// A function, and the CPU on which to run it.
struct bound_function {
  unsigned cpu;
  std::function<void()> body;
};

/// Runs functions at the same time, each in a thread of its own that is bound to a CPU. They start together.
/// \throws std::system_error  a thread cannot be started or bound; then no function runs
/// \throws ...  an exception of a function, after all have returned
void run_bound(const std::vector<bound_function>& functions);

/// Binds the calling thread to a CPU. \returns 0, or an error number
int bind_this_thread(unsigned cpu);

/// The CPUs on which this process may run, in ascending order.
std::vector<unsigned> allowed_cpus();

/// Executes a pause instruction, for loops that wait, as in src/runtime/park/wait_turn.hpp.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

}  // namespace sukima::calibrate_detail

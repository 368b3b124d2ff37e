// SPDX-License-Identifier: Apache-2.0
// The processes of a cell: our program and the hogs. They are controlled by orders in shared memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace sukima::truth {

/// Orders for all processes of a cell. Only the stage writes them. Relaxed order is enough, because the
/// values publish no other data.
struct orders {
  std::atomic<int> active_threads{0};  ///< number of our threads that run; the others sleep
  std::atomic<int> hogs_run{0};
};

enum class behaviour {
  always,   ///< never blocks
  on_off,   ///< 50 ms on, 50 ms off
  blocking  ///< 5 ms of CPU time, 5 ms asleep
};

/// Returns the nanoseconds of CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

/// Sleeps until the time.
void sleep_until_ns(std::uint64_t time_ns);

/// Starts our program. Its threads sleep until an order makes them run.
/// \param own_session makes the program the leader of a new session
pid_t start_program(const orders& shared, int threads, behaviour how, bool own_session);

/// Starts a hog, which sleeps until an order makes the hogs run.
pid_t start_hog(const orders& shared, behaviour how, int nice_value, bool own_session);

/// Ends a process that one of these functions started, and waits for it.
void end_process(pid_t process);

}  // namespace sukima::truth

// SPDX-License-Identifier: Apache-2.0
// A worker: what belongs to one thread that runs tasks.
#pragma once

#include "fiber/fiber.hpp"
#include "observe/trace.hpp"

#include <sukima/statistics.hpp>

#include <sched.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sukima::detail {

/// Flags of a worker, set by others before they raise its fiber's limit.
inline constexpr std::uint32_t flag_check_abort = 1;  ///< something was aborted: does it concern your task?
inline constexpr std::uint32_t flag_leave = 2;  ///< the root that your thread waits for is done

/// Times of a worker by state, in ticks of `ticks()`.
enum class worker_state : unsigned { working, searching, sleeping, outside };

struct alignas(128) worker {
  runtime_core* runtime = nullptr;
  unsigned id = 0;
  std::uint32_t number = 0;  ///< among all workers that this process ever had, from 1

  // Others read and write these.
  std::atomic<fiber*> current{nullptr};  ///< exchanged at every switch; raisers read it after setting a flag
  std::atomic<std::uint32_t> flags{0};
  /// Futex: counts calls to wake up. Read before the last look around, waited on afterwards.
  std::atomic<std::uint32_t> bell{0};
  std::mutex bell_lock;  ///< with bell_rung, for the policy `condvar`: held while `bell` is looked at
  std::condition_variable bell_rung;
  std::atomic<bool> deep{false};  ///< asleep for good, or about to be (sleep.cpp)
  std::atomic<bool> taken{false};  ///< an entering thread has this slot
  std::atomic<bool> inside{false};  ///< … and works. Partner: cpu_spread::hold
  cpu_set_t
      affinity_before{};  ///< of its thread, valid while `held`; written by cpu_spread before that is set
  std::atomic<bool> held{false};  ///< its thread stays on one CPU (cpu_spread.cpp), or will in a moment
  std::atomic<bool> shares_cpu{false};  ///< it is another worker's guest, or has one. Set by cpu_spread only
  std::atomic<int> thread_id{
      0};  ///< the kernel's number of the thread that is this worker; read by the monitor
  /// The thief that asks this worker for a task; null: none; closed_box: do not ask. Partner: request.cpp.
  std::atomic<worker*> box{nullptr};
  /// The answer to this worker's own request: null: pending; no_task; else the task.
  std::atomic<task*> reply{nullptr};

  // Only for its own thread.
  alignas(128) boost::context::detail::fcontext_t home = nullptr;  ///< the thread's own stack
  exception_state home_exceptions;
  exception_state* thread_exceptions = nullptr;  ///< the C++ runtime's own words of this thread
  void* home_tsan_fiber = nullptr;
  void* home_fake_stack = nullptr;
  const void* home_stack_bottom = nullptr;
  std::size_t home_stack_size = 0;
  bool background = false;  ///< a thread of the runtime, not one that entered
  unsigned rank = 0;  ///< number among the background workers, from 1; 0: a thread that entered
  std::uint64_t random_state = 0;
  const worker* last_victim = nullptr;  ///< who gave it its last task; null: nobody, or has no more
  std::array<fiber*, 4> cache{};
  unsigned cached = 0;
  worker_statistics counts;
  worker_state state = worker_state::outside;
  std::uint64_t state_since = 0;
  trace_buffer* trace = nullptr;  ///< null: no trace

  std::uint64_t random() noexcept;
  fiber* take_fiber();  ///< a fresh one; null: no memory
  void give_fiber(fiber* s) noexcept;
  void enter_state(worker_state s) noexcept;
  void enter_state(worker_state s, std::uint64_t now) noexcept;
  void note(trace_kind kind, std::uint32_t argument = 0) noexcept;
  void count_abort() noexcept {
    ++counts.aborts;
    note(trace_kind::abort);
  }
};

inline worker* const closed_box = reinterpret_cast<worker*>(std::uintptr_t{1});
inline task* const no_task = reinterpret_cast<task*>(std::uintptr_t{1});

}  // namespace sukima::detail

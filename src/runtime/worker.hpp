// SPDX-License-Identifier: Apache-2.0
// A worker (what belongs to one thread that runs tasks), and the table of a runtime's workers.
#pragma once

#include "fiber/fiber.hpp"
#include "observe/trace.hpp"
#include "park/wake_epoch.hpp"
#include "place/worker_hints.hpp"
#include "rest/rest_mark.hpp"
#include "steal/mailbox.hpp"

#include <sukima/detail/atomics.hpp>
#include <sukima/statistics.hpp>

#include <sched.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sukima::detail {

/// Flags of a worker. Whoever sets one requests a poll of the worker's fiber afterwards.
inline constexpr std::uint32_t flag_check_abort = 1;  ///< something was aborted: does it concern your task?
inline constexpr std::uint32_t flag_leave = 2;  ///< leave the fiber to others: your thread is wanted at home
inline constexpr std::uint32_t flag_remote = 4;  ///< another node wants a task (remote/remote_interface.hpp)
inline constexpr std::uint32_t flag_place = 8;  ///< somebody may exchange fibers with you (place/hints.hpp)

/// States of a worker, in the order of trace_kind. Their times are counted in ticks of `ticks()`.
enum class worker_state : unsigned { working, searching, sleeping, outside };

struct alignas(128) worker {
  /// \param in_runtime its number in the table
  /// \param in_rank see `rank`
  worker(runtime_core& core, unsigned in_runtime, unsigned in_rank);

  runtime_core* const runtime;
  const unsigned id;  ///< number in the runtime, from 0
  const std::uint32_t number;  ///< among all workers that this process ever had, from 1
  const unsigned rank;  ///< number among the background workers, from 1; 0: a thread that entered
  const bool background;  ///< its thread is the runtime's own

  // Others read and write these.
  atomic<fiber*> current{nullptr};  ///< exchanged at every switch; read by whoever has set a flag
  atomic<std::uint32_t> flags{0};
  wake_epoch epoch;
  atomic<bool> parked{false};  ///< counted as parked, or about to be (park.hpp)
  std::atomic<bool> taken{true};  ///< a background thread's, or an entering thread has it
  std::atomic<bool> inside{false};  ///< … and works. Partner: worker_placement::pin_all
  /// Of its thread, valid while `pinned`; written by worker_placement before that is set, or by the thread
  /// itself where each background worker stays on one CPU (pin_policy::cpu).
  cpu_set_t affinity_before{};
  std::atomic<bool> pinned{false};  ///< its thread stays on one CPU (worker_placement), or will in a moment
  std::atomic<bool> shares_cpu{false};  ///< it is another worker's guest, or has one. Set by worker_placement
  /// The kernel's number of the thread that is this worker; 0: none. Read by the monitor.
  std::atomic<int> thread_id{0};
  steal_mailbox mailbox;
  /// It runs something, so it polls; only where a node is attached (remote/remote_interface.hpp).
  std::atomic<bool> answers_remote{false};
  std::atomic<bool> asked_by_node{false};  ///< it owes the node an answer
  /// The reply to this worker's own request: null: pending; no_task; else the task (steal/mailbox.hpp).
  atomic<task*> reply{nullptr};
  /// The tick at which it last took a thief's request, with settings::request_interval_us. Only a hint.
  std::atomic<std::uint64_t> replied_at{0};
  worker_hints hints;

  // Only for its own thread.
  alignas(128) boost::context::detail::fcontext_t home = nullptr;  ///< the thread's own stack
  exception_state home_exceptions;
  exception_state* thread_exceptions = nullptr;  ///< the C++ runtime's own words of this thread
  void* home_tsan_fiber = nullptr;
  void* home_fake_stack = nullptr;
  const void* home_stack_bottom = nullptr;
  std::size_t home_stack_size = 0;
  std::uint64_t random_state;
  const worker* last_victim = nullptr;  ///< that gave it its last task; null: none, or it has no more
  std::array<fiber*, 4> cache{};
  unsigned cached = 0;
  worker_statistics statistics;
  worker_state state = worker_state::outside;
  std::uint64_t state_since;
  std::uint64_t root_began_at = 0;  ///< tick at which its thread entered last
  std::uint64_t root_ended_at = 0;  ///< tick at which that root ended here; 0: elsewhere, or not yet
  trace_buffer* trace;  ///< null: no trace

  [[no_unique_address]] rest_mark rest;  ///< for the check at rest; written by its own thread
  void rests(rest_place place) noexcept;
  /// Before it sleeps until its wake epoch is another one than `seen`.
  void sleeps(rest_place place, std::uint32_t seen) noexcept;

  std::uint64_t random() noexcept;
  fiber* take_fiber();  ///< a fresh one; null: no memory
  /// Takes back a fiber that nobody runs, perhaps for the next call of take_fiber.
  void give_fiber(fiber* s) noexcept;
  void enter_state(worker_state s) noexcept;
  void enter_state(worker_state s, std::uint64_t now) noexcept;
  void note(trace_kind kind, std::uint32_t argument = 0) noexcept;
  void count_abort() noexcept {
    ++statistics.aborts;
    note(trace_kind::abort);
  }
};

inline constexpr unsigned max_workers = 4096;

/// The workers of a runtime and its threads. Workers are only added, and live as long as the runtime.
class worker_table {
 public:
  explicit worker_table(runtime_core& core) : core_(core), workers_(new std::atomic<worker*>[max_workers]) {}
  ~worker_table();
  worker_table(const worker_table&) = delete;
  worker_table& operator=(const worker_table&) = delete;

  /// Acquire. Partner: the release store in add().
  unsigned size() const noexcept { return count_.load(std::memory_order_acquire); }
  /// \param i below a size that was read before
  worker& operator[](unsigned i) const noexcept { return *workers_[i].load(std::memory_order_relaxed); }

  struct iterator {
    const std::atomic<worker*>* at;
    worker& operator*() const noexcept { return *at->load(std::memory_order_relaxed); }
    iterator& operator++() noexcept {
      ++at;
      return *this;
    }
    bool operator==(const iterator&) const = default;
  };
  struct range {
    iterator from;
    iterator to;
    iterator begin() const noexcept { return from; }
    iterator end() const noexcept { return to; }
  };
  /// The workers so far.
  range all() const noexcept { return {{workers_.get()}, {workers_.get() + size()}}; }

  /// \param rank of a background worker, from 1; 0: for a thread that enters
  worker& add(unsigned rank);
  /// Starts the thread of one more background worker, which has the next rank. \returns false: there is no
  /// thread or no memory to be had, and nothing has changed
  bool start_thread() noexcept;
  /// How many threads were started. Their workers have the ranks from 1 to this.
  unsigned threads() const noexcept { return started_; }
  /// Waits for the ends of the threads.
  void join_threads();
  /// In a child process after fork(), where they do not exist.
  void forget_threads();

 private:
  runtime_core& core_;
  const std::unique_ptr<std::atomic<worker*>[]> workers_;
  std::atomic<unsigned> count_{0};
  std::mutex growing_;
  std::vector<std::thread> threads_;  ///< guarded by growing_
  unsigned started_ = 0;  ///< only for worker_controller, under its lock
  worker* without_thread_ = nullptr;  ///< the next worker, whose thread could not be started yet; as started_
};

}  // namespace sukima::detail

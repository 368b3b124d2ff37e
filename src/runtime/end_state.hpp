// SPDX-License-Identifier: Apache-2.0
// The state of a runtime's end that workers must know: whether the runtime is closed, whether it belongs to a
// parent process, and whether threads are resuming one of its fibers. lifecycle.hpp changes it.
#pragma once

#include <sukima/errors.hpp>

#include <atomic>
#include <cstddef>
#include <thread>

namespace sukima::detail {

/// The number of fork() calls that this process descends from. Written in the child before other code runs
/// there. A runtime's lifetime makes sure that the calls are counted. no partner: the child's only thread
/// writes and reads it
extern std::atomic<unsigned> fork_generation;

class lifetime {
 public:
  lifetime();
  lifetime(const lifetime&) = delete;
  lifetime& operator=(const lifetime&) = delete;

  /// Whether no entry is active any more and none will begin: background threads then end.
  bool is_closed() const noexcept { return closed_.load(std::memory_order_seq_cst); }
  void close() noexcept { closed_.store(true, std::memory_order_seq_cst); }

  /// Whether fork() was called after the runtime's start, and this process is the child.
  bool is_orphaned() const noexcept;
  /// \throws usage_error if the runtime is orphaned
  void refuse_orphans() const {
    if (fork_generation_ != fork_generation.load(std::memory_order_relaxed)) [[unlikely]]
      refuse();
  }
  void exit_if_orphaned() const noexcept;

  /// Keeps a runtime alive while another thread resumes one of its fibers, because the resumed fiber may end
  /// the last task.
  class resuming {
   public:
    explicit resuming(lifetime& of) noexcept : of_(of) {
      of_.resuming_.fetch_add(1, std::memory_order_seq_cst);
    }
    ~resuming() { of_.resuming_.fetch_sub(1, std::memory_order_release); }
    resuming(const resuming&) = delete;
    resuming& operator=(const resuming&) = delete;

   private:
    lifetime& of_;
  };
  /// Waits until no thread is resuming a fiber. That takes some instructions, unless such a thread has just
  /// lost its CPU.
  void wait_for_resuming() const noexcept {
    while (resuming_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  [[noreturn, gnu::cold]] static void refuse();

  const unsigned fork_generation_;  ///< how often fork() was called above this process
  std::atomic<bool> closed_{false};  ///< pairs with: close, is_closed
  /// Threads inside resume_fiber. pairs with: resuming, wait_for_resuming
  std::atomic<std::size_t> resuming_{0};
};

unsigned forks_so_far() noexcept;

}  // namespace sukima::detail

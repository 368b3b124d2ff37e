// SPDX-License-Identifier: Apache-2.0
// The threads of other runtimes that compute in this process, for all of its own runtimes.
//
// A change is counted first; then the monitors that listen are told. A monitor is woken only while a thread
// is inside its runtime. A thread that enters counts itself first and then compares the count with the one
// that its runtime follows. All are sequentially consistent, so one of the two sees the other.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace sukima::detail {

class monitor;

class threads_beside {
 public:
  constexpr threads_beside() = default;
  threads_beside(const threads_beside&) = delete;
  threads_beside& operator=(const threads_beside&) = delete;

  /// How many compute, without those that are workers.
  unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }
  /// This number of threads begins to compute, the calling thread included.
  /// \return for end(); 0: none are counted
  std::uint64_t begin(unsigned threads) noexcept;
  void end(std::uint64_t begun) noexcept;

  /// A thread enters a runtime.
  void note_entry() noexcept {
    if (!entered_.load(std::memory_order_relaxed)) entered_.store(true, std::memory_order_relaxed);
  }
  /// Whether a thread has entered a runtime since the last call, or is inside.
  bool was_used() noexcept;

  /// Tells this monitor of changes from now on. With more monitors than there is room for, the last ones see
  /// a change when they look at the machine.
  void listen(monitor& from_now_on) noexcept;
  /// Afterwards no thread uses it any more.
  void stop_listening(monitor& from_now_on) noexcept;

  /// In the child of a fork, where none of these threads exist.
  void forget() noexcept;

 private:
  static constexpr std::size_t most_monitors = 16;
  template <class F> bool any_monitor(F f) noexcept;
  void tell() noexcept;

  /// pairs with: begin, end, count
  std::atomic<unsigned> count_{0};
  std::atomic<bool> entered_{false};  ///< no partner: a hint
  /// pairs with: listen, stop_listening, any_monitor
  std::array<std::atomic<monitor*>, most_monitors> monitors_{};
  /// Threads that are using what they found in monitors_. pairs with: any_monitor, stop_listening
  std::atomic<unsigned> using_{0};
};

/// Those of this process.
extern constinit threads_beside others;

/// Whether the calling thread is in an active parallel region of OpenMP.
bool is_in_parallel_region() noexcept;

/// The preload library of `sukima run`, where it is there, reports OpenMP's regions from now on.
void meet_preload_library() noexcept;

}  // namespace sukima::detail

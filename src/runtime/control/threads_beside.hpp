// SPDX-License-Identifier: Apache-2.0
// The threads of other runtimes that compute in this process. All of Sukima's runtimes in the process share
// them.
//
// A change is first counted, and then reported to the monitors that listen (monitor.hpp).
#pragma once

#include <sukima/detail/atomics.hpp>

#include <array>
#include <atomic>
#include <cstdint>

namespace sukima::detail {

class monitor;

class threads_beside {
 public:
  threads_beside() = default;
  threads_beside(const threads_beside&) = delete;
  threads_beside& operator=(const threads_beside&) = delete;

  /// How many threads compute, without those that are workers.
  unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }
  /// Called when this number of threads begins to compute, including the calling thread.
  /// \return the argument for end(); 0: no threads are counted
  std::uint64_t begin(unsigned threads) noexcept;
  void end(std::uint64_t begun) noexcept;

  /// Whether a thread has entered a runtime since the last call, or is inside.
  bool was_used() noexcept;

  /// Reports changes to this monitor from now on. If there are more monitors than listeners, the last
  /// monitors notice changes only when they sample the machine.
  void listen(monitor& from_now_on) noexcept;
  /// No thread uses the monitor after this returns.
  void stop_listening(monitor& from_now_on) noexcept;

  /// Called in the child of a fork, where none of these threads exist.
  void forget() noexcept;

 private:
  static constexpr std::size_t most_monitors = 16;
  template <class F> void for_each_monitor(F f) noexcept;

  /// pairs with: begin, end, count
  atomic<unsigned> count_{0};
  /// Differs in each process that fork() makes. no partner: the child's only thread writes it
  std::atomic<std::uint32_t> generation_{0};
  struct listener {
    /// The monitor; null: none. pairs with: listen, stop_listening, for_each_monitor
    atomic<monitor*> its{nullptr};
    /// Number of threads that are using the monitor. pairs with: for_each_monitor, stop_listening
    atomic<unsigned> users{0};
  };
  std::array<listener, most_monitors> listeners_{};
};

/// The threads of this process.
extern threads_beside others;

/// Whether the calling thread is in an active parallel region of OpenMP.
bool is_in_parallel_region() noexcept;

/// From now on the preload library of `sukima run`, if it is loaded, reports OpenMP's regions.
void meet_preload_library() noexcept;

}  // namespace sukima::detail

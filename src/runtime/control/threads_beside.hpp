// SPDX-License-Identifier: Apache-2.0
// The threads of other runtimes that compute in this process, for all of its own runtimes.
//
// A change is counted first. Then it is reported to the monitors that listen (monitor.hpp).
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

  /// How many compute, without those that are workers.
  unsigned count() const noexcept { return count_.load(std::memory_order_seq_cst); }
  /// This number of threads begins to compute, the calling thread included.
  /// \return for end(); 0: none are counted
  std::uint64_t begin(unsigned threads) noexcept;
  void end(std::uint64_t begun) noexcept;

  /// Whether a thread has entered a runtime since the last call, or is inside.
  bool was_used() noexcept;

  /// Reports changes to this monitor from now on. With more monitors than there is room for, the last ones
  /// see a change when they look at the machine.
  void listen(monitor& from_now_on) noexcept;
  /// Afterwards no thread uses it any more.
  void stop_listening(monitor& from_now_on) noexcept;

  /// In the child of a fork, where none of these threads exist.
  void forget() noexcept;

 private:
  static constexpr std::size_t most_monitors = 16;
  template <class F> void for_each_monitor(F f) noexcept;

  /// pairs with: begin, end, count
  atomic<unsigned> count_{0};
  /// Another number in each process that fork() makes. no partner: the child's only thread writes it
  std::atomic<std::uint32_t> generation_{0};
  struct listener {
    /// null: none. pairs with: listen, stop_listening, for_each_monitor
    atomic<monitor*> its{nullptr};
    /// Threads that are using it. pairs with: for_each_monitor, stop_listening
    atomic<unsigned> users{0};
  };
  std::array<listener, most_monitors> listeners_{};
};

/// Those of this process.
extern threads_beside others;

/// Whether the calling thread is in an active parallel region of OpenMP.
bool is_in_parallel_region() noexcept;

/// The preload library of `sukima run`, where it is there, reports OpenMP's regions from now on.
void meet_preload_library() noexcept;

}  // namespace sukima::detail

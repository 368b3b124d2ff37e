// SPDX-License-Identifier: Apache-2.0
// A runtime's start, the entries of outside threads, its end, and what becomes of it in a child after fork().
//
// Shutdown: `stopping_` is set, then stop() waits until no entry is counted (park/park.hpp). An entry counts
// itself first and reads `stopping_` afterwards, so either it is waited for or it is refused. Then the
// lifetime is closed and every worker is unparked: background threads end when they see it. Launched futures
// that have not ended are cancelled and awaited before that, by one more entry of the thread that stops.
#pragma once

#include "control/capacity_handle.hpp"

#include <sukima/errors.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sukima::detail {

struct root_task;
class remote_interface;
class rest_check;
struct runtime_core;
struct worker;

class lifecycle {
 public:
  lifecycle(runtime_core& core, remote_interface& remote) : core_(core), remote_(remote) {}
  lifecycle(const lifecycle&) = delete;
  lifecycle& operator=(const lifecycle&) = delete;

  /// Makes the first worker, and starts the threads.
  /// \param capacity  where it has been read already; else null
  /// \throws std::system_error
  void start(capacity_handle capacity);
  /// Waits until all entries have ended, then ends the workers. May be called again.
  void stop();

  /// Runs a root; the calling thread is a worker during the call.
  /// \throws usage_error, std::system_error, what the root threw
  void enter(root_task& root);
  /// The same, but does nothing after stop() was called. \returns false: it was called
  bool try_enter(root_task& root);
  /// Whether entries are refused.
  bool is_stopping() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
  /// Does the same as stop() if no thread is inside, no launched future is left and no node is attached, so
  /// that nothing of the program runs during the call.
  /// \returns false: nothing has happened, but entries may have been refused
  bool stop_if_empty();

 private:
  friend class remote_interface;
  class rest_check;
  worker* acquire_worker();
  void end_entry(std::uint64_t now) noexcept;
  void close_launched() noexcept;

  runtime_core& core_;
  remote_interface& remote_;
  /// Entries are refused. pairs with: stop, stop_if_empty; try_enter, end_entry in entry.cpp
  std::atomic<bool> stopping_{false};
  /// The only entry that is not refused. no partner: written by the thread that enters with it
  std::atomic<const root_task*> last_root_{nullptr};
  std::mutex leaving_;
  std::condition_variable left_;  ///< an entry ended while `stopping_`
};

/// The error of an entry into a runtime that was shut down.
usage_error was_shut_down();
/// Main function of a background worker's thread.
void background_main(worker& w);

}  // namespace sukima::detail

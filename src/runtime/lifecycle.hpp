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

  /// The calling thread becomes a worker for the time of a call.
  /// \throws usage_error, std::system_error, what the root threw
  void enter(root_task& root);
  /// The same, but where stop() was called nothing happens. \returns false: it was
  bool try_enter(root_task& root);
  /// Whether entries are refused.
  bool is_stopping() const noexcept { return stopping_.load(std::memory_order_seq_cst); }
  /// As stop(), if nobody is inside, no launched future is left and no node is attached; so nothing of the
  /// program runs meanwhile. \returns false: nothing has happened, but entries may have been refused
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
  /// The one entry that is not refused. no partner: written by the thread that enters with it
  std::atomic<const root_task*> last_root_{nullptr};
  std::mutex leaving_;
  std::condition_variable left_;  ///< an entry ended while `stopping_`
};

/// The error of an entry into a runtime that was shut down.
usage_error was_shut_down();
/// What a background worker's thread does.
void background_main(worker& w);

}  // namespace sukima::detail

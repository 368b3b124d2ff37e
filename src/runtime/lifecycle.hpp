// SPDX-License-Identifier: Apache-2.0
// A runtime's start, its end, and its state in a child after fork().
//
// Shutdown: entries are refused, and the counted ones are awaited (entries.hpp). Then the lifetime is closed
// and every worker is unparked; background threads end when they read that. Before that, the thread that
// stops the runtime enters once more, and cancels and awaits the launched futures that have not ended.
#pragma once

#include "control/capacity_handle.hpp"

#include <mutex>

namespace sukima::detail {

class launched_futures;
class lifetime;
class monitor;
class remote_interface;
class runtime_entries;
class worker_controller;
class worker_table;
class worker_threads;
struct worker;

class lifecycle {
 public:
  lifecycle(worker_table& workers, worker_threads& threads, worker_controller& controller,
            monitor& monitor_thread, launched_futures& launched, remote_interface& remote, lifetime& life,
            runtime_entries& entries)
      : workers_(workers),
        threads_(threads),
        controller_(controller),
        monitor_thread_(monitor_thread),
        launched_(launched),
        remote_(remote),
        life_(life),
        entries_(entries) {}
  lifecycle(const lifecycle&) = delete;
  lifecycle& operator=(const lifecycle&) = delete;

  /// Makes the first worker, and starts the threads.
  /// \param capacity  the capacity, if it has been read already; otherwise null
  /// \throws std::system_error
  void start(capacity_handle capacity);
  /// Waits until all entries have ended, then ends the workers. May be called again, and by several threads
  /// at once: each call returns when the workers have ended.
  void stop();
  /// Does the same as stop() if no thread is inside, no launched future is left and no node is attached, so
  /// that none of the program's code runs during the call.
  /// \returns false if nothing has happened, but entries may have been refused
  bool stop_if_empty();

 private:
  void close_launched() noexcept;

  worker_table& workers_;
  worker_threads& threads_;
  worker_controller& controller_;
  monitor& monitor_thread_;
  launched_futures& launched_;
  remote_interface& remote_;
  lifetime& life_;
  runtime_entries& entries_;
  std::mutex stopping_;  ///< held by the thread that ends the workers
};

/// Main function of a background worker's thread (background_worker.cpp).
void background_main(worker& self);

}  // namespace sukima::detail

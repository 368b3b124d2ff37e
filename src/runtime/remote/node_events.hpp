// SPDX-License-Identifier: Apache-2.0
// The reports of workers to the node of a cluster to which their runtime is attached. The class in
// remote/remote_interface.hpp implements this. If no node was ever attached, each call costs one load.
#pragma once

#include <atomic>

namespace sukima::detail {

struct fiber;
struct received_task;
struct worker;

class node_events {
 public:
  node_events() = default;
  node_events(const node_events&) = delete;
  node_events& operator=(const node_events&) = delete;

  bool is_attached() const noexcept { return attached_.load(std::memory_order_relaxed); }
  /// Reports that the worker runs a fiber from now on; worker_stops: that it runs none. Called in slow paths.
  void worker_begins(worker& w) noexcept {
    if (is_attached()) begins(w);
  }
  void worker_stops(worker& w) noexcept {
    if (is_attached()) stops(w);
  }
  /// Reports that a worker has found no work.
  void is_idle() noexcept {
    if (is_attached()) report_idle();
  }
  /// Searches for tasks that were given away and that an abort affects. Called after the abort was written.
  void abort_those_concerned() noexcept {
    if (is_attached()) abort_given();
  }
  virtual void received_ended(received_task& t) noexcept = 0;

  /// The owner of all received tasks, which is a fiber that never runs.
  static fiber& elsewhere() noexcept;

 protected:
  ~node_events() = default;
  virtual void begins(worker& w) noexcept = 0;
  virtual void stops(worker& w) noexcept = 0;
  virtual void report_idle() noexcept = 0;
  virtual void abort_given() noexcept = 0;

  /// Stays true once a node was attached. no partner: the node is used under a lock
  std::atomic<bool> attached_{false};
};

}  // namespace sukima::detail

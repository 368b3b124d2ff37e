// SPDX-License-Identifier: Apache-2.0
// The processes that the programs of nodes leave behind on this machine, and their end after the run.
//
// A script that a signal ends leaves the program that it had started, which would wait for the other nodes. A
// process group for each node would find these processes, but then the terminal's signals and its job control
// would not reach the nodes. So the launcher adopts them (PR_SET_CHILD_SUBREAPER): a process whose parents
// have ended becomes the launcher's child. Only children are signalled, because no other process can get
// their numbers before the launcher reaps them. A process in another session, made by setsid(2), has been
// detached on purpose and is left alone.
#pragma once

#include <chrono>
#include <functional>
#include <set>

#include <sys/types.h>

namespace sukima::cluster {

/// The children of this process, except for its nodes and those that it had before. Only one object may exist
/// at a time, in a process with one thread.
class left_processes {
 public:
  /// \param is_node  whether the launcher itself waits for this child
  explicit left_processes(std::function<bool(pid_t)> is_node);
  /// Kills the processes that are left at that moment.
  ~left_processes();
  left_processes(const left_processes&) = delete;
  left_processes& operator=(const left_processes&) = delete;

  /// Reaps those that have ended. To be called after each SIGCHLD. Complexity: linear in the number of ended
  /// children.
  void reap() const;
  /// Ends the processes by SIGTERM, and those that still run after `patience` by SIGKILL. Another signal than
  /// SIGCHLD ends the patience.
  /// \param signals  descriptor from which signals are read, SIGCHLD among them; it does not block
  /// \pre no node runs
  void end(int signals, std::chrono::milliseconds patience) const;

 private:
  /// Returns the children that must end. Complexity: linear in the number of children.
  std::set<pid_t> remaining() const;

  std::function<bool(pid_t)> is_node_;
  int was_subreaper_ = 0;
  std::set<pid_t> earlier_;  ///< the children that this process had before
};

}  // namespace sukima::cluster

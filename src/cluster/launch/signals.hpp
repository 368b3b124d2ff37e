// SPDX-License-Identifier: Apache-2.0
// The signals of the launcher.
#pragma once

#include "launch/child.hpp"

#include <csignal>

namespace sukima::cluster {

/// While the object exists, SIGCHLD and the signals for the nodes are read from a descriptor, and SIGPIPE is
/// blocked. Children get the previous signal mask. Only one object may exist at a time. An ignored signal
/// stays ignored.
class signals_in_descriptor {
 public:
  /// \throws std::system_error there is no descriptor for the signals
  signals_in_descriptor();
  ~signals_in_descriptor();
  signals_in_descriptor(const signals_in_descriptor&) = delete;
  signals_in_descriptor& operator=(const signals_in_descriptor&) = delete;
  const sigset_t& before() const noexcept { return before_; }
  /// The descriptor, which returns signalfd_siginfo and does not block.
  int get() const noexcept { return events_.get(); }

 private:
  sigset_t before_{};
  struct sigaction of_children_{};  ///< the previous action for SIGCHLD
  descriptor events_;
};

}  // namespace sukima::cluster

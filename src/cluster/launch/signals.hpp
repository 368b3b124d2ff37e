// SPDX-License-Identifier: Apache-2.0
// The signals of the launcher.
#pragma once

#include "launch/child.hpp"

#include <csignal>

namespace sukima::cluster {

/// While it exists, SIGCHLD and the signals that are passed on to the nodes wait in a descriptor, and SIGPIPE
/// is blocked. Children get the former mask. One object at a time. An ignored signal stays ignored.
class signals_in_descriptor {
 public:
  /// \throws std::system_error
  signals_in_descriptor();
  ~signals_in_descriptor();
  signals_in_descriptor(const signals_in_descriptor&) = delete;
  signals_in_descriptor& operator=(const signals_in_descriptor&) = delete;
  const sigset_t& before() const noexcept { return before_; }
  /// Reads signalfd_siginfo; does not block.
  int get() const noexcept { return events_.get(); }

 private:
  sigset_t before_{};
  struct sigaction of_children_{};  ///< as it was before
  descriptor events_;
};

}  // namespace sukima::cluster

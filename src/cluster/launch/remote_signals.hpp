// SPDX-License-Identifier: Apache-2.0
// The remote shells that send signals to programs on other hosts.
#pragma once

#include "launch/child.hpp"
#include "launch/remote_start.hpp"

#include <csignal>
#include <vector>

namespace sukima::cluster {

class remote_signals {
 public:
  /// \param mask  the signals that are blocked in the shells
  explicit remote_signals(const sigset_t& mask) noexcept : mask_(mask) {}
  remote_signals(const remote_signals&) = delete;
  remote_signals& operator=(const remote_signals&) = delete;
  ~remote_signals();

  /// Starts a shell that sends a signal to a node's program. \throws std::system_error the shell cannot be
  /// started
  void send(const remote_start& start, unsigned node, pid_t program, int signal);

  struct failure {
    unsigned node;
    int signal;
  };
  /// Removes the shells that have ended. \returns the signals that could not reach their hosts
  std::vector<failure> take_ended();

 private:
  struct signaller {
    child shell;
    failure report;
  };
  const sigset_t mask_;
  std::vector<signaller> all_;
};

}  // namespace sukima::cluster

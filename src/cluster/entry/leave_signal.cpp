// SPDX-License-Identifier: Apache-2.0
#include "entry/leave_signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace sukima::cluster {

namespace {

/// The descriptor is written before the handler is installed, and never closed.
int requests = -1;
pid_t process = 0;

void count_request(int signal) {
  if (getpid() != process) {  // a child after fork() is not a node, so the signal ends it
    std::signal(signal, SIG_DFL);
    raise(signal);  // delivered when this handler returns
    return;
  }
  const int before = errno;
  const std::uint64_t one = 1;
  // Fails only if 2^64 - 2 requests are already pending.
  [[maybe_unused]] const ssize_t written = write(requests, &one, sizeof one);
  errno = before;
}

}  // namespace

int leave_requests() {
  struct sigaction found{};
  if (sigaction(SIGUSR1, nullptr, &found) != 0 || found.sa_handler != SIG_DFL) return -1;
  process = getpid();
  requests = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (requests < 0) return -1;
  struct sigaction taken{};
  taken.sa_handler = count_request;
  taken.sa_flags = SA_RESTART | SA_ONSTACK;  // the stack of a fiber is small
  sigaction(SIGUSR1, &taken, nullptr);
  return requests;
}

}  // namespace sukima::cluster

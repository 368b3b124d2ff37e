// SPDX-License-Identifier: Apache-2.0
#include "launch/signals.hpp"

#include <sys/signalfd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace sukima::cluster {

namespace {

constexpr std::array passed_signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

}  // namespace

signals_in_descriptor::signals_in_descriptor() {
  sigset_t taken;
  sigemptyset(&taken);
  for (const int signal : passed_signals) {
    struct sigaction action{};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&taken, signal);  // as by nohup: nodes ignore it, too
  }
  sigaddset(&taken, SIGCHLD);
  // If SIGCHLD is ignored, the kernel does not report children that end.
  struct sigaction usual{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, &of_children_);
  sigset_t blocked = taken;
  sigaddset(&blocked, SIGPIPE);
  sigprocmask(SIG_BLOCK, &blocked, &before_);
  events_ = descriptor(signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!events_) throw std::system_error(errno, std::generic_category(), "no descriptor for signals");
}

signals_in_descriptor::~signals_in_descriptor() {
  const timespec at_once{};
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  while (sigtimedwait(&broken, nullptr, &at_once) > 0) {
  }
  sigaction(SIGCHLD, &of_children_, nullptr);
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace sukima::cluster

// SPDX-License-Identifier: Apache-2.0
// Ends a command that runs until a signal arrives; see stop.hpp.
#include "host/stop.hpp"

#include <csignal>

namespace sukima::cli::host {
namespace {

/// Relaxed: no other data is published with it. Partners: the loads of the caller of catch_stop_signals.
std::atomic<bool> is_stopped = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void stop(int) { is_stopped.store(true, std::memory_order_relaxed); }

/// Catches the signal unless the caller ignores it: nohup wants the command to survive the terminal, and
/// systemd wants it to survive the reader of its output.
void catch_unless_ignored(int signal) {
  struct sigaction before{};
  if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler == SIG_IGN) return;
  struct sigaction action{};
  action.sa_handler = stop;  // without SA_RESTART, so the signal ends waiting
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& catch_stop_signals() {
  // The reader of the output may end first, as `head` does.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) catch_unless_ignored(signal);
  return is_stopped;
}

}  // namespace sukima::cli::host

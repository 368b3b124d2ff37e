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

}  // namespace

const std::atomic<bool>& catch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = stop;  // without SA_RESTART, so the signal ends waiting
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  // The reader of the output may end first, as `head` does. A caller that ignores this signal, as systemd
  // does, wants the command to continue.
  struct sigaction before{};
  if (::sigaction(SIGPIPE, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    ::sigaction(SIGPIPE, &action, nullptr);
  return is_stopped;
}

}  // namespace sukima::cli::host

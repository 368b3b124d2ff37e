// SPDX-License-Identifier: Apache-2.0
// Starts threads of the library's own.
#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace sukima::detail {

/// While it lives, threads that the calling thread starts are born with all signals blocked, except those of
/// their own faults: signals are for the program's own threads.
class signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace sukima::detail

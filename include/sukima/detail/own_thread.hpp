// SPDX-License-Identifier: Apache-2.0
// Starts threads of the library's own.
#pragma once

#include <pthread.h>

#include <csignal>
#include <initializer_list>

namespace sukima::detail {

/// During its lifetime, threads that the calling thread starts begin with all signals blocked, except those
/// of their own faults. Other signals are for the program's own threads.
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

/// Each of the library's own threads holds one while it runs, so that it does not keep the process alive.
///
/// The C library ends a process whose main thread has ended by pthread_exit when the last thread ends. The
/// library's own threads, which wait for work, never end by themselves. So when all other threads have ended,
/// the process ends as if the last of them had called exit(0) (src/runtime/process_end.cpp).
class own_thread {
 public:
  own_thread() noexcept;
  ~own_thread();
  own_thread(const own_thread&) = delete;
  own_thread& operator=(const own_thread&) = delete;

 private:
  const unsigned forks_;  ///< how many calls of fork() the process descended from when the thread began
};

}  // namespace sukima::detail

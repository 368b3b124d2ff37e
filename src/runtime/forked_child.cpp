// SPDX-License-Identifier: Apache-2.0
// A runtime in the child process after fork(), where its other workers do not exist. It refuses entries, and
// a task that continues ends the process. See end_state.hpp.
#include "end_state.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

namespace sukima::detail {

/// no partner: the child's only thread writes and reads it
std::atomic<unsigned> fork_generation{0};

namespace {

unsigned count_forks() {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
    return true;
  }();
  static_cast<void>(registered);
  return forks_so_far();
}

}  // namespace

unsigned forks_so_far() noexcept { return fork_generation.load(std::memory_order_relaxed); }

lifetime::lifetime() : fork_generation_(count_forks()) {}

bool lifetime::is_orphaned() const noexcept { return fork_generation_ != forks_so_far(); }

void lifetime::refuse() {
  throw usage_error("sukima: this runtime was started before fork(); start another one in the child process");
}

void lifetime::exit_if_orphaned() const noexcept {
  if (!is_orphaned()) return;
  std::fputs(
      "sukima: fork() was called while tasks ran; the child process cannot finish them, because it has none "
      "of the other workers. Call only exec or _exit in such a child.\n",
      stderr);
  std::_Exit(70);
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <pthread.h>

#include <cinttypes>
#include <cstdio>

namespace sukima::simulation {

namespace {

std::string owner_of(const void* mutex, const std::vector<std::unique_ptr<thread>>& threads) {
  const int owner = static_cast<const pthread_mutex_t*>(mutex)->__data.__owner;
  for (const auto& t : threads)
    if (owner != 0 && t->kernel_id == owner) return ", which thread " + std::to_string(t->id) + " holds";
  return {};
}

std::string number_of(const void* awaited) { return std::to_string(static_cast<const thread*>(awaited)->id); }

std::string address(const void* of) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", of);
  return text;
}

std::string state_of(const thread& one, const std::vector<std::unique_ptr<thread>>& threads) {
  switch (one.waits_for) {
    case wait_kind::nothing:
      return "runs";
    case wait_kind::time:
      return "sleeps";
    case wait_kind::mutex:
      return "waits for the mutex " + address(one.awaited) + owner_of(one.awaited, threads);
    case wait_kind::condition:
      return "waits for the condition variable " + address(one.awaited);
    case wait_kind::word:
      return "waits on the futex " + address(one.awaited) + ", which is " +
             std::to_string(static_cast<const std::atomic<std::uint32_t>*>(one.awaited)->load());
    case wait_kind::loan:
      return "waits for the owner of the futex " + address(one.awaited);
    case wait_kind::initialiser:
      return "waits for an initialiser that another thread runs";
    case wait_kind::end:
      return "waits for the end of thread " + number_of(one.awaited);
  }
  return {};
}

}  // namespace

std::string describe_hang(const char* why, std::uint64_t nanoseconds, std::uint64_t steps,
                          const std::vector<std::unique_ptr<thread>>& threads) {
  char head[160];
  std::snprintf(head, sizeof head, "%s, after %.6f simulated seconds and %" PRIu64 " steps\n", why,
                static_cast<double>(nanoseconds) * 1e-9, steps);
  std::string text = head;
  for (const auto& t : threads) {
    if (t->ended) continue;
    text += "  thread " + std::to_string(t->id) + " (" + t->name + ") " + state_of(*t, threads);
    if (t->waits_for != wait_kind::nothing && t->until != never) text += " with a time-out";
    text += "; " + std::to_string(t->steps) + " steps\n";
  }
  return text;
}

}  // namespace sukima::simulation

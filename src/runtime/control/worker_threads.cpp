// SPDX-License-Identifier: Apache-2.0
#include "control/worker_threads.hpp"

#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "invariants/rest_mark.hpp"
#include "observe/itt.hpp"
#include "park/cpu_use.hpp"
#include "park/park_parts.hpp"
#include "worker.hpp"

#include <sukima/detail/own_thread.hpp>

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <optional>

namespace sukima::detail {

namespace {

/// The affinity for a new thread. The calling thread may be a worker that stays on one CPU, perhaps of
/// another runtime, and new threads inherit its affinity.
std::optional<cpu_set_t> affinity_to_start_with() noexcept {
  const fiber* const s = running_fiber_as_it_is();
  return s == nullptr ? std::nullopt : parts_of<park_parts>(*s).placement.affinity_before_pinning(*s->on);
}

}  // namespace

bool worker_threads::start_one() noexcept {
  try {
    if (without_thread_ == nullptr) without_thread_ = &workers_.add(started_ + 1);
    // Other threads rely on a worker that counts. So it has its first fiber before its thread begins.
    if (!without_thread_->has_spare_fiber()) return false;
    const signals_blocked here;
    const std::optional<cpu_set_t> may_use = affinity_to_start_with();
    const std::lock_guard hold(starting_);
    without_thread_->rests(rest_place::busy);
    threads_.emplace_back([w = without_thread_, may_use, main = main_] {
      const own_thread self;
      if (may_use) sched_setaffinity(0, sizeof *may_use, &*may_use);
      main(*w);
    });
    without_thread_ = nullptr;
    ++started_;
    return true;
  } catch (...) {
    if (without_thread_ != nullptr) without_thread_->rests(rest_place::no_thread);
    return false;
  }
}

void worker_threads::join() {
  for (std::thread& t : threads_) t.join();
  threads_.clear();
}

void worker_threads::forget() {
  for (std::thread& t : threads_) t.detach();
  threads_.clear();
}

void name_thread(const worker& of) noexcept {
  char name[16];  // the kernel's limit; cut off with 8 digits
  std::snprintf(name, sizeof name, "sukima-%u", of.id);
  pthread_setname_np(pthread_self(), name);
  itt_names_thread(name);
}

}  // namespace sukima::detail

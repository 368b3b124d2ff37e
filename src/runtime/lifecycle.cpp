// SPDX-License-Identifier: Apache-2.0
#include "lifecycle.hpp"

#include "choice/keep_registers.hpp"
#include "core.hpp"
#include "fiber/fault.hpp"
#include "fiber/sanitizer.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace sukima::detail {

namespace {

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> serial{0};  // no partner: only the numbers must differ
  return serial.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

runtime_core::runtime_core(const settings& s, unsigned most_workers, const runtime_rooms& rooms)
    : runtime_rooms(rooms),
      chosen(s),
      tuned(ticks_per_nanosecond()),
      workers_are_asked(s.published_tasks == 0),
      request_interval(static_cast<std::uint64_t>(1e3 * ticks_per_nanosecond() * s.request_interval_us)),
      worker_limit(most_workers),
      serial(next_serial()) {}

whole_runtime::whole_runtime(const settings& s, unsigned most_workers, capacity_handle capacity)
    : runtime_core(s, most_workers, {fibers_,      bound_fibers_, workers_,  threads_,    entries_,
                                     park_,        injector_,     launched_, launched_,   splittable_,
                                     suspensions_, parked_,       remote_,   hints_,      decisions_,
                                     shortage_,    placement_,    blocking_, controller_, monitor_thread_}) {
  find_vector_registers();
  watch_for_overflow();
  entries.start(std::move(capacity));
}

whole_runtime::~whole_runtime() { entries.stop(); }

void lifecycle::start(capacity_handle capacity) {
  worker& first = core_.workers.add(0);  // for the first thread that enters
  fiber* const reserved =
      first.take_fiber();  // before the background workers take what address space there is
  if (reserved == nullptr) throw no_fiber();
  first.give_fiber(reserved);
  first.taken.store(false, std::memory_order_relaxed);
  try {
    core_.controller.start(std::move(capacity));
    if (core_.controller.follows_capacity() || tracing()) core_.monitor_thread.start();
  } catch (...) {
    stop();
    throw;
  }
}

/// Waits for launched futures. Noexcept: without a fiber for it the program ends, because no thread could
/// wait for the futures that still run.
void lifecycle::close_launched() noexcept {
  const auto close = [this](context c) { core_.launched.close(c.top); };
  root_of<decltype(close)> root(close);
  last_root_.store(&root, std::memory_order_relaxed);
  enter(root);
  last_root_.store(nullptr, std::memory_order_relaxed);  // a later root may have the same address
}

void lifecycle::stop() {
  if (core_.life.is_orphaned()) {
    core_.threads.forget();
    core_.monitor_thread.forget_thread();
    return;
  }
  {
    std::unique_lock hold(leaving_);
    // Stored first, then the counts are read; try_enter() and end_entry() change the counts first.
    stopping_.store(true, std::memory_order_seq_cst);
    left_.wait(hold, [this] { return core_.park.counts().entries == 0; });
  }
  if (!core_.launched.is_empty()) close_launched();
  // Threads whose entries have ended may still be on their way out. Their store to `taken` is their last
  // access to anything of this runtime.
  for (worker& w : core_.workers.all()) {
    while (!w.background && w.taken.load(std::memory_order_acquire)) std::this_thread::yield();
    takes_over(&w);  // pairs with: enter in entry.cpp
  }
  core_.life.close();
  core_.controller.close();
  core_.monitor_thread.stop();  // from here on no other thread is started
  for (worker& w : core_.workers.all()) unpark(w);
  core_.threads.join();
  core_.life.wait_for_resuming();
  write_trace();
}

bool lifecycle::stop_if_empty() {
  {
    const std::lock_guard hold(leaving_);
    // Stored first, then the counts are read; try_enter() counts itself first.
    const bool was_stopping = stopping_.exchange(true, std::memory_order_seq_cst);
    if (core_.park.counts().entries != 0 || !core_.launched.is_empty() || remote_.has_node()) {
      stopping_.store(was_stopping, std::memory_order_seq_cst);
      return false;
    }
  }
  stop();
  return true;
}

}  // namespace sukima::detail

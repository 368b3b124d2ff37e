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

/// Counts fork() calls that this process descends from. Written in the child before anything else runs there.
/// no partner: the child's only thread writes and reads it
std::atomic<unsigned> fork_generation{0};

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> serial{0};  // no partner: only the numbers must differ
  return serial.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

unsigned forks_so_far() noexcept { return fork_generation.load(std::memory_order_relaxed); }

unsigned count_forks() {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] {
      fork_generation.fetch_add(1, std::memory_order_relaxed);
      worker_placement::unpin_after_fork();
    });
    return true;
  }();
  static_cast<void>(registered);
  return forks_so_far();
}

runtime_core::runtime_core(const settings& s, unsigned most_workers, const runtime_rooms& rooms)
    : runtime_rooms(rooms),
      chosen(s),
      tuned(ticks_per_nanosecond()),
      workers_are_asked(s.published_tasks == 0),
      request_interval(static_cast<std::uint64_t>(1e3 * ticks_per_nanosecond() * s.request_interval_us)),
      worker_limit(most_workers),
      serial(next_serial()) {}

whole_runtime::whole_runtime(const settings& s, unsigned most_workers, capacity_handle capacity)
    : runtime_core(s, most_workers,
                   {fibers_, bound_fibers_, workers_, life_, park_, injector_, launched_, splittable_,
                    suspensions_, parked_, remote_, hints_, decisions_, shortage_, placement_, blocking_,
                    controller_, monitor_thread_}) {
  find_vector_registers();
  watch_for_overflow();
  life.start(std::move(capacity));
}

whole_runtime::~whole_runtime() { life.stop(); }

lifecycle::lifecycle(runtime_core& core) : core_(core), fork_generation_(count_forks()) {}

bool lifecycle::is_orphaned() const noexcept { return fork_generation_ != forks_so_far(); }

void lifecycle::refuse_orphans() const {
  if (is_orphaned())
    throw usage_error(
        "sukima: this runtime was started before fork(); start another one in the child process");
}

void lifecycle::exit_if_orphaned() const noexcept {
  if (!is_orphaned()) return;
  std::fputs(
      "sukima: fork() was called while tasks ran; the child process cannot finish them, because it has none "
      "of the other workers. Call only exec or _exit in such a child.\n",
      stderr);
  std::_Exit(70);
}

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

/// Noexcept: for want of a fiber the program ends, because nobody could wait for what still runs.
void lifecycle::close_launched() noexcept {
  const auto close = [this](context c) { core_.launched.close(c.top); };
  root_of<decltype(close)> root(close);
  last_root_.store(&root, std::memory_order_relaxed);
  enter(root);
  last_root_.store(nullptr, std::memory_order_relaxed);  // another root may lie there
}

void lifecycle::stop() {
  if (is_orphaned()) {
    core_.workers.forget_threads();
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
  closed_.store(true, std::memory_order_seq_cst);
  core_.controller.close();
  core_.monitor_thread.stop();  // from here on no other thread is started
  for (worker& w : core_.workers.all()) unpark(w);
  core_.workers.join_threads();
  // Some instructions long, unless such a thread has just lost its CPU.
  while (resuming_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  write_trace();
}

bool lifecycle::stop_if_empty() {
  {
    const std::lock_guard hold(leaving_);
    // Stored first, then the counts are read; try_enter() counts itself first.
    const bool was_stopping = stopping_.exchange(true, std::memory_order_seq_cst);
    if (core_.park.counts().entries != 0 || !core_.launched.is_empty() || core_.remote.has_node()) {
      stopping_.store(was_stopping, std::memory_order_seq_cst);
      return false;
    }
  }
  stop();
  return true;
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// A runtime's life, and how ordinary threads become workers for the time of a call.
#include "core.hpp"
#include "fiber/fault.hpp"
#include "own_thread.hpp"

#include <sukima/detail/jump.hpp>
#include <sukima/detail/loop.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <system_error>

namespace sukima::detail {

namespace {

/// Counts fork() calls that this process descends from. Written in the child before anything else runs there.
std::atomic<unsigned> fork_generation{0};

unsigned count_forks() {
  static const bool registered = [] {
    pthread_atfork(nullptr, nullptr, [] {
      fork_generation.fetch_add(1, std::memory_order_relaxed);
      cpu_spread::free_child();
    });
    return true;
  }();
  (void)registered;
  return fork_generation.load(std::memory_order_relaxed);
}

/// The number of the worker made last.
std::atomic<std::uint32_t> worker_number{0};

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> serial{0};
  return serial.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool has_condvar(const settings& s) noexcept {
  for (unsigned i = 0; i < wait_places; ++i)
    if (s.policy_at(static_cast<wait_place>(i)) == wait_policy::condvar) return true;
  return false;
}

std::system_error no_fiber() {
  return {std::make_error_code(std::errc::not_enough_memory),
          "sukima: no address space for a fiber; a smaller SUKIMA_STACK needs less"};
}

/// The worker that this thread was when it entered last.
struct last_entry {
  std::uint64_t serial = 0;
  worker* w = nullptr;
  int thread_id =
      0;  ///< the thread's number in the kernel, asked only once; another one in a child after fork()
  unsigned asked_in = 0;
};
thread_local last_entry last;

int this_threads_id(last_entry& known) noexcept {
  const unsigned generation = fork_generation.load(std::memory_order_relaxed);
  if (known.thread_id == 0 || known.asked_in != generation) {
    known.thread_id = static_cast<int>(syscall(SYS_gettid));
    known.asked_in = generation;
  }
  return known.thread_id;
}

void pin_to(unsigned index) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  if (count <= 0) return;
  int wanted = static_cast<int>(index) % count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

}  // namespace

bool runtime_core::is_orphaned() const noexcept {
  return generation != fork_generation.load(std::memory_order_relaxed);
}

void runtime_core::die_if_orphaned() const noexcept {
  if (!is_orphaned()) return;
  std::fputs(
      "sukima: fork() was called while tasks ran; the child process cannot finish them, because it has none "
      "of the "
      "other workers. Call only exec or _exit in such a child.\n",
      stderr);
  std::_Exit(70);
}

runtime_core::runtime_core(const settings& s, unsigned most_workers)
    : chosen(s),
      uses_condvar(has_condvar(s)),
      worker_limit(most_workers),
      serial(next_serial()),
      generation(count_forks()),
      fibers(*this, s.stack, s.choices),
      workers(new std::atomic<worker*>[max_workers]) {
  watch_for_overflow();
  worker& first = *add_worker(0);  // for the first thread that enters
  fiber* reserved = first.take_fiber();  // before the background workers take what address space there is
  if (reserved == nullptr) {
    delete &first;
    throw no_fiber();
  }
  first.give_fiber(reserved);
  try {
    elasticity.start();
  } catch (...) {
    stop();
    throw;
  }
}

void runtime_core::start_worker(unsigned rank) {
  worker& w = *add_worker(rank);
  const signals_blocked here;
  const std::lock_guard hold(growing);
  threads.emplace_back([this, &w] { background_main(w); });
}

runtime_core::~runtime_core() {
  stop();
  const unsigned count = worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) delete workers[i].load(std::memory_order_relaxed);
}

void runtime_core::stop() {
  if (is_orphaned()) {
    for (std::thread& t : threads) t.detach();  // they do not exist in this process
    threads.clear();
    elasticity.abandon();
    return;
  }
  {
    std::unique_lock hold(leaving);
    stopping.store(true);
    left.wait(hold, [this] { return counts.load().active == 0; });
  }
  closed.store(true);
  elasticity.stop();  // from here on nobody starts another thread
  const unsigned count = worker_count.load(std::memory_order_acquire);
  for (unsigned i = 0; i < count; ++i) ring(*workers[i].load(std::memory_order_relaxed));
  for (std::thread& t : threads) t.join();
  threads.clear();
  // Some instructions long, unless such a thread has just lost its CPU.
  while (resumers.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  write_trace();
}

worker* runtime_core::add_worker(unsigned rank) {
  const std::lock_guard hold(growing);
  const unsigned id = worker_count.load(std::memory_order_relaxed);
  if (id == max_workers)
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            "sukima: more than 4096 threads are inside of one runtime");
  auto owned = std::make_unique<worker>();
  worker* const w = owned.get();
  w->runtime = this;
  w->id = id;
  w->number = worker_number.fetch_add(1, std::memory_order_relaxed) + 1;
  w->background = rank != 0;
  w->rank = rank;
  // Other draws in each runtime, so that what a guard refuses once is not refused in every run.
  w->random_state = (0x9E3779B97F4A7C15ull * (id + 1) ^ (ticks() * 0xBF58476D1CE4E5B9ull)) | 1;
  w->state_since = ticks();
  w->trace = trace_worker(serial, id);
  w->taken.store(true, std::memory_order_relaxed);
  w->box.store(closed_box, std::memory_order_relaxed);
  if (rank == 0 && id == 0) w->taken.store(false, std::memory_order_relaxed);
  workers[id].store(owned.release(), std::memory_order_relaxed);
  worker_count.store(id + 1, std::memory_order_release);
  return w;
}

worker* runtime_core::acquire_worker() {
  const auto take = [](worker* w) {
    return !w->background && !w->taken.load(std::memory_order_relaxed) &&
           !w->taken.exchange(true, std::memory_order_acquire);
  };
  last_entry& mine = last;  // one look-up
  if (mine.serial == serial && take(mine.w)) {
    mine.w->thread_id.store(this_threads_id(mine), std::memory_order_relaxed);
    return mine.w;
  }
  const unsigned count = worker_count.load(std::memory_order_acquire);
  worker* found = nullptr;
  for (unsigned i = 0; i < count && found == nullptr; ++i) {
    worker* w = workers[i].load(std::memory_order_relaxed);
    if (take(w)) found = w;
  }
  if (found == nullptr) found = add_worker(0);
  mine.serial = serial;
  mine.w = found;
  found->thread_id.store(this_threads_id(mine), std::memory_order_relaxed);
  return found;
}

void runtime_core::enter(root_task& root) {
  if (is_orphaned())
    throw usage_error(
        "sukima: this runtime was started before fork(); start another one in the child process");
  if (stopping.load()) throw usage_error("sukima: this runtime was shut down");
  worker* w = acquire_worker();
  fiber* s = w->take_fiber();
  if (s == nullptr) {
    w->taken.store(false, std::memory_order_release);
    throw no_fiber();
  }
  entry_begins();
  elasticity.entry_begins();
  if (stopping.load()) {
    entry_ends(ticks());
    w->give_fiber(s);
    w->taken.store(false, std::memory_order_release);
    throw usage_error("sukima: this runtime was shut down");
  }
  root.home = w;
  s->first = &root;
  const std::uint64_t begun = ticks();
  s->entered_at.store(begun, std::memory_order_relaxed);
  w->thread_exceptions = this_threads_exceptions();
  ensure_alternate_stack();
  fiber* const outer = running_fiber();  // of another runtime, whose worker this thread is
  w->enter_state(worker_state::working, begun);
  open_box(*w);
  w->inside.store(true, std::memory_order_relaxed);
  if (spread.active()) [[unlikely]]
    spread.come_back(*w);
  switch_to(*w, nullptr, *s, nullptr, nullptr);
  set_running_fiber(outer);
  const std::uint64_t now = ticks();
  w->enter_state(worker_state::outside, now);
  w->flags.store(0, std::memory_order_relaxed);  // a flag that comes later costs one empty slow path
  close_box(*w);
  // Partner: cpu_spread::hold. Cleared before the census changes, and `held` is read after that.
  w->inside.store(false, std::memory_order_relaxed);
  entry_ends(now);
  if (w->held.load(std::memory_order_relaxed)) [[unlikely]]
    spread.leave(*w);
  w->taken.store(false, std::memory_order_release);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
}

void runtime_core::background_main(worker& w) {
  pthread_setname_np(pthread_self(), "sukima");
  if (chosen.pin == pin_policy::cpu) pin_to(w.rank);
  ensure_alternate_stack();
  w.thread_id.store(this_threads_id(last), std::memory_order_relaxed);
  w.thread_exceptions = this_threads_exceptions();
  std::uint64_t home_since = ticks();
  while (!closed.load()) {
    const std::uint32_t seen = w.bell.load();
    // Cleared first, then looked: who makes it surplus stores the target first and sets the flag afterwards.
    w.flags.fetch_and(~flag_leave);
    if (elasticity.is_surplus(w.rank)) {
      if (!closed.load() && !spins(wait_place::start, home_since)) wait_for_bell(w, wait_place::start, seen);
      continue;
    }
    fiber* s = w.take_fiber();
    if (s == nullptr) break;  // no memory: one worker less
    open_box(w);
    switch_to(w, nullptr, *s, nullptr, nullptr);
    w.enter_state(worker_state::outside);
    close_box(w);
    home_since = ticks();
  }
  w.thread_id.store(0, std::memory_order_relaxed);
}

std::uint32_t last_worker_number() noexcept { return worker_number.load(std::memory_order_acquire); }

void enter_on_new_fiber(root_task& root) {
  fiber& s = *running_fiber();
  root.parent = s.running;
  root.owner = &s;
  root.owner_segment = s.segment;
  root.depth = s.running->depth + 1;
  root.cancellation_masked = s.running->jumps || std::uncaught_exceptions() > 0;
  run_on_new_fiber(s, root);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// How ordinary threads become workers for the time of a call, and what the runtime's own threads do.
#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "control/monitor.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_placement.hpp"
#include "fiber/fault.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "join/join.hpp"
#include "lifecycle.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "rest/rest_mark.hpp"
#include "rooms.hpp"
#include "short_roots.hpp"
#include "steal/request.hpp"
#include "stress.hpp"
#include "tuning.hpp"
#include "worker.hpp"

#include <sukima/detail/own_thread.hpp>
#include <sukima/detail/ticks.hpp>

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <system_error>

namespace sukima::detail {

namespace {

/// The worker that this thread was when it entered last.
struct last_entry {
  std::uint64_t serial = 0;
  worker* w = nullptr;
  /// The thread's number in the kernel, asked only once; another one in a child after fork().
  int thread_id = 0;
  unsigned asked_in = 0;
  short_roots roots;
};
thread_local last_entry last;

int this_threads_id(last_entry& known) noexcept {
  const unsigned generation = forks_so_far();
  if (known.thread_id == 0 || known.asked_in != generation) {
    known.thread_id = static_cast<int>(syscall(SYS_gettid));
    known.asked_in = generation;
  }
  return known.thread_id;
}

/// Onto the CPU of its rank.
void pin(worker& w) noexcept {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  if (count <= 0) return;
  w.affinity_before = allowed;
  int wanted = static_cast<int>(w.rank) % count;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && wanted-- == 0) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
}

/// Reports a thread's start or end to the program. An exception ends the program: it has no caller that could
/// handle it.
void notify(const std::function<void(int)>& observer, const worker& w) noexcept {
  if (observer) observer(static_cast<int>(w.id));
}

}  // namespace

worker* lifecycle::acquire_worker() {
  const auto take = [](worker& w) {
    return !w.background && !w.taken.load(std::memory_order_relaxed) &&
           !w.taken.exchange(true, std::memory_order_acquire);
  };
  last_entry& mine = last;  // one look-up
  if (mine.serial != core_.serial || !take(*mine.w)) {
    worker* found = nullptr;
    for (worker& w : core_.workers.all())
      if (take(w)) {
        found = &w;
        break;
      }
    mine.w = found != nullptr ? found : &core_.workers.add(0);
    mine.serial = core_.serial;
  }
  mine.w->thread_id.store(this_threads_id(mine), std::memory_order_relaxed);
  takes_over(mine.w);  // pairs with: try_enter. What is the worker's passes from thread to thread
  return mine.w;
}

usage_error was_shut_down() { return usage_error("sukima: this runtime was shut down"); }

void enter(runtime_core& r, root_task& root) { r.entries.enter(root); }

void lifecycle::enter(root_task& root) {
  if (!try_enter(root)) throw was_shut_down();
}

bool lifecycle::try_enter(root_task& root) {
  core_.life.refuse_orphans();
  if (stopping_.load(std::memory_order_seq_cst) && &root != last_root_.load(std::memory_order_relaxed))
    return false;
  worker& w = *acquire_worker();
  fiber* const s = w.take_fiber();
  if (s == nullptr) {
    w.taken.store(false, std::memory_order_release);
    throw no_fiber();
  }
  core_.park.entry_begins();
  core_.monitor_thread.entry_begins();
  // The entry was counted before; stop() sets the flag and then reads the counts.
  if (stopping_.load(std::memory_order_seq_cst) && &root != last_root_.load(std::memory_order_relaxed)) {
    end_entry(ticks());
    w.give_fiber(s);
    w.taken.store(false, std::memory_order_release);
    return false;
  }
  root.home = &w;
  s->first = &root;
  const std::uint64_t begun = ticks();
  s->entered_at.store(begun, std::memory_order_relaxed);
  const short_roots::code code = reinterpret_cast<short_roots::code>(root.run);
  s->is_short_root = last.roots.expects(code);
  const bool after_silence = begun - core_.park.quiet_since() > core_.tuned.adaptive_spin;
  w.thread_exceptions = this_threads_exceptions();
  ensure_alternate_stack();
  fiber* const outer = running_fiber();  // of another runtime, whose worker this thread is
  w.enter_state(worker_state::working, begun);
  w.root_began_at = begun;
  w.root_ended_at = 0;
  open_mailbox(w);
  w.inside.store(true, std::memory_order_relaxed);
  if (core_.placement.is_active()) [[unlikely]]
    core_.placement.pin_again(w);
  switch_from_home(w, *s);
  if (outer != nullptr) [[unlikely]]
    set_running_fiber(outer);
  SUKIMA_ASSERT(is_done(&root), "a thread leaves the runtime when its root has ended");
  SUKIMA_ASSERT(w.current.load(std::memory_order_seq_cst) == nullptr, "a thread leaves the runtime at home");
  const std::uint64_t now = w.root_ended_at != 0 ? w.root_ended_at : ticks();
  w.enter_state(worker_state::outside, now);
  // After silence no idle worker is awake that could take something before the root warm-up ends.
  const tuned_ticks& tuned = core_.tuned;
  last.roots.note(code, now - begun, after_silence ? tuned.root_warm_up : tuned.minimum_steal_age,
                  tuned.root_warm_up);
  if (core_.hints.in_use()) core_.hints.leaves(w);
  w.flags.store(0, std::memory_order_relaxed);  // a flag that comes later costs one empty slow path
  close_mailbox(w);
  w.rests(rest_place::no_thread);
  // Cleared before the counts change, and `pinned` is read after that: see worker_placement::pin_all.
  w.inside.store(false, std::memory_order_relaxed);
  end_entry(now);
  if (w.pinned.load(std::memory_order_relaxed)) [[unlikely]]
    core_.placement.unpin(w);
  takes_over(&root);  // pairs with: complete in complete.cpp
  hands_over(&w);  // pairs with: acquire_worker; stop in lifecycle.cpp
  w.taken.store(false, std::memory_order_release);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
  return true;
}

void lifecycle::end_entry(std::uint64_t now) noexcept {
  core_.park.entry_ends(now);
  // The counts have changed; stop() sets the flag and then reads the counts.
  if (!stopping_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard hold(leaving_);
  left_.notify_all();
}

void background_main(worker& w) {
  runtime_core& r = *w.runtime;
  pthread_setname_np(pthread_self(), "sukima");
  if (r.chosen.pin == pin_policy::cpu) pin(w);
  ensure_alternate_stack();
  w.thread_id.store(this_threads_id(last), std::memory_order_relaxed);
  w.thread_exceptions = this_threads_exceptions();
  notify(r.chosen.on_worker_start, w);
  std::uint64_t home_since = ticks();
  while (!r.life.is_closed()) {
    const std::uint32_t seen = w.epoch.read();
    // Cleared first, then the target is read: worker_controller::adjust stores the target first and sets the
    // flag afterwards.
    w.flags.fetch_and(~flag_leave, std::memory_order_seq_cst);
    if (r.target.is_surplus(w.rank)) {
      if (r.life.is_closed()) continue;
      if (r.park.spins(wait_point::start, home_since)) {
        if (!r.park.sleeps_at(wait_point::start)) w.rests(rest_place::at_home);
        continue;
      }
      w.sleeps(rest_place::at_home, seen);
      w.epoch.wait(r.chosen.policy_at(wait_point::start), seen);
      w.rests(rest_place::busy);
      continue;
    }
    stress_point();
    w.rests(rest_place::busy);
    fiber* const s = w.take_fiber();
    if (s == nullptr) break;  // no memory: one worker less
    open_mailbox(w);
    switch_from_home(w, *s);
    w.enter_state(worker_state::outside);
    close_mailbox(w);
    if (r.hints.in_use()) r.hints.leaves(w);
    home_since = ticks();
  }
  notify(r.chosen.on_worker_end, w);
  w.thread_id.store(0, std::memory_order_relaxed);
  w.rests(rest_place::no_thread);
}

void enter_on_new_fiber(root_task& root) {
  fiber& s = *running_fiber();
  root.parent = s.running;
  root.owner = &s;
  root.owner_segment = s.segment;
  root.depth = s.running->depth + 1;
  root.cancellation_masked.store(s.running->jumps || std::uncaught_exceptions() > 0,
                                 std::memory_order_relaxed);  // it has not begun yet
  root.shielded = root.shielded || is_shielded(s);
  run_on_new_fiber(s, root);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// How ordinary threads become workers for the time of a call.
#include "entries.hpp"

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "constants.hpp"
#include "control/monitor.hpp"
#include "fiber/fault.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "invariants/rest_mark.hpp"
#include "join/join.hpp"
#include "park/cpu_use.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "runtime_core.hpp"
#include "short_roots.hpp"
#include "steal/request.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/own_thread.hpp>
#include <sukima/detail/ticks.hpp>

#include <sys/syscall.h>
#include <unistd.h>

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
thread_local last_entry threads_last_entry;

int this_threads_id(last_entry& known) noexcept {
  const unsigned generation = forks_so_far();
  if (known.thread_id == 0 || known.asked_in != generation) {
    known.thread_id = static_cast<int>(syscall(SYS_gettid));
    known.asked_in = generation;
  }
  return known.thread_id;
}

}  // namespace

worker* runtime_entries::acquire_worker() {
  const auto take = [](worker& w) {
    return !w.background && !w.taken.load(std::memory_order_relaxed) &&
           !w.taken.exchange(true, std::memory_order_acquire);
  };
  last_entry& mine = threads_last_entry;  // one look-up
  if (mine.serial != serial_ || !take(*mine.w)) {
    worker* found = nullptr;
    for (worker& w : workers_.all())
      if (take(w)) {
        found = &w;
        break;
      }
    mine.w = found != nullptr ? found : &workers_.add(0);
    mine.serial = serial_;
  }
  mine.w->thread_id.store(this_threads_id(mine), std::memory_order_relaxed);
  takes_over(mine.w);  // pairs with: try_enter. What is the worker's passes from thread to thread
  return mine.w;
}

usage_error was_shut_down() { return usage_error("sukima: this runtime was shut down"); }

void enter(runtime_core& r, root_task& root) { r.entries.enter(root); }

bool runtime_entries::is_refused(const root_task& root) const noexcept {
  return refused_.load(std::memory_order_seq_cst) && &root != last_root_.load(std::memory_order_relaxed);
}

bool runtime_entries::are_counted() const noexcept { return park_.counts().entries != 0; }

void runtime_entries::close() {
  std::unique_lock hold(leaving_);
  // Stored first, then the counts are read; try_enter() and end_entry() change the counts first.
  refused_.store(true, std::memory_order_seq_cst);
  left_.wait(hold, [this] { return !are_counted(); });
}

void runtime_entries::enter_last(root_task& root) {
  last_root_.store(&root, std::memory_order_relaxed);
  enter(root);
  last_root_.store(nullptr, std::memory_order_relaxed);  // another root may lie there
}

void runtime_entries::enter(root_task& root) {
  if (!try_enter(root)) throw was_shut_down();
}

bool runtime_entries::try_enter(root_task& root) {
  life_.refuse_orphans();
  if (is_refused(root)) return false;
  worker& w = *acquire_worker();
  fiber* const s = w.take_fiber();
  if (s == nullptr) {
    w.taken.store(false, std::memory_order_release);
    throw no_fiber();
  }
  park_.entry_begins();
  monitor_thread_.entry_begins(w);
  // The entry was counted before; close() sets the flag and then reads the counts.
  if (is_refused(root)) {
    end_entry(ticks());
    if (w.duties.load(std::memory_order_relaxed) != 0) perform_duties(w);
    w.give_fiber(s);
    w.taken.store(false, std::memory_order_release);
    return false;
  }
  root.home = &w;
  s->first = &root;
  const std::uint64_t begun = ticks();
  s->entered_at.store(begun, std::memory_order_relaxed);
  const short_roots::code code = reinterpret_cast<short_roots::code>(root.run);
  s->is_short_root = threads_last_entry.roots.expects(code);
  const bool after_silence = begun - park_.quiet_since() > tuned_.adaptive_spin;
  w.thread_exceptions = this_threads_exceptions();
  ensure_alternate_stack();
  fiber* const outer = running_fiber();  // of another runtime, whose worker this thread is
  w.enter_state(worker_state::working, begun);
  w.root_began_at = begun;
  w.root_ended_at = 0;
  open_mailbox(w);
  w.inside.store(true, std::memory_order_relaxed);
  if (placement_.is_active()) [[unlikely]]
    placement_.pin_again(w);
  switch_from_home(w, *s);
  if (outer != nullptr) [[unlikely]]
    set_running_fiber(outer);
  SUKIMA_ASSERT(is_done(&root), "a thread leaves the runtime when its root has ended");
  SUKIMA_ASSERT(w.current.load(std::memory_order_seq_cst) == nullptr, "a thread leaves the runtime at home");
  const std::uint64_t now = w.root_ended_at != 0 ? w.root_ended_at : ticks();
  w.enter_state(worker_state::outside, now);
  // After silence no idle worker is awake that could take something before the root warm-up ends.
  threads_last_entry.roots.note(
      code, now - begun, after_silence ? tuned_.root_warm_up : tuned_.minimum_steal_age, tuned_.root_warm_up);
  if (hints_.in_use()) hints_.leaves(w);
  w.flags.store(0, std::memory_order_relaxed);  // a flag that comes later costs one empty slow path
  close_mailbox(w);
  w.rests(rest_place::no_thread);
  // Cleared before the counts change, and the duties are read after that: see worker_placement::pin_all.
  w.inside.store(false, std::memory_order_relaxed);
  end_entry(now);
  if (w.duties.load(std::memory_order_relaxed) != 0) [[unlikely]]
    perform_duties(w);
  takes_over(&root);  // pairs with: complete in complete.cpp
  hands_over(&w);  // pairs with: acquire_worker; stop in lifecycle.cpp
  w.taken.store(false, std::memory_order_release);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
  return true;
}

void runtime_entries::perform_duties(worker& w) noexcept {
  const std::uint8_t duties = w.duties.load(std::memory_order_relaxed);
  if ((duties & duty_unpin) != 0) placement_.unpin(w);
  if ((duties & duty_region) != 0) monitor_thread_.entry_ended(w);
}

void runtime_entries::end_entry(std::uint64_t now) noexcept {
  park_.entry_ends(now);
  // The counts have changed; close() sets the flag and then reads the counts.
  if (!refused_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard hold(leaving_);
  left_.notify_all();
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

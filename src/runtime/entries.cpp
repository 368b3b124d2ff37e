// SPDX-License-Identifier: Apache-2.0
// How ordinary threads become workers during a call.
#include "entries.hpp"

#include <base/shared/assert.hpp>
#include "cancel/abort.hpp"
#include "constants.hpp"
#include "control/monitor.hpp"
#include "fiber/fault.hpp"
#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "fiber/unannounced.hpp"
#include "fiber/visit.hpp"
#include "invariants/rest_mark.hpp"
#include "join/call_task.hpp"
#include "join/join.hpp"
#include "park/cpu_use.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "runtime_parts.hpp"
#include "shared/shortage.hpp"
#include "short_roots.hpp"
#include "steal/request.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/own_thread.hpp>
#include <sukima/detail/ticks.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace sukima::detail {

/// The worker that this thread was when it entered last.
struct last_entry {
  std::uint64_t serial = 0;
  worker* w = nullptr;
  /// The thread's number in the kernel, which is requested only once. A child has another one after fork().
  int thread_id = 0;
  unsigned asked_in = 0;
  bool has_alternate_stack = false;
  timed_roots roots;
  unannounced_roots unannounced;
};

namespace {

thread_local last_entry threads_last_entry;

int this_threads_id(last_entry& known) noexcept {
  const unsigned generation = forks_so_far();
  if (known.thread_id == 0 || known.asked_in != generation) {
    known.thread_id = static_cast<int>(syscall(SYS_gettid));
    known.asked_in = generation;
  }
  return known.thread_id;
}

short_roots::code code_of(const root_task& root) noexcept {
  return reinterpret_cast<short_roots::code>(root.run);
}

bool take(worker& w) noexcept {
  return !w.background && !w.taken.load(std::memory_order_relaxed) &&
         !w.taken.exchange(true, std::memory_order_seq_cst);
}

void look_for_more(void* of) noexcept {
  fiber& s = *static_cast<fiber*>(of);
  worker_loop_after(s, *std::exchange(s.first, nullptr));
}

/// An unannounced fiber's stack begins with this function.
void run_unannounced(void* of) noexcept {
  fiber& s = *static_cast<fiber*>(of);
  auto& root = static_cast<root_task&>(*s.first);
  call_task(s, root, s.base);
  if (s.unannounced.load(std::memory_order_relaxed)) return;
  end_announced(s, root);
  s.first = &root;
  // Once the root's end is visible, the calling thread may leave, and its stack may be gone. So nothing below
  // may lead an unwinder there.
  continue_at(s.stack_top, look_for_more, &s);
}

}  // namespace

runtime_entries::runtime_entries(std::uint64_t serial, const tuned_ticks& tuned, worker_table& workers,
                                 const lifetime& life, parking& park, monitor& monitor_thread,
                                 assigned_cpus& placement, place_events& hints)
    : serial_(serial),
      may_be_unannounced_(can_visit()),
      tuned_(tuned),
      workers_(workers),
      life_(life),
      park_(park),
      monitor_thread_(monitor_thread),
      placement_(placement),
      hints_(hints) {}

void runtime_entries::take_any(last_entry& mine) {
  takes_over(this);  // pairs with: runtime in default_runtime.cpp
  worker* found = nullptr;
  for (worker& w : workers_.all())
    if (take(w)) {
      found = &w;
      break;
    }
  mine.w = found != nullptr ? found : &workers_.add(0);
  mine.serial = serial_;
}

worker* runtime_entries::acquire_worker(last_entry& mine) {
  if (mine.serial != serial_ || !take(*mine.w)) take_any(mine);
  mine.w->thread_id.store(this_threads_id(mine), std::memory_order_relaxed);
  takes_over(mine.w);  // pairs with: try_enter. The worker's data pass from thread to thread
  return mine.w;
}

usage_error was_shut_down() { return usage_error("sukima: this runtime was shut down"); }

void enter(runtime_core& r, root_task& root) { parts_of<runtime_parts>(r).entries.enter(root); }

bool runtime_entries::is_refused(const root_task& root) const noexcept {
  return refused_.load(std::memory_order_seq_cst) && &root != last_root_.load(std::memory_order_relaxed);
}

bool runtime_entries::are_counted() const noexcept {
  return park_.counts().entries != 0 || workers_.is_any_taken();
}

void runtime_entries::await_threads() const noexcept {
  // Most take some instructions, but an unannounced root may take any time.
  constexpr unsigned short_wait = 1000;
  for (const worker& w : workers_.all()) {
    for (unsigned turns = 0; w.is_taken(); ++turns)
      if (turns < short_wait)
        std::this_thread::yield();
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    takes_over(&w);  // pairs with: try_enter
  }
}

void runtime_entries::close() {
  std::unique_lock hold(leaving_);
  // The flag is stored before the counts are read. try_enter() and end_entry() change the counts before they
  // read the flag.
  refused_.store(true, std::memory_order_seq_cst);
  left_.wait(hold, [this] { return park_.counts().entries == 0; });
  hold.unlock();
  await_threads();
}

void runtime_entries::enter_last(root_task& root) {
  last_root_.store(&root, std::memory_order_relaxed);
  enter(root);
  last_root_.store(nullptr, std::memory_order_relaxed);  // another root may have this address later
}

void runtime_entries::enter(root_task& root) {
  if (!try_enter(root)) throw was_shut_down();
}

bool runtime_entries::is_plain(const worker& w) const noexcept {
  const exception_state& now = *this_threads_exceptions();
  return now.caught == nullptr && now.uncaught == 0 && running_fiber_as_it_is() == nullptr &&
         w.trace == nullptr && !hints_.in_use() && !placement_.is_active() &&
         !monitor_thread_.has_to_count_entries();
}

bool runtime_entries::follows_silence(std::uint64_t begun) const noexcept {
  const std::uint64_t quiet_since = park_.quiet_since();  // another thread may have left since
  return begun > quiet_since && begun - quiet_since > tuned_.adaptive_spin;
}

void runtime_entries::perform_duties(worker& w) noexcept {
  const std::uint8_t duties = w.duties.load(std::memory_order_relaxed);
  if ((duties & duty_unpin) != 0) placement_.unpin(w);
  if ((duties & duty_region) != 0) monitor_thread_.entry_ended(w);
}

void runtime_entries::end_entry(std::uint64_t now) noexcept {
  park_.entry_ends(now);
  // The counts have changed before. close() sets the flag and then reads the counts.
  if (!refused_.load(std::memory_order_seq_cst)) return;
  const std::lock_guard hold(leaving_);
  left_.notify_all();
}

[[gnu::always_inline]] inline void runtime_entries::begin_work(worker& w, std::uint64_t now) noexcept {
  w.thread_exceptions = this_threads_exceptions();
  w.enter_state(worker_state::working, now);
  w.root_began_at = now;
  w.root_ended_at = 0;
  open_mailbox(w);
  w.inside.store(true, std::memory_order_relaxed);
  if (placement_.is_active()) [[unlikely]]
    placement_.pin_again(w);
}

[[gnu::always_inline]] inline void runtime_entries::leave(last_entry& mine, worker& w, root_task& root,
                                                          bool after_silence, bool is_timed) noexcept {
  SUKIMA_ASSERT(is_done(&root), "a thread leaves the runtime when its root has ended");
  SUKIMA_ASSERT(w.current.load(std::memory_order_seq_cst) == nullptr, "a thread leaves the runtime at home");
  const std::uint64_t now = w.root_ended_at != 0 ? w.root_ended_at : ticks();
  w.enter_state(worker_state::outside, now);
  // After a silence, no idle worker is awake that could take a task before the root warm-up ends.
  mine.roots.note_announced(code_of(root), is_timed ? std::optional(now - w.root_began_at) : std::nullopt,
                            after_silence ? tuned_.root_warm_up : tuned_.minimum_steal_age,
                            tuned_.root_warm_up);
  if (hints_.in_use()) hints_.leaves(w);
  w.flags.store(0, std::memory_order_relaxed);  // a flag that is set later costs one empty slow path
  close_mailbox(w);
  w.rests(rest_place::no_thread);
  // Cleared before the counts change; the duties are read after that (worker_placement::pin_all).
  w.inside.store(false, std::memory_order_relaxed);
  end_entry(now);
  if (w.duties.load(std::memory_order_relaxed) != 0) [[unlikely]]
    perform_duties(w);
  takes_over(&root);  // pairs with: complete in complete.cpp
  hands_over(&w);  // pairs with: acquire_worker, await_threads
  give_back(w);
}

bool runtime_entries::take_unannounced(worker& w) noexcept {
  if (!take(w)) return false;
  // The worker was taken before. close() sets the flag and then reads which workers are taken.
  if (!refused_.load(std::memory_order_seq_cst)) [[likely]]
    return true;
  give_back(w);
  return false;
}

void runtime_entries::give_back(worker& w) noexcept { w.taken.store(false, std::memory_order_release); }

bool runtime_entries::try_unannounced(last_entry& mine, root_task& root) noexcept {
  const short_roots::code code = code_of(root);
  unannounced_roots::history& earlier = mine.unannounced.of(code);
  if (!is_plain(*mine.w) || !(earlier.tries() || stressed)) return false;
  worker& w = *mine.w;
  if (!take_unannounced(w)) return false;
  // The canary is checked when a worker switches away, and this worker may not do so.
  if (w.cached == 0 || w.cache[w.cached - 1]->canary) [[unlikely]] {
    give_back(w);
    return false;
  }
  fiber& s = *w.cache[w.cached - 1];
  if (!s.is_reset) {
    reset(s);
    s.weight.store(1, std::memory_order_relaxed);
    s.is_reset = true;
  }
  // pairs with: try_resume in suspend.cpp
  std::atomic_ref(s.on).store(&w, std::memory_order_relaxed);
  s.first = &root;
  s.lets_pass = reinterpret_cast<choice_point*>(s.base);
  s.passes_left = tuning::polls_let_pass;
  s.limit.request_poll();
  s.unannounced.store(true, std::memory_order_relaxed);
  w.announced = false;
  const std::uint64_t ended_before = mine.roots.ended_at();  // the root itself may enter another runtime
  const bool is_timed = mine.roots.is_next_timed();
  w.root_began_at = is_timed ? ticks() : 0;
  set_running_fiber(&s);
  visit(s.stack_top, run_unannounced, &s, &w.visited_from);
  earlier.note(w.announced);
  if (w.announced) {
    leave(mine, w, root, follows_silence(w.root_began_at), is_timed);
    return true;
  }
  set_running_fiber(nullptr);
  s.unannounced.store(false, std::memory_order_relaxed);
  s.lets_pass = nullptr;
  s.ignored = nullptr;
  s.first = nullptr;
  if (!mine.roots.note_unannounced(code, ended_before, w.root_began_at, ticks(), tuned_.root_warm_up))
      [[unlikely]]
    trim(s);
  give_back(w);
  return true;
}

void announce(fiber& s) noexcept {
  SUKIMA_ASSERT(running_fiber_as_it_is() == &s, "a fiber is announced by the thread that runs it");
  parts_of<runtime_parts>(s).entries.announce(s);
}

void runtime_entries::announce(fiber& s) noexcept {
  worker& w = *s.on;
  auto& root = static_cast<root_task&>(*std::exchange(s.first, nullptr));
  s.unannounced.store(false, std::memory_order_relaxed);
  s.is_reset = false;
  const bool has_passed = std::exchange(s.ignored, nullptr) != nullptr;  // then its join is an ordinary join
  // If it has not polled yet, it is an ordinary short root.
  s.is_short_root = std::exchange(s.lets_pass, nullptr) != nullptr && !has_passed;
  w.announced = true;
  SUKIMA_ASSERT(
      w.cached != 0 && w.cache[w.cached - 1] == &s && w.current.load(std::memory_order_seq_cst) == nullptr,
      "an unannounced fiber is still the last one in its worker's cache");
  --w.cached;
  w.thread_id.store(this_threads_id(threads_last_entry), std::memory_order_relaxed);
  park_.entry_begins();
  monitor_thread_.entry_begins(w);
  root.home = &w;
  const std::uint64_t begun = w.root_began_at != 0 ? w.root_began_at : ticks();
  s.entered_at.store(begun, std::memory_order_relaxed);
  begin_work(w, begun);
  w.home_exceptions = {};  // there were none when it entered
  make_home(w);
  begin_announced(s, root);
  stress_point();
  // As in arrive (fiber/switch.cpp). The limit is raised, so the next poll reads the flags.
  w.current.exchange(&s, std::memory_order_seq_cst);
}

bool runtime_entries::try_enter(root_task& root) {
  life_.refuse_orphans();
  if (is_refused(root)) return false;
  last_entry& mine = threads_last_entry;  // one look-up of the thread-local
  const bool is_short = mine.roots.expects(code_of(root));
  const bool perhaps_unannounced = (is_short || stressed) && may_be_unannounced_ && mine.serial == serial_;
  if (!perhaps_unannounced || !try_unannounced(mine, root))
    if (!enter_announced(mine, root, is_short)) return false;
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
  return true;
}

bool runtime_entries::enter_announced(last_entry& mine, root_task& root, bool is_short) {
  worker& w = *acquire_worker(mine);
  fiber* const s = w.take_fiber();
  if (s == nullptr) {
    give_back(w);
    throw no_fiber();
  }
  park_.entry_begins();
  monitor_thread_.entry_begins(w);
  // The entry was counted before. close() sets the flag and then reads the counts.
  if (is_refused(root)) {
    end_entry(ticks());
    if (w.duties.load(std::memory_order_relaxed) != 0) perform_duties(w);
    w.give_fiber(s);
    give_back(w);
    return false;
  }
  root.home = &w;
  s->first = &root;
  const std::uint64_t begun = ticks();
  s->entered_at.store(begun, std::memory_order_relaxed);
  s->is_short_root = is_short;
  const bool after_silence = follows_silence(begun);
  if (!mine.has_alternate_stack) [[unlikely]] {
    ensure_alternate_stack();
    mine.has_alternate_stack = true;
  }
  fiber* const outer = running_fiber_as_it_is();  // of another runtime, whose worker this thread is
  w.entered_from = outer;
  begin_work(w, begun);
  switch_from_home(w, *s);
  if (outer != nullptr) [[unlikely]] {
    set_running_fiber(outer);
    w.entered_from = nullptr;
  }
  leave(mine, w, root, after_silence, true);
  return true;
}

void enter_on_new_fiber(root_task& root) {
  fiber& s = *running_fiber();
  const task* const caller = s.running;  // null: the destructor of a launched future's captures or result
  root.parent = s.running;
  root.owner = &s;
  root.owner_segment = s.segment;
  root.depth = caller != nullptr ? caller->depth + 1 : 0;
  root.cancellation_masked.store((caller != nullptr && caller->jumps) || std::uncaught_exceptions() > 0,
                                 std::memory_order_relaxed);  // it has not begun yet
  root.shielded = root.shielded || is_shielded(s);
  run_on_new_fiber(s, root);
  if (root.error) std::rethrow_exception(root.error);
  if (root.aborted) throw aborted{};
}

}  // namespace sukima::detail

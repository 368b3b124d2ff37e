// SPDX-License-Identifier: Apache-2.0
// The check at rest. It reads private members of the parts, which declare it as a friend, after two equal
// readings of all marks (rest_mark.hpp) and of the worker counts. So nothing changes while it reads; a third
// reading confirms that.
#include "invariants/at_rest.hpp"

#include <base/shared/assert.hpp>
#include "cancel/suspensions.hpp"
#include "control/blocking_compensation.hpp"
#include "control/worker_controller.hpp"
#include "control/worker_threads.hpp"
#include "fiber/fiber.hpp"
#include "future/future.hpp"
#include "invariants/rest_mark.hpp"
#include "join/join.hpp"
#include "park/call_home.hpp"
#include "park/park.hpp"
#include "place/hints.hpp"
#include "runtime_parts.hpp"
#include "steal/injector.hpp"
#include "steal/publication_slots.hpp"
#include "steal/splittable_fibers.hpp"
#include "stress.hpp"
#include "worker.hpp"

#if defined(SUKIMA_ASSERTIONS)

#include <mutex>
#include <source_location>
#include <thread>

namespace sukima::detail {

class rest_check {
 public:
  explicit rest_check(const runtime& r) : core_(parts_of<runtime_parts>(*r.core_)) {}
  void run();

 private:
  /// The words that must not change during the check.
  struct picture {
    std::vector<rest_mark::reading> marks;
    worker_counts counts;
  };
  picture take() const;
  static bool equal(const picture& a, const picture& b) noexcept;
  bool has_settled(const picture& p) const noexcept;
  bool look_around_again(const picture& p) const noexcept;
  void check_workers(const picture& p);
  void check_place(const worker& w, rest_mark::reading mark);
  void check_idle_fiber(const worker& w, const fiber& s);
  void check_counts(const picture& p);
  void check_fibers();
  void check_queues();
  void check_hints(const picture& p);
  void check_control();

  /// Keeps the first invariant that does not hold. A worker may have moved since, so it is not reported yet.
  void require(bool holds, const char* invariant,
               std::source_location where = std::source_location::current()) noexcept {
    if (holds || violated_ != nullptr) return;
    violated_ = invariant;
    where_ = where;
  }

  runtime_parts& core_;
  const char* violated_ = nullptr;
  std::source_location where_;
};

rest_check::picture rest_check::take() const {
  picture p;
  for (const worker& w : core_.workers.all()) {
    p.marks.push_back(w.rest.read());
    stress_point();
  }
  p.counts = core_.park.counts();
  return p;
}

bool rest_check::equal(const picture& a, const picture& b) noexcept {
  return a.marks == b.marks && a.counts.entries == b.counts.entries &&
         a.counts.searching == b.counts.searching && a.counts.parked == b.counts.parked;
}

/// Whether each worker sleeps with no wake-up pending, or searches without an end.
bool rest_check::has_settled(const picture& p) const noexcept {
  for (unsigned i = 0; i < p.marks.size(); ++i) {
    const rest_mark::reading mark = p.marks[i];
    const worker& w = core_.workers[i];
    if (mark.place() == rest_place::busy) return false;
    if (mark.sleeps() && mark.epoch() != w.epoch.read()) return false;
    if (mark.place() == rest_place::no_thread || mark.sleeps()) continue;
    // It notices by itself when it is called.
    if (core_.life.is_closed()) return false;
    const bool is_surplus = core_.target.is_surplus(w.rank);
    if (mark.place() == rest_place::searching ? is_called_home(w) : !is_surplus) return false;
  }
  return true;
}

/// Waits until each worker that never sleeps has searched again. The search that the picture shows may have
/// been followed by one that had already taken work.
/// \return false if one of them continues
bool rest_check::look_around_again(const picture& p) const noexcept {
  for (unsigned i = 0; i < p.marks.size(); ++i) {
    const rest_mark::reading mark = p.marks[i];
    const rest_mark& now = core_.workers[i].rest;
    if (mark.place() == rest_place::no_thread || mark.sleeps()) continue;
    // The second search from now on began after this.
    for (const std::uint32_t seen = now.looks(); now.looks() - seen < 2; std::this_thread::yield())
      if (now.read() != mark) return false;
  }
  return true;
}

void rest_check::check_place(const worker& w, rest_mark::reading mark) {
  const rest_place place = mark.place();
  const bool at_home = place == rest_place::at_home || place == rest_place::no_thread;
  require(w.parked.load(std::memory_order_seq_cst) == (place == rest_place::parked),
          "at rest a worker has the flag `parked` if and only if it sleeps until it is called up");
  require((w.current.load(std::memory_order_seq_cst) == nullptr) == at_home,
          "a worker that searches has a fiber, others have none");
  require(w.mailbox.is_closed(), "a worker that runs nothing has closed its mailbox");
  require(place == rest_place::searching || w.reply.load(std::memory_order_seq_cst) == nullptr,
          "a reply is accepted by the thief that asked");
  if (place == rest_place::no_thread || core_.life.is_closed()) return;
  require(!mark.sleeps() || !is_called_home(w), "a worker whose thread is called home does not sleep");
  require(core_.target.is_surplus(w.rank) == at_home, "a worker is at home if and only if it is surplus");
}

void rest_check::check_idle_fiber(const worker& w, const fiber& s) {
  require(s.on == &w, "a worker's current fiber runs on it");
  require(s.running == nullptr && s.first == nullptr, "at rest no task runs");
  require(!s.published.any(max_published), "at rest the publication slots are empty");
  require(s.thread_bindings == 0, "an idle fiber is not bound to its thread");
  require(s.newest_covered == nullptr, "at rest a fiber has no segment below another one");
  require(!s.failure, "the failure of a callback ends with its task");
  require(s.suspension.load(std::memory_order_seq_cst).stage() == suspension_stage::running,
          "an idle fiber is not suspended");
}

void rest_check::check_counts(const picture& p) {
  unsigned parked = 0;
  unsigned searching = 0;
  const worker* sentinel = nullptr;
  for (unsigned i = 0; i < p.marks.size(); ++i) {
    const rest_place place = p.marks[i].place();
    parked += place == rest_place::parked ? 1 : 0;
    searching += place == rest_place::sentinel || place == rest_place::searching ? 1 : 0;
    if (place == rest_place::sentinel) sentinel = &core_.workers[i];
  }
  require(p.counts.entries == 0, "a thread that left the runtime does not count as an entry");
  require(p.counts.parked == parked, "the count of parked workers is right");
  require(p.counts.searching == searching, "the count of searching workers is right");
  require(core_.park.permits_.load(std::memory_order_seq_cst) == 0, "at rest each permit was taken");
  require(core_.park.sentinel_.load(std::memory_order_seq_cst) == sentinel,
          "the sentinel is the last searching worker, asleep");
}

void rest_check::check_workers(const picture& p) {
  for (unsigned i = 0; i < p.marks.size(); ++i) {
    const worker& w = core_.workers[i];
    check_place(w, p.marks[i]);
    if (const fiber* const s = w.current.load(std::memory_order_seq_cst)) check_idle_fiber(w, *s);
    if (w.background) continue;
    require(!w.taken.load(std::memory_order_seq_cst) && !w.inside.load(std::memory_order_seq_cst),
            "a thread that has left gave its worker back");
  }
}

void rest_check::check_fibers() {
  std::size_t known = 0;
  for (const worker& w : core_.workers.all())
    known += w.cached + (w.current.load(std::memory_order_seq_cst) != nullptr ? 1 : 0);
  require(core_.fibers.in_use_.load(std::memory_order_seq_cst) == known,
          "a fiber that no worker runs any more was given back");
  require(core_.parked.now() == 0, "at rest no fiber is parked");
  const std::lock_guard hold(core_.suspensions.lock_);
  require(
      core_.suspensions.first_ == nullptr && core_.suspensions.count_.load(std::memory_order_seq_cst) == 0,
      "at rest no suspension waits to be cancelled");
}

void rest_check::check_queues() {
  {
    const std::lock_guard hold(core_.injector.lock_);
    require(core_.injector.fibers_.empty() && core_.injector.tasks_.empty(),
            "at rest the injector queue is empty");
    require(core_.injector.size_.load(std::memory_order_seq_cst) == 0,
            "the injector queue's size is that of its lists");
  }
  {
    const std::lock_guard hold(core_.launched.lock_);
    for (std::uint32_t p = 0; p < core_.launched.queue_count_; ++p) {
      if (core_.launched.queues_[p].oldest == nullptr) continue;
      for (const worker& w : core_.workers.all())
        require(w.current.load(std::memory_order_seq_cst) == nullptr ||
                    !core_.hints.serves(w, static_cast<sukima_place>(p)),
                "nothing waits in the queue of a place whose workers sleep");
    }
  }
  // A worker that looks for work removes resumed fibers from the list. If no worker has looked, they are
  // still listed.
  const std::lock_guard hold(core_.splittable.lock_);
  std::size_t listed = 0;
  core_.splittable.fibers_.for_each([&](const fiber& s) {
    ++listed;
    require(s.is_listed_splittable, "a listed fiber has its mark");
    require(s.suspension.load(std::memory_order_seq_cst).stage() == suspension_stage::running,
            "at rest no fiber is suspended");
  });
  require(core_.splittable.size_.load(std::memory_order_seq_cst) == listed,
          "the size of the splittable fibers' list is right");
}

void rest_check::check_hints(const picture& p) {
  if (!core_.hints.in_use()) return;
  const auto& hints = static_cast<const placement_hints&>(core_.hints);
  const placement_hints::tables& t = *hints.tables_.load(std::memory_order_seq_cst);
  std::uint32_t seen = 0;
  for (unsigned i = 0; i < p.marks.size(); ++i) {
    const worker& w = core_.workers[i];
    const rest_place place = p.marks[i].place();
    const bool at_home = place == rest_place::at_home || place == rest_place::no_thread;
    const availability now = w.hints.available.load(std::memory_order_seq_cst);
    seen += w.hints.cpu.read() >= 0 ? 1 : 0;
    require(w.hints.wanted.load(std::memory_order_seq_cst) == SUKIMA_PLACE_ANY,
            "a worker that runs nothing wants no place");
    require(w.hints.offered == nullptr, "at rest no worker waits for its fiber to be taken");
    require(now == availability::away ||
                (!at_home && now != availability::insists && now != availability::yields),
            "a worker that runs nothing is away, idle or asleep");
    require(!at_home || w.hints.cpu.read() < 0, "a worker at home counts in no place");
  }
  for (std::uint32_t i = 0; i <= t.count; ++i)
    require(t.offers[i].on_offer.load(std::memory_order_seq_cst) == nullptr, "at rest no fiber is on offer");
  require(hints.wanting_.load(std::memory_order_seq_cst) == 0,
          "the count of workers that want a place is right");
  require(hints.offers_.load(std::memory_order_seq_cst) == 0, "each offer was taken, or taken back");
  require(t.workers.count(SUKIMA_PLACE_ANY) == seen, "the machine counts each worker whose CPU is known");
}

void rest_check::check_control() {
  const auto& blocking = static_cast<const blocking_compensation&>(core_.blocking);
  require(blocking.blocked_.load(std::memory_order_seq_cst) == 0, "at rest no worker waits outside");
  require(!blocking.has_outside(), "at rest no thread waits outside for a future");
  // pairs with: begin_bound, end_bound in blocking_compensation.cpp
  require(blocking.bound_.load(std::memory_order_seq_cst) == 0, "at rest no thread-bound fiber waits");
  require(blocking.standing_.load(std::memory_order_relaxed) == 0, "at rest no worker stands still");
  const worker_controller& c = core_.controller;
  if (core_.life.is_closed() || c.follows_capacity())
    return;  // the monitor corrects a target that is too high
  require(c.refused_ || core_.target.count_.load(std::memory_order_seq_cst) == c.wanted(),
          "the target is the wanted number of workers");
  require(core_.threads.count() + 1 >= core_.target.count_.load(std::memory_order_seq_cst),
          "there is a thread for each worker that may run");
}

void rest_check::run() {
  if (core_.life.is_orphaned()) return;
  // While this lock is held, no target changes.
  const std::lock_guard hold(core_.controller.deciding_);
  core_.life.wait_for_resuming();
  for (;;) {
    const std::uint32_t seen = core_.rest.read();
    const picture before = take();
    if (!has_settled(before)) {
      core_.rest.wait(seen);
      continue;
    }
    // The marks were read one after another. A worker that was read early may since have woken by itself, and
    // have taken work from a worker that was read late.
    if (!look_around_again(before) || !equal(before, take())) continue;
    violated_ = nullptr;
    check_counts(before);
    check_workers(before);
    check_fibers();
    check_queues();
    check_hints(before);
    check_control();
    const picture after = take();
    if (!equal(before, after) || !has_settled(after)) continue;
    if (violated_ == nullptr) return;
    invariant_failed(violated_, "check_at_rest", where_.file_name(), static_cast<int>(where_.line()));
  }
}

void check_at_rest(const runtime& r) { rest_check(r).run(); }

}  // namespace sukima::detail

#endif

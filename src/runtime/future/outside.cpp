// SPDX-License-Identifier: Apache-2.0
// Waits for a launched future outside its runtime: on an ordinary thread, or in a fiber of another runtime.
//
// Such a caller does not compute the future. If the future has not begun, the caller moves it to the front of
// the injector queue, and waits for the cell. The runtime may have no worker that computes it: rank 0 belongs
// to threads that enter, and the target may be 1. So the runtime runs one more worker during the wait
// (blocking_compensation::begin_outside). Only if no thread can be started for that worker, the caller enters
// the runtime and computes.
#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/switch.hpp"
#include "future/future.hpp"
#include "park/compensation.hpp"
#include "steal/injector.hpp"
#include "steal/steal_parts.hpp"

#include <sukima/runtime.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace sukima::detail {

namespace {

using std::chrono::steady_clock;

/// A waiting ordinary thread. The object is in the thread's own frame.
class waiting_thread : public future_waiter {
 public:
  waiting_thread() noexcept { ended = wake; }
  bool wait_until(steady_clock::time_point at) {
    std::unique_lock hold(lock_);
    const auto over = [this] { return over_; };
    if (at != steady_clock::time_point::max()) return changed_.wait_until(hold, at, over);
    changed_.wait(hold, over);  // at max() wait_until overflows
    return true;
  }

 private:
  static void wake(future_waiter& w) noexcept {
    auto& me = static_cast<waiting_thread&>(w);
    // Notifies under the lock: the thread cannot return, and destroy this object, before the lock is
    // released.
    const std::lock_guard hold(me.lock_);
    me.over_ = true;
    me.changed_.notify_one();
  }
  std::mutex lock_;
  std::condition_variable changed_;
  bool over_ = false;
};

/// While this object exists, the runtime runs one more worker, and the calling thread's parallel region, if
/// any, takes no CPUs from the workers.
class counted_outside {
 public:
  explicit counted_outside(steal_parts& core) noexcept
      : core_(core),
        from_region_(core.blocking.begin_outside_region()),
        has_worker_(core.blocking.begin_outside()) {}
  counted_outside(const counted_outside&) = delete;
  counted_outside& operator=(const counted_outside&) = delete;
  ~counted_outside() {
    if (has_worker_) core_.blocking.end_outside();
    if (from_region_) core_.blocking.end_outside_region();
  }
  bool has_worker() const noexcept { return has_worker_; }

 private:
  steal_parts& core_;
  const bool from_region_;
  const bool has_worker_;
};

/// Lets a worker begin the future before other work, if no worker has begun it.
void bring_forward(launched& t) noexcept {
  if (t.queue == SUKIMA_PLACE_ANY && begin_once(t))
    parts_of<steal_parts>(t).injector.push(&t, queue_end::front);
}

/// Waits, but not beyond that moment, and then takes the waiter out of the list. \returns whether the future
/// has ended
bool wait_or_give_up(waiting_thread& me, future_cell& cell, steady_clock::time_point until) {
  if (me.wait_until(until)) return true;
  if (future_waiting::remove(cell, me)) return false;
  return me.wait_until(steady_clock::time_point::max());  // the end is about to wake it
}

/// Waits on an ordinary thread. \returns whether the future has ended
/// \param computes  set if no worker can be started and the wait has no deadline: the caller must compute
bool wait_on_thread(launched& t, steady_clock::time_point until, bool& computes) {
  waiting_thread me;
  if (!future_waiting::add(*t.cell, me)) return true;
  if (t.runtime == nullptr) return wait_or_give_up(me, *t.cell, until);
  // For a wait that ends soon, another worker is not worth starting, unless there is none at all.
  const auto soon = steady_clock::now() + std::chrono::nanoseconds(tuning::bound_wait_patience_ns);
  if (t.runtime->target.count() > 1 && me.wait_until(std::min(soon, until))) return true;
  const counted_outside counted(parts_of<steal_parts>(t));
  const bool has_end = until != steady_clock::time_point::max();
  if (!counted.has_worker() && !has_end && future_waiting::remove(*t.cell, me)) {
    computes = true;
    return false;
  }
  return wait_or_give_up(me, *t.cell, until);
}

}  // namespace

void compute_from_outside(launched& t) {
  const auto touch = [&](context c) {
    if (!t.cell->is_done()) touch_launched(c.top, t);
  };
  root_of<decltype(touch) const> root(touch);
  enter(*t.runtime, root);
}

bool touch_from_outside(char* top, launched& touched, steady_clock::time_point until) {
  std::optional<counted_outside> counted;
  bool computes = false;
  if (touched.runtime != nullptr) {
    touched.runtime->life.refuse_orphans();
    bring_forward(touched);
  }
  if (running_fiber() == nullptr) {
    if (wait_on_thread(touched, until, computes)) return true;
  } else {
    if (touched.runtime != nullptr)
      computes = !counted.emplace(parts_of<steal_parts>(touched)).has_worker() &&
                 until == steady_clock::time_point::max();
    if (!computes) return wait_for_end(top, *touched.cell, until);
  }
  if (computes) compute_from_outside(touched);
  return computes;
}

bool wait_launched_until(char* top, launched& t, steady_clock::time_point at) {
  if (at <= steady_clock::now()) return t.cell->is_done();
  const fiber* const s = running_fiber();
  if (s != nullptr && s->runtime == t.runtime) return wait_for_end(top, *t.cell, at);
  return touch_from_outside(top, t, at);
}

}  // namespace sukima::detail

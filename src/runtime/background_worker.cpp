// SPDX-License-Identifier: Apache-2.0
// The thread of a background worker. It is at home while the worker is surplus, and otherwise on fibers
// (worker_loop.cpp).
#include "control/worker_placement.hpp"
#include "control/worker_threads.hpp"
#include "fiber/fault.hpp"
#include "fiber/switch.hpp"
#include "invariants/rest_mark.hpp"
#include "lifecycle.hpp"
#include "park/call_home.hpp"
#include "park/park.hpp"
#include "place/place_events.hpp"
#include "steal/injector.hpp"
#include "steal/request.hpp"
#include "steal/steal_parts.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/ticks.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

namespace sukima::detail {

namespace {

constexpr std::chrono::milliseconds pause_without_memory{1};

/// Reports a thread's start or end to the program. An exception ends the program: it has no caller that could
/// handle it.
void notify(const std::function<void(int)>& observer, const worker& w) noexcept {
  if (observer) observer(static_cast<int>(w.id));
}

}  // namespace

void background_main(worker& self) {
  steal_parts& r = parts_of<steal_parts>(self);
  name_thread(self);
  if (r.chosen.pin == pin_policy::cpu) pin_to_cpu_of_rank(self);
  ensure_alternate_stack();
  self.thread_id.store(static_cast<int>(syscall(SYS_gettid)), std::memory_order_relaxed);
  self.thread_exceptions = this_threads_exceptions();
  notify(r.chosen.on_worker_start, self);
  std::uint64_t home_since = ticks();
  while (!r.life.is_closed()) {
    const std::uint32_t seen = self.epoch.read();
    // The flag is cleared before the target is read. worker_controller::adjust stores the target before it
    // calls workers home.
    answer_call_home(self);
    if (r.target.is_surplus(self.rank)) {
      if (!r.life.is_closed()) r.park.wait_at_home(self, seen, home_since);
      continue;
    }
    stress_point();
    self.rests(rest_place::busy);
    fiber* s = self.take_fiber();
    // Its last fiber waits, and there is no memory for another. A fiber that can continue needs no other one.
    if (s == nullptr) s = r.injector.take_runnable();
    if (s == nullptr) {
      std::this_thread::sleep_for(pause_without_memory);
      continue;
    }
    open_mailbox(self);
    switch_from_home(self, *s);
    self.enter_state(worker_state::outside);
    close_mailbox(self);
    if (r.hints.in_use()) r.hints.leaves(self);
    home_since = ticks();
  }
  notify(r.chosen.on_worker_end, self);
  self.thread_id.store(0, std::memory_order_relaxed);
  self.rests(rest_place::no_thread);
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// Parking: the counts, permits and wake epochs.
#include "world.hpp"

#include <utility>

namespace sukima::memory {

namespace {

detail::atomic<std::uint32_t>& work() {
  static detail::atomic<std::uint32_t> pieces{0};
  return pieces;
}

/// The loop of search() in src/runtime/steal/find_work.cpp for a worker that looks for one piece of work.
void search(world& w, unsigned worker) {
  detail::parking& park = w.core->park;
  detail::worker& me = w.worker(worker);
  std::uint64_t timeout_ns = 0;
  for (;;) {
    const std::uint32_t seen = me.epoch.read();
    std::uint32_t pieces = work().load(std::memory_order_relaxed);
    if (pieces != 0 && work().compare_exchange_strong(pieces, pieces - 1, std::memory_order_relaxed)) break;
    park.park(me, wait_point::idle, nullptr, seen, timeout_ns);
  }
  park.end_search();
}

/// Checked when only a clock could continue: each worker that counts as searching is the sentinel, or has
/// been called up and is not asleep.
void require_called_workers_awake(world& w) {
  require(w.core->park.counts().searching == timed_waits(),
          "a worker that counts as searching sleeps without a clock");
}

/// The last worker parks without an end while an entry begins. No clock is needed.
program entry_calls_up() {
  world& w = world::with(3);
  program p;
  p.name = "park: an entry begins while the last worker parks";
  p.set_up = [&w] {
    w.reset();
    work().store(0);
    w.core->park.entry_ends(0);
    w.core->park.begin_search();
  };
  p.threads = {[&w] { search(w, 0); },
               [&w] {
                 w.core->park.entry_begins();
                 work().store(1, std::memory_order_relaxed);
                 w.core->park.wake_sentinel();
               }};
  p.timeouts = 2;
  p.at_stall = [&w] { require_called_workers_awake(w); };
  return p;
}

/// Two workers search, one finds the work and calls the other one up.
program finder_calls_up() {
  world& w = world::with(3);
  program p;
  p.name = "park: the last searching worker finds work";
  p.set_up = [&w] {
    w.reset();
    work().store(1);
    w.core->park.begin_search();
    w.core->park.begin_search();
  };
  // The worker that finds it leaves another piece for the other one, as a worker that publishes does.
  static bool first = true;
  const auto set_up = p.set_up;
  p.set_up = [set_up] {
    set_up();
    first = true;
  };
  const auto find = [&w](unsigned worker) {
    search(w, worker);
    if (std::exchange(first, false)) work().store(1, std::memory_order_relaxed);
  };
  p.threads = {[find] { find(0); }, [find] { find(1); }};
  p.timeouts = 2;
  p.at_stall = [&w] { require_called_workers_awake(w); };
  return p;
}

/// A parked worker whose task is done leaves by itself while another one is calling it up.
program leaves_by_itself() {
  world& w = world::with(3);
  static std::optional<test_task> awaited;
  program p;
  p.name = "park: a worker is called up and leaves by itself";
  p.set_up = [&w] {
    w.reset();
    work().store(0);
    awaited.emplace();
    awaited->owner = &w.fiber(0);
    awaited->joining.store(reinterpret_cast<std::uintptr_t>(&w.worker(0)) | detail::join_sleeper_mark);
    w.core->park.begin_search();
    w.core->park.begin_search();
  };
  p.threads = {[&w] {
                 detail::parking& park = w.core->park;
                 std::uint64_t timeout_ns = 0;
                 for (;;) {
                   const std::uint32_t seen = w.worker(0).epoch.read();
                   if (detail::is_done(&*awaited)) break;
                   park.park(w.worker(0), wait_point::result, &*awaited, seen, timeout_ns);
                 }
                 park.end_search();
               },
               [&w] { w.core->park.end_search(); }, [&w] { detail::complete(w.worker(2), &*awaited); }};
  p.timeouts = 1;
  p.at_stall = [&w] { require_called_workers_awake(w); };
  return p;
}

/// One worker is parked. Another one parks, although its thread must return to its own fiber, so it leaves by
/// itself. At the same time an entry calls one of the two up. If the call reached the worker that leaves, it
/// must pass the call on.
program passes_the_call_on() {
  world& w = world::with(3);
  program p;
  p.name = "park: a worker that leaves by itself passes a call on";
  p.set_up = [&w] {
    w.reset();
    w.worker(0).flags.store(detail::flag_leave);
    w.core->park.entry_ends(0);
    for (int i = 0; i < 2; ++i) w.core->park.begin_search();
  };
  const auto sleep = [&w](unsigned worker) {
    std::uint64_t timeout_ns = 0;
    detail::worker& me = w.worker(worker);
    w.core->park.park(me, wait_point::idle, nullptr, me.epoch.read(), timeout_ns);
  };
  const auto after_the_second_has_parked = [&w] {
    while (w.core->park.counts().parked == 0) wait_for_change();
  };
  p.threads = {[&w, sleep, after_the_second_has_parked] {
                 after_the_second_has_parked();
                 sleep(0);
                 w.core->park.end_search();
               },
               [sleep] { sleep(1); },
               [&w, after_the_second_has_parked] {
                 after_the_second_has_parked();
                 w.core->park.entry_begins();
               }};
  p.timeouts = 1;  // the worker that leaves may become the sentinel
  return p;
}

/// Two workers are called up, the second by the first. Either may take the permit that was meant for the
/// other, which then parks once more.
program called_up_in_turn() {
  world& w = world::with(3);
  program p;
  p.name = "park: two workers are called up in turn";
  p.set_up = [&w] {
    w.reset();
    for (int i = 0; i < 3; ++i) w.core->park.begin_search();
  };
  const auto sleep = [&w](unsigned worker) {
    std::uint64_t timeout_ns = 0;
    detail::worker& me = w.worker(worker);
    w.core->park.park(me, wait_point::idle, nullptr, me.epoch.read(), timeout_ns);
    w.core->park.end_search();
  };
  p.threads = {[sleep] { sleep(0); }, [sleep] { sleep(1); },
               [&w] {
                 while (w.core->park.counts().parked != 2) wait_for_change();
                 w.core->park.end_search();
               }};
  return p;
}

/// A sleeping sentinel is woken for work that was pushed: the worker that pushes has seen it sleep.
program wakes_the_sentinel() {
  world& w = world::with(3);
  static std::optional<test_task> pushed;
  program p;
  p.name = "park: the sentinel is woken for a task in the injector queue";
  p.set_up = [&w] {
    w.reset();
    pushed.emplace();
    w.core->park.begin_search();
  };
  p.threads = {
      [&w] {
        detail::parking& park = w.core->park;
        std::uint64_t timeout_ns = 0;
        for (;;) {
          const std::uint32_t seen = w.worker(0).epoch.read();
          const detail::work found = w.core->injector.take(nullptr, detail::permitted_work::anything);
          if (found.fresh != nullptr) {
            require(static_cast<test_task*>(found.fresh)->message.get() == 7, "the message of the task");
            break;
          }
          park.park(w.worker(0), wait_point::idle, nullptr, seen, timeout_ns);
        }
        park.end_search();
      },
      [&w] {
        pushed->message.set(7);
        w.core->injector.push(&*pushed);
      }};
  p.timeouts = 1;
  return p;
}

}  // namespace

std::vector<program> parking_programs() {
  return {entry_calls_up(),     finder_calls_up(),   leaves_by_itself(),
          passes_the_call_on(), called_up_in_turn(), wakes_the_sentinel()};
}

}  // namespace sukima::memory

// SPDX-License-Identifier: Apache-2.0
// A thread that enters unannounced, against the end of the runtime: nothing counts the entry, but its worker
// is taken.
#include "world.hpp"

namespace sukima::memory {

namespace {

/// All that the end of the runtime gives away.
plain<int> of_the_runtime;
bool has_entered;
bool has_ended;

void set_up(world& w) {
  w.reset();
  w.core->park.entry_ends(0);  // that of reset()
  w.renew_entries();
  for (detail::worker& each : w.core->workers.all())
    if (!each.background) each.taken.store(false);
  has_entered = has_ended = false;
}

void enter(world& w) {
  if (!w.core->entries.take_unannounced(w.worker(0))) return;
  has_entered = true;
  of_the_runtime.set(1);
  detail::runtime_entries::give_back(w.worker(0));
}

void end(world& w) {
  has_ended = w.core->entries.close_if([] { return true; });
  if (has_ended) of_the_runtime.set(2);
}

program enter_while_it_ends() {
  world& w = world::with(3);
  program p;
  p.name = "entries: one that is not announced, and the runtime's end";
  p.set_up = [&w] { set_up(w); };
  p.threads = {[&w] { enter(w); }, [&w] { end(w); }};
  p.at_end = [&w] {
    require(w.core->entries.are_refused() == has_ended, "an end that does not take place refuses nothing");
    require(!w.worker(0).is_taken(), "the worker was given back");
  };
  return p;
}

/// The worker passes from thread to thread.
program two_that_enter() {
  world& w = world::with(3);
  program p;
  p.name = "entries: two that are not announced";
  p.set_up = [&w] { set_up(w); };
  p.threads = {[&w] { enter(w); }, [&w] { enter(w); }};
  p.at_end = [] { require(has_entered, "one of two threads gets a worker that no thread has"); };
  return p;
}

}  // namespace

std::vector<program> entering_programs() { return {enter_while_it_ends(), two_that_enter()}; }

}  // namespace sukima::memory

// SPDX-License-Identifier: Apache-2.0
// Suspending: the fiber, the thread that resumes it, and a helper that splits its work.
#include "world.hpp"

#include <sukima/suspend.hpp>

#include <array>

namespace sukima::memory {

namespace {

std::optional<test_task> root;
std::optional<test_task> split_off;
std::array<std::optional<test_task>, 2> ends;
plain<int> of_the_fiber;
resumer right;
plain<int> message;  ///< of the resuming thread
unsigned continued = 0;

detail::atomic<bool>& handed_out() {
  static detail::atomic<bool> flag{false};
  return flag;
}

void set_up(world& world, bool bound) {
  world.reset();
  world.core->park.begin_search();
  handed_out().store(false);
  continued = 0;
  root.emplace([&world, bound] {
    of_the_fiber.set(3);
    world.fiber(0).thread_bindings = bound ? 1 : 0;
    const auto store = [](void*, resumer r) {
      right = r;
      handed_out().store(true, std::memory_order_release);
    };
    test_choice_point& r = world.bottom(0);
    detail::suspend_running(reinterpret_cast<char*>(detail::above(&r)), store, nullptr);
    require(of_the_fiber.get() == 3, "what the fiber wrote before it stopped");
    require(message.get() == 7, "what was written before the fiber was resumed");
    ++continued;
    end_thread();
  });
  world.fiber(0).first = &*root;
  world.bottom(0);
  // The next work of the fiber's worker, or of another one.
  for (std::optional<test_task>& t : ends) world.core->injector.push(&t.emplace([] { end_thread(); }));
}

void suspend_on_worker(world& world) { detail::switch_from_home(world.worker(0), world.fiber(0)); }

void resume_when_handed_out() {
  while (!handed_out().load(std::memory_order_acquire)) wait_for_change();
  message.set(7);
  right.resume();
}

/// A worker that continues the fiber if it is ready.
void continue_on(world& world, unsigned worker) {
  const detail::work found = world.core->injector.take(nullptr, detail::permitted_work::anything);
  if (found.runnable != nullptr) detail::switch_from_home(world.worker(worker), *found.runnable);
}

bool is_ready(world& world) {
  return world.core->injector.take(nullptr, detail::permitted_work::anything).runnable == &world.fiber(0);
}

program suspend_and_resume() {
  world& w = world::with(3);
  program p;
  p.name = "suspend: resumed while the fiber stops";
  p.set_up = [&w] { set_up(w, false); };
  p.threads = {[&w] { suspend_on_worker(w); },
               [&w] {
                 resume_when_handed_out();
                 continue_on(w, 1);
               }};
  p.at_end = [&w] { require(continued + (is_ready(w) ? 1 : 0) == 1, "the fiber is made ready once"); };
  return p;
}

program wait_in_place() {
  world& w = world::with(3);
  program p;
  p.name = "suspend: a thread-bound fiber waits in place";
  p.set_up = [&w] { set_up(w, true); };
  p.threads = {[&w] { suspend_on_worker(w); }, [] { resume_when_handed_out(); }};
  p.at_end = [] { require(continued == 1, "the fiber has continued"); };
  return p;
}

/// A helper holds the suspended fiber, splits, and lets it go, while it is resumed.
program split_while_suspended() {
  world& w = world::with(3);
  program p;
  p.name = "suspend: a helper splits while the fiber is resumed";
  p.set_up = [&w] {
    w.reset();
    continued = 0;
    root.emplace();
    w.fiber(0).running = &*root;
    test_choice_point& r = w.bottom(0);
    r.tasks = {&split_off.emplace()};
    r.parts = 1;
    w.fiber(0).suspended_end = reinterpret_cast<char*>(detail::above(&r));
    w.fiber(0).suspension.store(detail::suspension_word::make(1, detail::suspension_stage::suspended));
    w.core->splittable.add(&w.fiber(0));
  };
  // A worker that continues the fiber uses its choice stack.
  const auto go_on = [&w] {
    if (w.core->injector.take(nullptr, detail::permitted_work::anything).runnable == nullptr) return;
    reinterpret_cast<test_choice_point*>(w.fiber(0).base)->state.get();
    ++continued;
  };
  p.threads = {[&w] { w.core->splittable.split_one(w.worker(0)); },
               [&w, go_on] {
                 detail::resume_fiber(w.fiber(0), 1);
                 go_on();
               },
               go_on};
  p.at_end = [&w] { require(continued + (is_ready(w) ? 1 : 0) == 1, "the fiber is made ready once"); };
  return p;
}

}  // namespace

std::vector<program> suspending_programs() {
  return {suspend_and_resume(), wait_in_place(), split_while_suspended()};
}

}  // namespace sukima::memory

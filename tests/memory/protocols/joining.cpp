// SPDX-License-Identifier: Apache-2.0
// Joining: the worker that waits for a task, against the worker that completes it.
#include "world.hpp"

namespace sukima::memory {

namespace {

std::optional<test_task> running;
std::optional<test_task> awaited;
plain<int> of_the_fiber;  ///< a variable on the waiting fiber's stack

void set_up_tasks(world& w) {
  w.reset();
  w.core->park.begin_search();  // another worker searches, so no sentinel is needed
  running.emplace();
  awaited.emplace();
  awaited->parent = &*running;
  awaited->owner = &w.fiber(0);
  awaited->depth = 1;
}

/// The completer: writes the result, then completes the task.
void complete_awaited(world& w, unsigned worker) {
  awaited->message.set(7);
  detail::fiber* const next = detail::complete(w.worker(worker), &*awaited);
  if (next == nullptr) return;
  require(of_the_fiber.get() == 3, "what the fiber wrote before it parked, its registers among it");
  detail::switch_from_home(w.worker(worker), *next);
}

/// The fiber waits in place, without anything else to do: its worker sleeps until the task is done. Then it
/// takes the result and ends the task.
program wait_in_place() {
  world& w = world::with(3);
  program p;
  p.name = "join: the worker sleeps with the fiber in place";
  p.set_up = [&w] {
    set_up_tasks(w);
    w.run(0, 0, false);
    w.fiber(0).running = &*running;
  };
  p.threads = {[&w] {
                 detail::await(w.fiber(0), &*awaited, nullptr);
                 require(awaited->message.get() == 7, "the result");
                 awaited.reset();
               },
               [&w] { complete_awaited(w, 1); }};
  return p;
}

/// A thread-bound fiber: its worker does not search, but sleeps by itself.
program wait_bound_to_the_thread() {
  program p = wait_in_place();
  world& w = world::with(3);
  p.name = "join: a thread-bound fiber";
  const auto set_up = p.set_up;
  p.set_up = [&w, set_up] {
    set_up();
    w.fiber(0).thread_bindings = 1;
  };
  return p;
}

/// The fiber parks, because its worker has found other work; the completer continues it on its own worker.
program park() {
  world& w = world::with(3);
  static std::optional<test_task> root;
  static std::optional<test_task> other;
  program p;
  p.name = "join: the fiber parks and is continued by the completer";
  static bool continued = false;
  p.set_up = [&w] {
    set_up_tasks(w);
    continued = false;
    other.emplace([] { end_thread(); });
    root.emplace([&w] {
      of_the_fiber.set(3);
      detail::await(w.fiber(0), &*awaited, nullptr);
      require(awaited->message.get() == 7, "the result");
      require(of_the_fiber.get() == 3, "what the fiber wrote before it parked");
      require(!continued, "the fiber continues once");
      continued = true;
      awaited.reset();
      end_thread();
    });
    other->depth = 1;
    w.core->injector.push(&*other);
    w.fiber(0).first = &*root;
  };
  p.threads = {[&w] { detail::switch_from_home(w.worker(0), w.fiber(0)); }, [&w] { complete_awaited(w, 1); }};
  p.at_end = [&w] {
    const bool ready =
        w.core->injector.take(nullptr, detail::permitted_work::anything).runnable == &w.fiber(0);
    require(ready != continued, "the fiber is ready or has continued, not both");
  };
  return p;
}

/// The fiber was registered with a worker that it has left since: it is registered anew where it waits now.
program register_again() {
  world& w = world::with(3);
  program p;
  p.name = "join: another worker is registered";
  p.set_up = [&w] {
    set_up_tasks(w);
    w.run(0, 0, false);
    w.fiber(0).running = &*running;
    awaited->joining.store(reinterpret_cast<std::uintptr_t>(&w.worker(2)) | detail::join_sleeper_mark);
  };
  p.threads = {[&w] { detail::await(w.fiber(0), &*awaited, nullptr); }, [&w] { complete_awaited(w, 1); }};
  return p;
}

/// A root whose thread waits at home while another worker completes it.
program root_at_home() {
  world& w = world::with(3);
  static std::optional<detail::root_task> root;
  static plain<int> result;
  program p;
  p.name = "join: a root ends on another worker";
  p.set_up = [&w] {
    w.reset();
    w.core->park.begin_search();
    root.emplace();
    root->home = &w.worker(0);
    w.fiber(1).first = nullptr;
  };
  // The thread of the root searches on a fiber and leaves it when it sees its flag.
  p.threads = {[&w] {
                 detail::switch_from_home(w.worker(0), w.fiber(1));
                 require(result.get() == 7, "the result of the root");
                 root.reset();
               },
               [&w] {
                 result.set(7);
                 detail::complete(w.worker(1), &*root);
               }};
  return p;
}

}  // namespace

std::vector<program> joining_programs() {
  return {wait_in_place(), wait_bound_to_the_thread(), park(), register_again(), root_at_home()};
}

}  // namespace sukima::memory

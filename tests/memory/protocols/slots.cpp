// SPDX-License-Identifier: Apache-2.0
// Published tasks: publish, steal, reclaim, empty.
#include "world.hpp"

#include <array>

namespace sukima::memory {

namespace {

detail::publication_slots& slots() {
  static std::optional<detail::publication_slots> of_the_owner;
  if (running_thread() == none && !of_the_owner) of_the_owner.emplace();
  return *of_the_owner;
}

std::array<std::optional<test_task>, 2> tasks;
std::array<unsigned, 2> runs{};

void set_up() {
  static_cast<void>(slots());
  std::destroy_at(&slots());
  std::construct_at(&slots());
  for (auto& t : tasks) t.emplace();
  runs = {};
}

/// Runs a task that its worker has alone: the task's message has arrived with it.
void run(detail::task* t) {
  auto& mine = *static_cast<test_task*>(t);
  const int number = mine.message.get();
  mine.message.set(-1);
  ++runs[static_cast<std::size_t>(number)];
}

void steal() {
  if (detail::task* const t = slots().steal_oldest(2)) run(t);
}

void publish(unsigned task, unsigned slot) {
  tasks[task]->message.set(static_cast<int>(task));
  slots().publish(&*tasks[task], slot);
}

/// Two tasks; the younger is reclaimed first.
program publish_and_reclaim() {
  program p;
  p.name = "two tasks published, stolen and reclaimed";
  p.set_up = set_up;
  p.threads = {[] {
                 publish(0, 0);
                 publish(1, 1);
                 for (const unsigned i : {1u, 0u})
                   if (slots().reclaim(&*tasks[i])) run(&*tasks[i]);
               },
               steal, steal};
  p.at_end = [] { require(runs[0] == 1 && runs[1] == 1, "each task is run once"); };
  return p;
}

/// The same memory and the same slot again: a thief may have looked at the task before.
program reuse() {
  static bool again = false;
  program p;
  p.name = "a task in memory and a slot that were used before";
  p.set_up = [] {
    set_up();
    again = false;
  };
  p.threads = {[] {
                 publish(0, 0);
                 if (!slots().reclaim(&*tasks[0])) return;
                 run(&*tasks[0]);
                 again = true;
                 tasks[0].emplace();
                 publish(0, 0);
               },
               steal, steal};
  p.at_end = [] {
    const unsigned left = slots().empty(0) != nullptr ? 1 : 0;
    require(runs[0] + left == (again ? 2 : 1), "each task is run once");
  };
  return p;
}

/// The owner parks: the tasks in its slots go to the injector queue, where another worker takes them.
program inject() {
  world& w = world::with(3);
  program p;
  p.name = "published tasks of a fiber that parks";
  p.set_up = [&w] {
    w.reset();
    set_up();
  };
  const auto publish_at = [&w](unsigned task) {
    tasks[task]->message.set(static_cast<int>(task));
    w.fiber(0).published.publish(&*tasks[task], task);
  };
  p.threads = {[&w, publish_at] {
                 w.fiber(0).runtime = w.core.get();
                 publish_at(0);
                 publish_at(1);
                 detail::inject_published(w.fiber(0));
               },
               [&w] {
                 if (detail::task* const t = w.fiber(0).published.steal_oldest(3)) run(t);
               },
               [&w] {
                 const detail::work found = w.core->injector.take(nullptr, detail::permitted_work::anything);
                 if (found.fresh != nullptr) run(found.fresh);
               }};
  p.at_end = [&w] {
    unsigned left = 0;
    while (w.core->injector.take(nullptr, detail::permitted_work::anything).fresh != nullptr) ++left;
    require(runs[0] <= 1 && runs[1] <= 1 && runs[0] + runs[1] + left == 2, "each task is run once or queued");
  };
  return p;
}

}  // namespace

std::vector<program> slot_programs() { return {publish_and_reclaim(), reuse(), inject()}; }

}  // namespace sukima::memory

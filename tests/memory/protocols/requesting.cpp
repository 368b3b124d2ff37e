// SPDX-License-Identifier: Apache-2.0
// Steal requests (the protocol `request`): the mailbox, the reply, withdrawing.
#include "world.hpp"

namespace sukima::memory {

namespace {

std::optional<test_task> running;
std::optional<test_task> split_off;

void set_up_victim(world& w) {
  w.reset();
  w.run(0, 0, false);
  w.fiber(0).running = &running.emplace();
  test_choice_point& r = w.bottom(0);
  r.tasks = {&split_off.emplace()};
  r.parts = 1;
}

/// A thief puts its request into the mailbox of a worker that polls.
program request_of_a_polling_worker() {
  world& w = world::with(0);
  program p;
  p.name = "request to a worker that polls";
  p.set_up = [&w] {
    set_up_victim(w);
    w.worker(0).mailbox.open();
    detail::gate_of(w.fiber(0).base).limit.store(detail::all_ones);
  };
  p.threads = {[&w] {
                 auto& r = *reinterpret_cast<test_choice_point*>(w.fiber(0).base);
                 poll(r);
                 poll(r);
               },
               [&w] {
                 detail::steal_request asked;
                 asked.poll(w.worker(1));
               }};
  p.at_end = [&w] {
    require(!w.worker(0).mailbox.has_request() || w.is_raised(0),
            "the request was taken, or the next poll is slow");
  };
  return p;
}

/// The victim opens its mailbox, then comes to a fiber.
program request_of_an_arriving_worker() {
  world& w = world::with(0);
  static std::optional<test_task> root;
  program p;
  p.name = "request to a worker that changes fibers";
  p.set_up = [&w] {
    w.reset();
    root.emplace([] { end_thread(); });
    w.fiber(0).first = &*root;
  };
  p.threads = {[&w] {
                 detail::open_mailbox(w.worker(0));
                 detail::switch_from_home(w.worker(0), w.fiber(0));
               },
               [&w] {
                 detail::steal_request asked;
                 asked.poll(w.worker(1));
               }};
  p.at_end = [&w] { require(!w.worker(0).mailbox.has_request() || w.is_raised(0), "the next poll is slow"); };
  return p;
}

/// The thief withdraws: it gets the task that was on its way, with its message, or nothing; and never waits
/// for ever.
program withdrawing() {
  world& w = world::with(0);
  program p;
  p.name = "request, reply and withdrawal";
  p.set_up = [&w] {
    set_up_victim(w);
    w.worker(0).mailbox.open();
  };
  p.threads = {[&w] {
                 poll(*reinterpret_cast<test_choice_point*>(w.fiber(0).base));
                 detail::close_mailbox(w.worker(0));
               },
               [&w] {
                 detail::steal_request asked;
                 asked.poll(w.worker(1));
                 if (auto* const t = static_cast<test_task*>(asked.withdraw(w.worker(1))))
                   require(t->message.get() == 7, "the message of the task");
               }};
  p.at_end = [&w] { require(!w.worker(0).mailbox.has_request(), "no request is left in a closed mailbox"); };
  return p;
}

/// Two thieves ask the same victim, which closes its mailbox.
program two_thieves() {
  world& w = world::with(0);
  static unsigned got = 0;
  program p;
  p.name = "requests of two thieves";
  p.set_up = [&w] {
    set_up_victim(w);
    w.worker(0).mailbox.open();
    got = 0;
  };
  const auto thief = [&w](unsigned id) {
    return [&w, id] {
      detail::steal_request asked;
      asked.poll(w.worker(id));
      if (auto* const t = static_cast<test_task*>(asked.withdraw(w.worker(id)))) {
        require(t->message.get() == 7, "the message of the task");
        t->message.set(8);
        ++got;
      }
    };
  };
  p.threads = {[&w] {
                 poll(*reinterpret_cast<test_choice_point*>(w.fiber(0).base));
                 detail::close_mailbox(w.worker(0));
               },
               thief(1), thief(2)};
  p.at_end = [&w] {
    auto& r = *reinterpret_cast<test_choice_point*>(w.fiber(0).base);
    require(got + r.parts == 1, "the task was given to one thief, or not at all");
  };
  return p;
}

}  // namespace

std::vector<program> requesting_programs() {
  return {request_of_a_polling_worker(), request_of_an_arriving_worker(), withdrawing(), two_thieves()};
}

}  // namespace sukima::memory

// SPDX-License-Identifier: Apache-2.0
// The poll limit: a thread with a request to a running fiber, against the fiber's slow poll, the beginning of
// a task and the change of fibers.
#include "world.hpp"

namespace sukima::memory {

namespace {

/// A running fiber polls twice while another thread aborts it: at the end it has noticed, or its next poll is
/// slow and looks for it.
/// \param again  an earlier abort, which concerned other fibers, has not been answered yet
program abort_of_a_running_fiber(bool again) {
  world& w = world::with(3);
  static std::optional<test_task> running;
  program p;
  p.name = again ? "second abort of a running fiber" : "abort of a running fiber";
  p.set_up = [&w, again] {
    w.reset();
    w.run(0, 0, true);
    if (again) w.worker(0).flags.store(detail::flag_check_abort);
    w.fiber(0).running = &running.emplace();
    w.bottom(0);
  };
  p.threads = {[&w] {
                 auto& r = *reinterpret_cast<test_choice_point*>(w.fiber(0).base);
                 poll(r);
                 poll(r);
               },
               [&w] {
                 detail::lower_abort(*running, reinterpret_cast<detail::choice_point*>(w.fiber(0).base));
                 detail::request_abort_checks(*w.core);
               }};
  p.at_end = [&w] {
    const bool flagged = (w.worker(0).flags.load() & detail::flag_check_abort) != 0;
    require(w.fiber(0).abort_pending || (w.is_raised(0) && flagged),
            "the abort was noticed, or the next poll is slow and looks for it");
  };
  return p;
}

/// The same of a task that came from another one, which is cancelled.
program abort_of_a_running_child() {
  world& w = world::with(3);
  static std::optional<test_task> parent;
  static std::optional<test_task> running;
  program p;
  p.name = "abort of a running child";
  p.set_up = [&w] {
    w.reset();
    w.run(0, 0, true);
    parent.emplace();
    running.emplace().parent = &*parent;
    w.fiber(0).running = &*running;
    w.bottom(0);
  };
  p.threads = {[&w] { poll(*reinterpret_cast<test_choice_point*>(w.fiber(0).base)); },
               [&w] {
                 parent->cancelled.store(true, std::memory_order_release);
                 detail::request_abort_checks(*w.core);
               }};
  p.at_end = [&w] {
    require(w.fiber(0).abort_pending || w.is_raised(0), "the abort was noticed, or the next poll is slow");
  };
  return p;
}

/// A worker begins to search and requests polls; the fiber publishes, or its next poll is slow.
program request_of_an_idle_worker() {
  world& w = world::with(3);
  static std::optional<test_task> running;
  static std::optional<test_task> split_off;
  program p;
  p.name = "request of an idle worker";
  p.set_up = [&w] {
    w.reset();
    w.run(0, 0, true);
    w.fiber(0).running = &running.emplace();
    test_choice_point& r = w.bottom(0);
    r.tasks = {&split_off.emplace()};
    r.parts = 1;
  };
  p.threads = {[&w] {
                 auto& r = *reinterpret_cast<test_choice_point*>(w.fiber(0).base);
                 poll(r);
                 poll(r);
               },
               [&w] {
                 w.core->park.begin_search();
                 detail::request_poll_all(w.worker(1));
               }};
  p.at_end = [&w] {
    require(w.fiber(0).published.any(3) || w.is_raised(0), "a task was published, or the next poll is slow");
  };
  return p;
}

/// A thief takes what is published and wants more.
program request_of_a_thief() {
  world& w = world::with(3);
  static std::optional<test_task> running;
  static std::optional<test_task> published;
  static std::optional<test_task> split_off;
  program p;
  p.name = "request of a thief";
  p.set_up = [&w] {
    w.reset();
    w.run(0, 0, true);
    w.fiber(0).running = &running.emplace();
    w.fiber(0).published.publish(&published.emplace(), 0);
    test_choice_point& r = w.bottom(0);
    r.tasks = {&split_off.emplace()};
    r.parts = 1;
  };
  p.threads = {[&w] {
                 auto& r = *reinterpret_cast<test_choice_point*>(w.fiber(0).base);
                 poll(r);
                 poll(r);
               },
               [&w] {
                 const detail::work found =
                     detail::find_work(w.worker(1), nullptr, detail::permitted_work::anything);
                 require(found.fresh != nullptr, "what was published is found");
               }};
  p.at_end = [&w] {
    require(w.fiber(0).published.any(3) || w.is_raised(0),
            "the next task was published, or the next poll is slow");
  };
  return p;
}

/// A worker comes to a fiber and begins a task there, while that task is cancelled.
program abort_of_a_beginning_task() {
  world& w = world::with(3);
  static std::optional<test_task> root;
  program p;
  p.name = "abort of a task that begins";
  p.set_up = [&w] {
    w.reset();
    root.emplace([] { end_thread(); });
    root->home = &w.worker(0);
    w.fiber(0).first = &*root;
  };
  p.threads = {[&w] { detail::switch_from_home(w.worker(0), w.fiber(0)); },
               [&w] {
                 root->cancelled.store(true, std::memory_order_release);
                 detail::request_abort_checks(*w.core);
               }};
  p.at_end = [&w] {
    require(w.fiber(0).abort_pending || root->aborted || w.is_raised(0),
            "the abort was noticed, or the next poll is slow");
  };
  return p;
}

/// A worker continues a fiber that was stopped at a switch, while that fiber's task is cancelled.
program abort_of_a_fiber_that_continues() {
  world& w = world::with(3);
  static std::optional<test_task> root;
  static std::optional<test_task> next;
  program p;
  p.name = "abort of a fiber that continues";
  p.set_up = [&w] {
    w.reset();
    // It stops for another fiber, and is continued by the next worker.
    root.emplace([&w] {
      detail::switch_to(w.worker(0), w.fiber(0), w.fiber(1), nullptr, nullptr);
      end_thread();
    });
    w.fiber(0).first = &*root;
    next.emplace([&w] { detail::switch_to(w.worker(0), w.fiber(1), w.fiber(0), nullptr, nullptr); });
    w.fiber(1).first = &*next;
  };
  p.threads = {[&w] { detail::switch_from_home(w.worker(0), w.fiber(0)); },
               [&w] { detail::request_abort_checks(*w.core); }};
  p.at_end = [&w] {
    const bool unanswered = (w.worker(0).flags.load() & detail::flag_check_abort) != 0;
    require(!unanswered || w.is_raised(0), "the flag has been read, or the next poll is slow");
  };
  return p;
}

/// A root ends elsewhere while its thread comes to another fiber and begins a task there: it is called home.
program call_home_of_an_arriving_worker() {
  world& w = world::with(3);
  static std::optional<test_task> first;
  static std::optional<test_task> root;
  program p;
  p.name = "call home of a worker that begins a task";
  p.set_up = [&w] {
    w.reset();
    first.emplace([] { end_thread(); });
    w.fiber(0).first = &*first;
    // As the last task on this fiber has left it.
    detail::gate_of(w.fiber(0).base).limit.store(detail::all_ones);
    root.emplace();
    root->home = &w.worker(0);
  };
  p.threads = {[&w] { detail::switch_from_home(w.worker(0), w.fiber(0)); },
               [&w] { detail::complete(w.worker(1), &*root); }};
  p.at_end = [&w] { require(w.is_raised(0), "the next poll is slow"); };
  return p;
}

/// A fiber that has just been made: a worker that finds it sees its memory.
program request_of_a_new_fiber() {
  world& w = world::with(3);
  static std::optional<test_task> first;
  static std::optional<test_task> published;
  static std::optional<test_task> awaited;
  static std::optional<test_task> queued;
  program p;
  p.name = "requests of a fiber that has just been made";
  p.set_up = [&w] {
    w.reset();
    first.emplace([&w] {
      published->message.set(7);
      w.fiber(0).published.publish(&*published, 0);
      end_thread();
    });
    published.emplace();
    awaited.emplace();
    awaited->runner.store(&w.worker(0));
    w.core->injector.push(&queued.emplace());
    w.fiber(0).first = &*first;
  };
  p.threads = {[&w] {
                 w.make_anew(0);
                 detail::switch_from_home(w.worker(0), w.fiber(0));
               },
               [&w] {
                 // First a steal from the worker that runs the awaited task, else what is queued.
                 const detail::work found =
                     detail::find_work(w.worker(1), &*awaited, detail::permitted_work::anything);
                 if (found.fresh == &*published)
                   require(published->message.get() == 7, "the message of the task");
               },
               [&w] { detail::request_poll_all(w.worker(2)); }};
  return p;
}

}  // namespace

std::vector<program> polling_programs() {
  return {abort_of_a_running_fiber(false),
          abort_of_a_running_fiber(true),
          abort_of_a_running_child(),
          request_of_an_idle_worker(),
          request_of_a_thief(),
          abort_of_a_beginning_task(),
          abort_of_a_fiber_that_continues(),
          call_home_of_an_arriving_worker(),
          request_of_a_new_fiber()};
}

}  // namespace sukima::memory

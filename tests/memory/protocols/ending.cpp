// SPDX-License-Identifier: Apache-2.0
// The end of a block's future that its own fiber computes, against threads that wait for it or cancel it.
#include "future/future.hpp"
#include "world.hpp"

namespace sukima::memory {

namespace {

struct test_waiter : detail::future_waiter {
  unsigned woken = 0;
  bool added = false;
  plain<int> of_the_fiber;  ///< a variable on the waiting fiber's stack
};

std::optional<detail::future_cell> cell;
std::optional<test_waiter> waiter;
plain<int> result;
detail::future_end seen{};

void set_up(world& w) {
  w.reset();
  w.run(0, 0, false);
  cell.emplace();
  waiter.emplace();
  waiter->ended = [](detail::future_waiter& of) noexcept {
    require(waiter->of_the_fiber.get() == 3, "what the fiber wrote before it waited");
    ++static_cast<test_waiter&>(of).woken;
  };
}

/// The fiber of the future has computed it.
void end_in_place(world& w) {
  result.set(7);
  cell->begin_in_place(reinterpret_cast<char*>(detail::above(&w.bottom(0))));
  cell->end_in_place(detail::future_end::value, &w.bottom(0));
}

void claim(world& w) {
  detail::future_waiting::claim(*cell, reinterpret_cast<detail::choice_point*>(w.fiber(0).base));
}

/// A touch by a fiber that is not the future's own, after its claim if it needs one.
void wait() {
  waiter->of_the_fiber.set(3);
  waiter->added = detail::future_waiting::add(*cell, *waiter);
  if (!waiter->added && cell->how() == detail::future_end::value)
    require(result.get() == 7, "a fiber that finds the future ended sees its result");
}

void claim_and_wait(world& w) {
  claim(w);
  wait();
}

void require_one_wake_up() {
  require(waiter->woken == (waiter->added ? 1u : 0u), "each fiber that waits is woken once");
  require(cell->is_done(), "the future has ended");
}

program wait_while_it_ends() {
  world& w = world::with(3);
  program p;
  p.name = "futures: the end in place, and a fiber that begins to wait";
  p.set_up = [&w] { set_up(w); };
  p.threads = {[&w] { end_in_place(w); }, [&w] { claim_and_wait(w); }};
  p.at_end = require_one_wake_up;
  return p;
}

program cancel_while_it_ends() {
  world& w = world::with(3);
  program p;
  p.name = "futures: the end in place, and a thread that cancels";
  p.set_up = [&w] { set_up(w); };
  p.threads = {[&w] { end_in_place(w); },
               [&w] {
                 claim(w);
                 detail::future_waiting::end(*cell, detail::future_end::cancelled);
                 seen = cell->how();
               }};
  p.at_end = [] { require(cell->how() == seen, "a future ends in one way only"); };
  return p;
}

program cancel_while_a_fiber_waits() {
  world& w = world::with(3);
  program p;
  p.name = "futures: the end in place, a fiber that begins to wait, and a thread that cancels";
  p.set_up = [&w] { set_up(w); };
  p.threads = {[&w] { end_in_place(w); }, [&w] { claim_and_wait(w); },
               [&w] {
                 claim(w);
                 detail::future_waiting::end(*cell, detail::future_end::cancelled);
               }};
  p.at_end = require_one_wake_up;
  return p;
}

/// What is on the fiber's choice stack while it computes the future and gives a part of a loop away: a fork
/// whose guard refuses, the future, and the loop.
struct stack_with_a_loop {
  alignas(detail::choice_point_alignment) detail::choice_point fork;
  alignas(detail::choice_point_alignment) detail::choice_point future;
  alignas(detail::choice_point_alignment) detail::choice_point loop;
  alignas(detail::choice_point_alignment) char end;
};

std::optional<test_task> running;
std::optional<test_task> part;
bool is_part_left;

constexpr std::uint32_t bytes = detail::choice_point_alignment;
constexpr detail::choice_point_kind closed = detail::closed_kind(bytes);
constexpr detail::choice_point_kind refusing = [] {
  detail::choice_point_kind k = closed;
  k.open = [](const detail::choice_point*) noexcept { return true; };
  k.guard = [](detail::choice_point*) { return 0.0; };
  return k;
}();
constexpr detail::choice_point_kind looping = [] {
  detail::choice_point_kind k = closed;
  k.open = [](const detail::choice_point*) noexcept { return is_part_left; };
  k.split = [](detail::choice_point* r) -> detail::task* {
    is_part_left = false;
    detail::link_child(r, &*part);
    return &*part;
  };
  k.reclaim = [](detail::choice_point* r, detail::task* t) noexcept { detail::unlink_child(r, t); };
  k.stop = [](detail::choice_point*) noexcept {};
  return k;
}();

/// The fiber gives a part of its loop away, which touches the future without a claim: the fiber must see in
/// its poll limit that it may not end the future by a plain store.
program touch_in_a_part_of_a_loop() {
  world& w = world::with(3);
  static stack_with_a_loop* stack;
  program p;
  p.name = "futures: the end in place, and a part of a loop that begins to wait";
  p.set_up = [&w] {
    set_up(w);
    stack = ::new (static_cast<void*>(w.fiber(0).base)) stack_with_a_loop;
    stack->fork.word = reinterpret_cast<std::uintptr_t>(&refusing);
    stack->future.word = reinterpret_cast<std::uintptr_t>(&closed);
    stack->loop.word = reinterpret_cast<std::uintptr_t>(&looping);
    w.fiber(0).running = &running.emplace();
    part.emplace();
    is_part_left = true;
    w.core->park.begin_search();
  };
  p.threads = {[] {
                 detail::sukima_poll_slow(&stack->loop);
                 result.set(7);
                 cell->begin_in_place(&stack->end);
                 cell->end_in_place(detail::future_end::value, &stack->future);
               },
               [&w] {
                 if (w.fiber(0).published.steal_oldest(3) != nullptr) wait();
               }};
  p.at_end = require_one_wake_up;
  return p;
}

}  // namespace

std::vector<program> ending_programs() {
  return {wait_while_it_ends(), cancel_while_it_ends(), cancel_while_a_fiber_waits(),
          touch_in_a_part_of_a_loop()};
}

}  // namespace sukima::memory

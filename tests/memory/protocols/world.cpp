// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <limits>
#include <map>
#include <memory>

namespace sukima::memory {

namespace {

settings chosen_settings(unsigned published) {
  settings s;
  s.workers = 1;
  s.wait = wait_policy::block;  // no clock decides anything
  s.pin = pin_policy::none;
  s.elastic = false;
  s.published_tasks = published;
  s.stack = std::size_t{128} << 10;
  s.choices = std::size_t{64} << 10;
  return s;
}

constexpr unsigned workers = 4;
constexpr unsigned fibers_made = 6;

template <class T, class... Arguments> void renew(T& object, Arguments&&... arguments) {
  std::destroy_at(&object);
  std::construct_at(&object, std::forward<Arguments>(arguments)...);
}

detail::task* split(detail::choice_point* r) {
  auto& me = *static_cast<test_choice_point*>(r);
  test_task* const t = me.tasks[--me.parts];
  me.state.set(static_cast<int>(me.parts));
  t->message.set(7);
  detail::link_child(r, t);
  return t;
}

const detail::choice_point_kind test_kind{
    .size = (sizeof(test_choice_point) + 15) / 16 * 16,
    .open =
        [](const detail::choice_point* r) noexcept {
          return static_cast<const test_choice_point*>(r)->parts != 0;
        },
    .split = split,
    .reclaim = [](detail::choice_point* r, detail::task* t) noexcept { detail::unlink_child(r, t); },
    .undo = nullptr,
    .redo = nullptr,
    .guard = nullptr,
    .destroy = nullptr,
    .stop = nullptr};

}  // namespace

test_task::test_task(std::function<void()> does) : body(std::move(does)) {
  run = [](detail::task* t, context) { static_cast<test_task*>(t)->body(); };
}

test_choice_point::test_choice_point() { word = reinterpret_cast<std::uintptr_t>(&test_kind); }

world& world::with(unsigned published) {
  // Never destroyed: a runtime's end waits for its entries.
  static auto& all = *new std::map<unsigned, world*>;
  world*& w = all[published];
  if (w == nullptr) w = new world(published);
  return *w;
}

world::world(unsigned published)
    : core(std::make_unique<detail::whole_runtime>(chosen_settings(published), 1, nullptr)) {
  // It also does not start another worker's thread, which the explorer would not know.
  core->tuned.bound_wait_patience = std::numeric_limits<std::uint64_t>::max();
  while (core->workers.size() < workers) core->workers.add(0);
  for (unsigned i = 0; i < fibers_made; ++i) fibers.push_back(core->fibers.take());
  // The thread-local variables of the switch belong to the explored thread.
  keep({[]() -> void* { return detail::running_fiber(); },
        [](void* s) { detail::set_running_fiber(static_cast<detail::fiber*>(s)); }});
}

void world::reset() {
  for (detail::worker& w : core->workers.all()) {
    w.current.store(nullptr);
    w.flags.store(0);
    w.parked.store(false);
    w.reply.store(nullptr);
    renew(w.mailbox);
    w.thread_exceptions = &w.home_exceptions;
    w.random_state = 1;
    w.last_victim = nullptr;
    w.cached = 0;
  }
  // Each worker finds a fresh fiber in its cache; the first ones are for the programs.
  for (unsigned i = 0; i < fibers_made; ++i) {
    detail::fiber& s = *fibers[i];
    s.is_listed_splittable = false;  // the list is renewed
    detail::reset(s);
    renew(s.published);
    s.suspension.store({});
    s.on = nullptr;
    s.failure = nullptr;
    detail::gate_of(s.base).limit.store(s.base);
    detail::make_fresh(s);
    if (i >= fibers_made - workers + 1) {
      detail::worker& w = worker(i - (fibers_made - workers + 1));
      w.cache[w.cached++] = &s;
    }
  }
  renew(core->injector, core->chosen, core->park, core->hints);
  renew(core->splittable, core->chosen);
  renew(core->parked);
  renew(core->park, core->chosen, core->tuned, core->workers, core->life, core->unbegun, core->shortage,
        core->placement, core->remote);
  core->park.entry_begins();
}

void world::renew_entries() {
  renew(core->entries, core->serial, core->tuned, core->workers, core->life, core->park, core->monitor_thread,
        core->placement, core->hints);
}

void world::make_anew(unsigned s) {
  renew(detail::gate_of(fibers[s]->base).limit, fibers[s]->base);
  renew(fibers[s]->published);
}

void world::run(unsigned w, unsigned s, bool raised) {
  worker(w).current.store(fibers[s]);
  fibers[s]->on = &worker(w);
  if (raised) detail::gate_of(fibers[s]->base).limit.store(detail::all_ones);
}

test_choice_point& world::bottom(unsigned s) {
  return *::new (static_cast<void*>(fibers[s]->base)) test_choice_point;
}

bool world::is_raised(unsigned s) {
  return detail::gate_of(fibers[s]->base).limit.load() == detail::all_ones;
}

bool poll(test_choice_point& r) {
  if (detail::untouched(&r)) return false;
  detail::sukima_poll_slow(&r);
  return true;
}

}  // namespace sukima::memory

// SPDX-License-Identifier: Apache-2.0
// Streams without the type of their messages: waiting, waking, closing. Protocol: sukima/objects/core.hpp.
// The functions that move typed messages are in sukima/objects/in.hpp and out.hpp.
#include "program/program_core.hpp"
#include "recording/recording.hpp"
#include "schedule/island.hpp"
#include "stream/remote.hpp"
#include "stream/waiting.hpp"

#include <base/shared/assert.hpp>
#include <sukima/detail/ticks.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace sukima::objects::detail {

namespace {

/// Called when no object of this process waits any more. Objects of other processes may wait for a remote
/// stream, so the process that rings clears the bit of such a stream. Under the lists' lock, as the store in
/// enlist. pairs with: move in core.hpp
void clear_waiting(stream_core& s, std::uint32_t side) noexcept {
  if (s.shared && !s.remote) s.words->waiting.fetch_and(~side, std::memory_order_seq_cst);
}

std::uint32_t side_of(const wait_case& c) noexcept {
  return c.receives ? stream_core::receivers_wait : stream_core::senders_wait;
}
wait_list& list_of(const wait_case& c) noexcept {
  return c.receives ? c.stream->receivers : c.stream->senders;
}

/// Whether the object of a case can continue. A caller that decides about a wait must set `waiting` before.
/// So these accesses are sequentially consistent. pairs with: move in core.hpp; close_end; close_party in
/// remote.cpp
bool is_ready(const wait_case& c) noexcept {
  const stream_core& s = *c.stream;
  const std::uint32_t state = s.words->state.load(std::memory_order_seq_cst);
  return c.receives ? s.has_message() || (state & stream_core::closed) != 0
                    : s.has_room(c.room) || (state & stream_core::broken) != 0;
}

void enlist(wait_case& c) {
  const optional_lock hold(c.stream->lists_lock, c.stream->shared);
  list_of(c).push(c);
  // Before the stream is checked. pairs with: move in core.hpp
  if (c.stream->shared) c.stream->words->waiting.fetch_or(side_of(c), std::memory_order_seq_cst);
  SUKIMA_ASSERT_VALID(*c.stream);
}

/// Wakes another object for the message or the room that the object of a case leaves, if there is one.
void pass_on(const wait_case& c) noexcept {
  stream_core& s = *c.stream;
  // An object that sets the bit after this load checks the stream itself. pairs with: enlist
  const bool others_wait = s.shared ? (s.words->waiting.load(std::memory_order_seq_cst) & side_of(c)) != 0
                                    : list_of(c).first != nullptr;
  if (others_wait && is_ready(c)) s.wake(side_of(c), 1);
}

/// Takes the case out of its stream's list. If this object was woken for a message or for room and does not
/// take it, wakes the next object.
void withdraw(wait_case& c, bool passes_on) noexcept {
  stream_core& s = *c.stream;
  bool was_listed = false;
  {
    const optional_lock hold(s.lists_lock, s.shared);
    was_listed = c.is_listed;
    if (was_listed) {
      list_of(c).remove(c);
      if (list_of(c).first == nullptr) clear_waiting(s, side_of(c));
    }
    SUKIMA_ASSERT_VALID(s);
  }
  if (passes_on && !was_listed) pass_on(c);
}

/// Begins or ends a wait: the count is odd during a wait. Only holders of the token of the object's island
/// change the count, so the load is relaxed. The store is a release.
/// pairs with: read_wait in find_deadlock.cpp
inline void step_wait_count(object_core& o) noexcept {
  o.wait_count.store(o.wait_count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

/// Publishes the streams of a wait for the search for deadlocks. Release: a reader of one of these words also
/// sees the even count before it, and so the end of the earlier wait. pairs with: read_wait in
/// find_deadlock.cpp
void announce_wait(object_core& me, const wait_case* cases, std::size_t count, bool timed,
                   std::uint64_t number) noexcept {
  const std::size_t announced = std::min(count, object_core::most_waits);
  for (std::size_t i = 0; i < announced; ++i) {
    me.waits_for[i].store(reinterpret_cast<std::uintptr_t>(cases[i].stream) | (cases[i].receives ? 1 : 0),
                          std::memory_order_release);
    me.rooms[i].store(cases[i].room, std::memory_order_release);
  }
  me.waits.store(timed ? object_core::most_waits + 1 : static_cast<std::uint32_t>(count),
                 std::memory_order_release);
  // Before `aborting` and `stopping` are read.
  // pairs with: abort_here in program.cpp; wake_timers in sleep.cpp
  if (number != 0) me.suspension.store(number, std::memory_order_seq_cst);
  step_wait_count(me);
}

/// Throws `aborted` if the program or this object is aborted. Relaxed: the resumption of an object for an
/// abort makes the abort visible to it. If another object misses the abort, its next wait reads the flag
/// again (wait_for_others), or the island's bell ends that wait. pairs with: abort_here in program.cpp
void leave_if_aborting(object_core& me) {
  // A destructor that runs because of an exception must not throw; must_leave (abort.cpp) has the same rule.
  if (me.program->aborting.load(std::memory_order_relaxed) && std::uncaught_exceptions() == 0)
    throw aborted{};
  sukima::detail::leave_if_cancelled(*me.self);
}

/// Waits if only objects of the same island can end the wait.
void park_in_island(object_core& me, wait_case* cases, std::size_t count) {
  wait_state w{me, false, 0};
  struct listing {
    object_core& me;
    wait_state& w;
    wait_case* cases;
    std::size_t count;
    ~listing() {
      if (me.local_wait == &w) {  // the fiber could not be parked
        me.local_wait = nullptr;
        step_wait_count(me);
      }
      for (std::size_t i = 0; i < count; ++i) withdraw(cases[i], count > 1);
    }
  } const listed{me, w, cases, count};
  for (std::size_t i = 0; i < count; ++i) {
    cases[i].wait = &w;
    enlist(cases[i]);
  }
  announce_wait(me, cases, count, false, 0);
  me.local_wait = &w;
  if (!me.home->park_shortly(*me.self)) me.home->park();
}

/// Records by which object the objects of an island are kept from running; null: by none. Release: as the
/// words of announce_wait. pairs with: observe, read_wait in find_deadlock.cpp
void keep_island(const object_core& me, const object_core* by) noexcept {
  for (object_core* const o : static_cast<island_core&>(*me.home).objects)
    o->kept_by.store(by, std::memory_order_release);
}

/// Waits if other threads may end the wait. \returns false if the time has come and no case is ready
bool wait_for_others(object_core& me, wait_case* cases, std::size_t count, const clock::time_point* until) {
  sukima::detail::fiber& self = *me.self;
  wait_state w{me, true, sukima::detail::begin_suspension(self)};
  if (until != nullptr) {
    try {
      me.program->time.add(*until, self, w.number);
    } catch (...) {  // there is no thread or no memory, and no other thread knows of this suspension
      sukima::detail::claim_suspension(self, w.number);
      throw;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    cases[i].wait = &w;
    enlist(cases[i]);
  }
  const bool keeps = *sukima::detail::running_thread_bindings() != 0;  // it waits in place, with the token
  if (keeps) keep_island(me, &me);
  announce_wait(me, cases, count, until != nullptr, w.number);
  // Read after the suspension was announced, and the bits of `waiting` were set.
  // pairs with: abort_here in program.cpp; stop in process_roles.cpp; wake_timers in sleep.cpp
  const bool leaves =
      (me.program->aborting.load(std::memory_order_seq_cst) && std::uncaught_exceptions() == 0) ||
      (me.is_timer && me.program->stopping.load(std::memory_order_seq_cst));
  const bool ready = leaves || std::any_of(cases, cases + count, is_ready);
  bool in_time = true;
  if (!ready || !sukima::detail::claim_suspension(self, w.number)) {
    sukima::detail::finish_suspension(self);
    in_time = until == nullptr || clock::now() < *until;
  }
  if (until != nullptr) me.program->time.remove(*until, self);
  step_wait_count(me);
  if (keeps) keep_island(me, nullptr);
  // Stored after the count. An abort that has already read the number cannot resume another wait with it.
  // pairs with: read_wait in find_deadlock.cpp
  me.suspension.store(0, std::memory_order_release);
  for (std::size_t i = 0; i < count; ++i) withdraw(cases[i], count > 1 || until != nullptr);
  return in_time || std::any_of(cases, cases + count, is_ready);
}

/// The slow part of `wait`.
bool wait_for_some(object_core& me, wait_case* cases, std::size_t count, const clock::time_point* until) {
  if (until != nullptr && clock::now() >= *until) return false;
  const bool shared = until != nullptr ||
                      std::any_of(cases, cases + count, [](const wait_case& c) { return c.stream->shared; });
  bool in_time = true;
  if (shared)
    in_time = wait_for_others(me, cases, count, until);
  else
    park_in_island(me, cases, count);
  if (me.recorded != nullptr) me.program->recorded->waited(me);
  try {
    leave_if_aborting(me);
  } catch (...) {  // the object may have been woken for what it leaves, and its program may go on
    std::for_each(cases, cases + count, pass_on);
    throw;
  }
  return in_time;
}

}  // namespace

static void end_local_wait(object_core& o) noexcept {
  o.local_wait = nullptr;
  step_wait_count(o);
  o.home->make_ready(*o.self);
}

bool claim(wait_state& w) noexcept {
  object_core& o = w.object;
  if (w.shared) return sukima::detail::try_resume(*o.self, w.number);
  if (o.local_wait != &w) return false;
  end_local_wait(o);
  return true;
}

void stream_core::wake(std::uint32_t side, std::uint64_t count) noexcept {
  if (remote) return wake_remote(*this, side);
  const optional_lock hold(lists_lock, shared);
  wait_list& list = side == receivers_wait ? receivers : senders;
  while (count != 0 && list.first != nullptr) {
    wait_case& c = *list.first;
    list.remove(c);
    if (claim(*c.wait)) --count;
  }
  if (list.first == nullptr) clear_waiting(*this, side);
  SUKIMA_ASSERT_VALID(*this);
}

void stream_core::wake_in_island(wait_list& list) noexcept {
  do {
    wait_state& w = *list.pop().wait;
    if (w.object.local_wait == &w) [[likely]]
      return end_local_wait(w.object);
    if (w.shared && claim(w)) return;
  } while (list.first != nullptr);
}

bool wait(object_core& me, wait_case* cases, std::size_t count, const clock::time_point* until) {
  leave_if_aborting(me);
  if (!me.dropped.empty()) {
    release_dropped(me);
    return true;  // the other end of one of its streams may have been among them
  }
  return wait_for_some(me, cases, count, until);
}

void wait_in_island(object_core& me, stream_core& core, bool receives) {
  // Relaxed, here and below: either run_bell has read the flag under the token that this object holds now, or
  // it will end the wait that begins here.
  const bool aborting = me.program->aborting.load(std::memory_order_relaxed);
  wait_case& c = me.single_case;
  c.stream = &core;
  c.receives = receives;
  if (me.dropped.empty() && me.recorded == nullptr && !aborting) [[likely]] {
    (receives ? core.receivers : core.senders).push(c);
    SUKIMA_ASSERT_VALID(core);
    // As in announce_wait.
    me.waits_for[0].store(reinterpret_cast<std::uintptr_t>(&core) | (receives ? 1 : 0),
                          std::memory_order_release);
    me.waits.store(1, std::memory_order_release);
    step_wait_count(me);
    me.local_wait = &me.single_wait;
    if (me.home->park_shortly(*me.self)) [[likely]] {
      if (me.program->aborting.load(std::memory_order_relaxed)) [[unlikely]] {
        if (c.is_listed) withdraw(c, false);  // end_local_waits has woken it
        leave_if_aborting(me);
      }
      return;
    }
    me.local_wait = nullptr;
    step_wait_count(me);
    withdraw(c, false);
  }
  wait_case other;
  other.stream = &core;
  other.receives = receives;
  wait(me, &other, 1, nullptr);
}

void turn_over(object_core& me) {
  // An object that only polls never waits, so its dropped ends are released here. Not during an exception,
  // which may end the object.
  if (!me.dropped.empty() && std::uncaught_exceptions() == 0) release_dropped(me);
  recording* const recorded = me.program->recorded.get();
  if (recorded != nullptr && !recorded->end_operation(me)) return;
  island_core& home = static_cast<island_core&>(*me.home);
  const std::uint64_t now = sukima::detail::ticks();
  home.budget = recorded != nullptr ? 0 : home.end_slice(me, now);  // slices of a recording ignore the time
  home.slice_began = now;
  leave_if_aborting(me);
  home.collect();
  const bool had_turn = now - home.worker_since > slice_length::most_ticks;
  if (home.is_called_home() || (had_turn && home.others_wait())) {
    home.worker_since = now;
    home.hand_over();
    home.slice_began = sukima::detail::ticks();
  }
  home.take_turns();
  island_core& now_home = static_cast<island_core&>(*me.home);  // another one, if its island was divided
  now_home.others_were_ready = now_home.has_ready();
  if (recorded != nullptr) recorded->go_on(me);
}

void release_dropped(object_core& me) noexcept {
  std::vector<held_end> now = std::exchange(me.dropped, {});  // no room there, so release() closes the ends
  for (const held_end& e : now) e.stream->release(e.is_out, &me);
  now.clear();
  me.dropped.swap(now);  // keeps its room for later exceptions
}

void count_end(stream_core& s, bool out) {
  if (s.program->has_run)
    throw usage_error(
        "sukima: stream " + s.name +
        ": an end was made after the program had begun to run; make all ends before program::run");
  // Relaxed: before the program runs no other thread changes the counts.
  (out ? s.outs : s.ins).fetch_add(1, std::memory_order_relaxed);
}

/// Records that an end was released. The last one closes or breaks the stream, and wakes the other side.
static void close_end(stream_core& s, bool out) noexcept {
  // Acquire and release: the stream closes after all messages that were sent through the other ends.
  // pairs with: close_end; observe_all in find_deadlock.cpp
  if ((out ? s.outs : s.ins).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!s.program->has_run) return;  // more ends can be made; program_core::check counts the ends
  if (s.remote) return close_remote(s, out);
  // Before `waiting` is read. pairs with: enlist, is_ready
  s.words->state.fetch_or(out ? stream_core::closed : stream_core::broken, std::memory_order_seq_cst);
  s.wake(out ? stream_core::receivers_wait : stream_core::senders_wait, ~std::uint64_t{0});
}

void stream_core::release(bool out, object_core* owner) noexcept {
  std::optional<std::string> text;
  std::uint32_t now = failed;
  if (owner != nullptr) {
    const bool unwinds = owner->ambient != nullptr && owner->ambient == sukima::detail::find_ambient() &&
                         !owner->failing && std::uncaught_exceptions() > 0 &&
                         owner->dropped.size() < owner->dropped.capacity();
    if (unwinds) {  // whether the object ends by that exception is not known yet
      owner->dropped.push_back({this, out});
      return;
    }
    const std::lock_guard hold(program->ends_lock);  // the object may have given the end to another thread
    if (owner->failing) {
      text = "sukima: stream " + name + ": the object " + owner->name + " failed: " + *owner->failing;
      now |= owner->is_cut_off ? cut_off : 0U;
    }
  }
  if (out && text) {
    if (remote) {
      fail_remote(*this, *text, now);
    } else {
      const std::lock_guard hold(lists_lock);
      if (failure.empty()) failure = *text;
      words->state.fetch_or(now, std::memory_order_seq_cst);  // after the text; pairs with: now in core.hpp
    }
  }
  close_end(*this, out);
  if (owner == nullptr) return;
  // Erased only now: the end counts as held until the objects that wait for it are woken. See find_dead.
  const std::lock_guard hold(program->ends_lock);
  const auto held = std::find_if(owner->ends.begin(), owner->ends.end(),
                                 [&](const held_end& e) { return e.stream == this && e.is_out == out; });
  if (held != owner->ends.end()) owner->ends.erase(held);
}

void stream_core::lock_side(bool out) {
  if (remote)
    lock_remote(*this, out);
  else
    (out ? out_lock : in_lock).lock();
}

void stream_core::unlock_side(bool out) noexcept {
  if (remote)
    unlock_remote(*this, out);
  else
    (out ? out_lock : in_lock).unlock();
}

// Acquire: what precedes the stop. pairs with: stop in process_roles.cpp; run in listener.cpp
bool stop_requested(const stream_core& s) noexcept {
  return s.program->stopping.load(std::memory_order_acquire);
}

}  // namespace sukima::objects::detail

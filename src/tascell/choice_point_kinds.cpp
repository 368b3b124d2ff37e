// SPDX-License-Identifier: Apache-2.0
// The kinds of choice points that generated code pushes: when they can be split, how tasks are made of them,
// and how they are joined.
#include "support.hpp"

#include <sukima/detail/travel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sukima::detail {

namespace {

#define SUKIMA_SAME_PLACE(member) \
  static_assert(offsetof(sukima_kind, member) == offsetof(choice_point_kind, member), #member)
SUKIMA_SAME_PLACE(size);
SUKIMA_SAME_PLACE(open);
SUKIMA_SAME_PLACE(split);
SUKIMA_SAME_PLACE(reclaim);
SUKIMA_SAME_PLACE(undo);
SUKIMA_SAME_PLACE(redo);
SUKIMA_SAME_PLACE(guard);
SUKIMA_SAME_PLACE(destroy);
SUKIMA_SAME_PLACE(stop);
SUKIMA_SAME_PLACE(leave);
SUKIMA_SAME_PLACE(quiet);
SUKIMA_SAME_PLACE(travel);
#undef SUKIMA_SAME_PLACE
static_assert(offsetof(sukima_kind, put) == sizeof(choice_point_kind));
static_assert(sizeof(sukima_choice_point) == sizeof(choice_point) &&
              sizeof(sukima_loop) == choice_point_alignment &&
              sizeof(sukima_poll_point) == choice_point_alignment);
static_assert(sizeof(sukima_try_point) % choice_point_alignment == 0);
static_assert(SUKIMA_CHOICE_SPAN == choice_span && SUKIMA_GATE_OFFSET == gate_offset);
static_assert(offsetof(gate, limit) == 0 && sizeof(std::atomic<char*>) == sizeof(char*));

thread_local const char* block_name = nullptr;

/// Records which block of the program runs, as long as the object exists.
class block {
 public:
  explicit block(const char* name) noexcept : outer_(running_block()) { set_running_block(name); }
  block(const block&) = delete;
  block& operator=(const block&) = delete;
  ~block() { set_running_block(outer_); }

 private:
  const char* outer_;
};

/// The word before the program's object holds the header's address.
language_task* task_of(void* object) noexcept { return static_cast<language_task**>(object)[-1]; }

/// The object of a task of a join: a statement of the owner's choice point.
struct join_object {
  void* choice_point;
  int i;
};

void run_task(task* running, context c) {
  auto* const me = static_cast<language_task*>(running);
  // The kind is that of the choice point, and it names the function that runs the object.
  run_segment(
      c.top, me->end,
      [](char* top, void* frame) {
        auto* const self = static_cast<language_task*>(frame);
        const auto* kind = reinterpret_cast<const sukima_kind*>(self->kind);
        if (kind->run != nullptr) {
          const auto* statement = static_cast<const join_object*>(self->object);
          kind->run(top, statement->choice_point, statement->i);
        } else {
          kind->exec(top, self->object);
        }
      },
      me, me->depth);
}

/// Makes a task that is split off from `point`; the bytes of its object are zero. \throws std::bad_alloc
language_task* make_task(const choice_point* point, std::size_t size, std::size_t align) {
  align = std::max(align, choice_point_alignment);
  const std::size_t offset = (sizeof(language_task) + sizeof(void*) + align - 1) / align * align;
  const std::size_t whole = (offset + size + align - 1) / align * align;
  char* const memory = static_cast<char*>(std::aligned_alloc(align, whole));
  if (memory == nullptr) throw std::bad_alloc();
  auto* const t = ::new (static_cast<void*>(memory)) language_task;
  t->object = memory + offset;
  t->run = run_task;
  t->destroy = destroy_task;
  t->jumps = true;
  t->depth = depth_at(reinterpret_cast<const char*>(point + 1));
  std::memset(t->object, 0, size);
  static_cast<language_task**>(t->object)[-1] = t;
  return t;
}

/// Returns how many of the last `left` values are split off.
std::uint64_t part_of(const sukima_kind& kind, std::uint64_t left) {
  return kind.travel != nullptr ? travelling_part(left) : left - left / 2;
}

/// Advances `value` to the next value that still belongs to the owner.
/// \returns whether there is one
bool next_value(const sukima_successor_loop* l, sukima_word& value) {
  const auto* r = from_c(&l->sukima_head);
  return language_kind(r)->advance(l, &value) && !(was_split(r) && value == l->sukima_end);
}

task* split_loop(choice_point* r, language_task* t, int from, int to) {
  const sukima_kind* kind = language_kind(r);
  if (kind->put != nullptr) {
    const block here("PUT");
    kind->put(to_c(r), t->object, from, to);
  }
  link_child(r, t);
  reinterpret_cast<sukima_loop*>(r)->sukima_end = from;
  return t;
}

/// Passes the object of a task that has ended to GET. From now on the program owns the memory to which the
/// object points.
void* hand_over(task* t) noexcept {
  auto* const done = static_cast<language_task*>(t);
  for (malloced& array : done->received) static_cast<void>(array.release());
  return done->object;
}

/// Leaves if an abort is pending, or if a child of this choice point failed or was aborted.
void leave_if_failed(choice_point* r, task* newest) noexcept {
  bool failed = pending_abort(r) != abort_reach::nothing;
  for (const task* t = newest; t != nullptr; t = t->older) failed |= t->aborted || t->error;
  if (failed) leave_aborted(end_of(r));
}

}  // namespace

[[gnu::noinline]] void set_running_block(const char* name) noexcept {
  asm volatile("" : : : "memory");
  block_name = name;
}

[[gnu::noinline]] const char* running_block() noexcept {
  asm volatile("" : : : "memory");
  return block_name;
}

void destroy_task(task* t) noexcept {
  auto* const me = static_cast<language_task*>(t);
  me->~language_task();
  std::free(me);
}

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

bool sukima_never_open(const sukima_choice_point*) { return false; }

bool sukima_do_two_open(const sukima_choice_point* r) { return !was_split(from_c(r)); }

bool sukima_loop_open(const sukima_choice_point* r) {
  const auto* l = reinterpret_cast<const sukima_loop*>(r);
  return l->sukima_i < l->sukima_end && l->sukima_end - 1 != l->sukima_i;  // no sum: i + 1 could overflow
}

sukima_task* sukima_do_two_split(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const sukima_kind* kind = language_kind(r);
  language_task* const t = make_task(r, kind->task_size, kind->task_align);
  {
    const block here("PUT");
    kind->put(c, t->object, 0, 0);
  }
  link_child(r, t);
  return reinterpret_cast<sukima_task*>(static_cast<task*>(t));
}

sukima_task* sukima_loop_split(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const sukima_kind* kind = language_kind(r);
  const auto* l = reinterpret_cast<const sukima_loop*>(c);
  const int i = l->sukima_i;
  const int end = l->sukima_end;
  const auto left = static_cast<std::uint64_t>(std::int64_t{end} - 1 - i);
  int from = static_cast<int>(end - static_cast<std::int64_t>(part_of(*kind, left)));
  if (kind->split_place != nullptr) {
    const block here("split");
    from = std::clamp(kind->split_place(c, i, end), i + 1, end - 1);
  }
  task* const t = split_loop(r, make_task(r, kind->task_size, kind->task_align), from, end);
  return reinterpret_cast<sukima_task*>(t);
}

bool sukima_successor_loop_open(const sukima_choice_point* r) {
  const auto* l = reinterpret_cast<const sukima_successor_loop*>(r);
  sukima_word value = l->sukima_current;
  return next_value(l, value);
}

sukima_task* sukima_successor_loop_split(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const sukima_kind* kind = language_kind(r);
  auto* const l = reinterpret_cast<sukima_successor_loop*>(c);
  language_task* const t = make_task(r, kind->task_size, kind->task_align);
  sukima_word from = 0;
  {
    const block here("the head of a loop");
    sukima_word end = l->sukima_current;
    std::size_t left = 0;
    while (next_value(l, end)) ++left;
    from = l->sukima_current;
    for (std::size_t kept = left - part_of(*kind, left) + 1; kept > 0; --kept) next_value(l, from);
    set_running_block("PUT");
    kind->put_values(c, t->object, from, end);
  }
  link_child(r, t);
  l->sukima_end = from;
  return reinterpret_cast<sukima_task*>(static_cast<task*>(t));
}

sukima_task* sukima_join_split(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const int end = reinterpret_cast<const sukima_loop*>(c)->sukima_end;
  language_task* const made = make_task(r, sizeof(join_object), alignof(join_object));
  *static_cast<join_object*>(made->object) = {c, end - 1};
  return reinterpret_cast<sukima_task*>(split_loop(r, made, end - 1, end));
}

/// Does nothing, because an aborted fiber leaves at once. The existence of this function marks the kind as a
/// loop, whose owner reads bounds and children again.
void sukima_loop_stop(sukima_choice_point*) {}

void sukima_wind_undo(sukima_choice_point* r) {
  const block here("AFTER");
  language_kind(from_c(r))->after(r, 1);
}

void sukima_wind_redo(sukima_choice_point* r) {
  const block here("BEFORE");
  language_kind(from_c(r))->before(r, 1);
}

double sukima_guard(sukima_choice_point* r) {
  const block here("guard");
  return language_kind(from_c(r))->probability(r);
}

[[gnu::nothrow]] void sukima_poll_slow_c(sukima_choice_point* r) { sukima_poll_slow(from_c(r)); }

[[gnu::nothrow]] void* sukima_join(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const choice_point_kind* kind = kind_of(r);
  task* const newest = complete_children(r);
  if (newest == nullptr) return nullptr;
  leave_if_failed(r, newest);
  r->word = reinterpret_cast<std::uintptr_t>(kind);
  set_running_block("GET");
  return hand_over(newest);
}

[[gnu::nothrow]] void* sukima_next(void* object) {
  language_task* const done = task_of(object);
  task* const next = done->older;
  destroy_task(done);
  if (next != nullptr) return hand_over(next);
  set_running_block(nullptr);
  return nullptr;
}

[[gnu::nothrow]] void sukima_free(void* object) { sukima_next(object); }

[[gnu::nothrow]] void sukima_await(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const choice_point_kind* kind = kind_of(r);
  task* const newest = complete_children(r);
  leave_if_failed(r, newest);
  for (task* t = newest; t != nullptr;) {
    task* const next = t->older;
    destroy_task(t);
    t = next;
  }
  r->word = reinterpret_cast<std::uintptr_t>(kind);
}

[[gnu::nothrow]] void sukima_abandon(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  const choice_point_kind* kind = kind_of(r);
  for (task* t = stop_children(r); t != nullptr;) {
    task* const next = t->older;
    destroy_task(t);
    t = next;
  }
  forget_children(r, kind);
}

}  // extern "C"

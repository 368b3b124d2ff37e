// SPDX-License-Identifier: Apache-2.0
// How generated code leaves constructs after a throw or an abort.
//
// All frames of a fiber remain while it leaves. The fiber goes through its choice points, the youngest first.
// At each one it aborts and awaits the tasks that were split off; then it runs the AFTER of the choice point,
// whose variables are still in the frame. At the choice point that ends this (a `try` with an equal tag, or
// the base of the segment), one jump removes all the frames above it.
//
// If an abort reaches a choice point of this segment because a child of it threw, the abort becomes that
// child's throw at this choice point. So a `try` inside the construct does not catch it. An abort of the
// whole task reaches the base and bypasses every `try`.
#include "support.hpp"

#include <base/shared/exception_text.hpp>

#include <cstdlib>
#include <exception>
#include <string>

namespace sukima::detail {

namespace {

/// The first choice point of each segment. The frames of the segment end at it.
struct base_point {
  sukima_try_point jump;
  segment_end* end;
  std::uint32_t depth;  ///< depth of its first call (clones.cpp)
};

/// Kinds of choice points that cannot be split.
constexpr sukima_kind make_plain_kind(std::uint32_t size, void (*leave)(sukima_choice_point*)) {
  sukima_kind k{};
  k.size = size;
  k.open = sukima_never_open;
  k.leave = leave;
  k.quiet = leave == nullptr;
  return k;
}
constexpr sukima_kind base_kind = make_plain_kind(sizeof(base_point), nullptr);
static_assert(sizeof(base_point) % choice_point_alignment == 0);

bool is_base(const choice_point* r) noexcept { return language_kind(r) == &base_kind; }
bool is_try(const choice_point* r) noexcept { return language_kind(r) == &sukima_try_kind; }

/// The choice points that need an action while the fiber leaves, oldest first. This is not a std::vector,
/// because no object may need a destructor when the jump is made.
class way_out {
 public:
  way_out(char* from, const char* to) noexcept {
    for (auto* r = reinterpret_cast<choice_point*>(from); reinterpret_cast<char*>(r) < to;
         r = reinterpret_cast<choice_point*>(end_of(r)))
      if (was_split(r) || language_kind(r)->after != nullptr || is_try(r) || is_base(r)) push(r);
  }
  choice_point* pop() noexcept { return all_[--size_]; }
  void release() noexcept { std::free(all_); }

 private:
  void push(choice_point* r) noexcept {
    if (size_ == room_) {
      room_ = room_ == 0 ? 64 : 2 * room_;
      auto* const more = static_cast<choice_point**>(std::realloc(all_, room_ * sizeof(choice_point*)));
      if (more == nullptr) end_program("sukima: not enough memory to leave the constructs of a fiber\n");
      all_ = more;
    }
    all_[size_++] = r;
  }
  choice_point** all_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

/// Ends the program because another node could not run a task or send its result. A `throw` of the program
/// never leads here.
[[noreturn]] void end_with_failure(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    end_program(("sukima: a task failed on another node: " + handled_exception_text() + "\n").c_str());
  }
}

/// Aborts and awaits a choice point's children. Stores the first tag that one of them threw, in sequential
/// order, unless there already is one.
void discard_children(choice_point* point, bool& throwing, thrown_tag& thrown) noexcept {
  const choice_point_kind* kind = kind_of(point);
  for (task* t = stop_children(point); t != nullptr;) {
    auto* const child = static_cast<language_task*>(t);
    if (!throwing && child->end.threw) {
      throwing = true;
      thrown = child->end.thrown;
    } else if (!throwing && child->error && pending_abort(point) != abort_reach::task) {
      end_with_failure(child->error);
    }
    task* const next = t->older;
    destroy_task(t);
    t = next;
  }
  forget_children(point, kind);
}

[[noreturn]] void leave(char* end, bool throwing, thrown_tag thrown) noexcept {
  const char* const segment = segment_begin(end - 1);
  way_out out(segment_begin(end - 1), end);
  for (;;) {
    choice_point* const r = out.pop();
    if (throwing && thrown.exit != nullptr && thrown.exit->sukima_segment == segment &&
        reinterpret_cast<char*>(r) < thrown.exit->sukima_top && pending_abort(r) != abort_reach::task) {
      out.release();
      jump_to_exit(thrown.exit);
    }
    if (was_split(r)) {
      discard_children(r, throwing, thrown);
    } else if (is_base(r)) {
      auto* const base = reinterpret_cast<base_point*>(r);
      task* const t = segment_task(r);
      if (throwing && pending_abort(r) != abort_reach::task) {
        base->end->threw = true;
        base->end->thrown = thrown;
        if (t->origin != nullptr) t->error = failure_mark();
      } else {
        t->aborted = true;
        count_abort(r);
      }
      out.release();
      sukima_tickets_left(__builtin_frame_address(0), base->jump.context);
      frames_are_left();
      sukima_jump(base->jump.context);
    } else if (is_try(r)) {
      auto* const catcher = reinterpret_cast<sukima_try_point*>(r);
      if (throwing && thrown.exit == nullptr && catcher->sukima_tag == thrown.tag &&
          pending_abort(r) != abort_reach::task) {
        out.release();
        sukima_tickets_left(__builtin_frame_address(0), catcher->context);
        frames_are_left();
        sukima_jump(catcher->context);
      }
    } else {
      set_running_block("AFTER");
      language_kind(r)->after(to_c(r), 0);
      set_running_block(nullptr);
    }
  }
}

}  // namespace

// One object for all tasks, because making one costs a microsecond.
std::exception_ptr failure_mark() noexcept {
  struct thrown {};
  static const std::exception_ptr mark = std::make_exception_ptr(thrown{});
  return mark;
}

void leave_aborted(char* end) noexcept { leave(end, false, {}); }
void leave_throwing(char* end, const thrown_tag& thrown) noexcept { leave(end, true, thrown); }

std::uint32_t depth_of_segment(const char* begin) noexcept {
  return reinterpret_cast<const base_point*>(begin)->depth;
}

bool run_segment(char* top, segment_end& end, void (*run)(char*, void*), void* frame,
                 std::uint32_t depth) noexcept {
  struct call {
    void (*run)(char*, void*);
    void* frame;
  } body{run, frame};
  auto* const base = reinterpret_cast<base_point*>(top);
  base->jump.sukima_head.sukima_kind_or_child = reinterpret_cast<std::uintptr_t>(&base_kind);
  base->end = &end;
  base->depth = depth;
  return sukima_try(
             &base->jump,
             [](char* above, void* argument) {
               const call* const c = static_cast<call*>(argument);
               c->run(above, c->frame);
               return 0;
             },
             &body, top + sizeof(base_point)) != SUKIMA_THROWN;
}

}  // namespace sukima::detail

using namespace sukima::detail;

extern "C" {

const sukima_kind sukima_try_kind = make_plain_kind(sizeof(sukima_try_point), nullptr);
const sukima_kind sukima_poll_kind = make_plain_kind(sizeof(sukima_poll_point), sukima_leave);

void sukima_throw(char* top, size_t tag, const char* file, int line) {
  leave(top, true, {tag, file, line, nullptr});
}

void sukima_leave(sukima_choice_point* c) {
  choice_point* const r = from_c(c);
  if (pending_abort(r) != abort_reach::nothing) leave_aborted(end_of(r));
}

}  // extern "C"

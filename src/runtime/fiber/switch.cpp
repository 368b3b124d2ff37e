// SPDX-License-Identifier: Apache-2.0
// Switching fibers: the jump itself, what moves along with a fiber, and what the sanitizers need to know.
#include "core.hpp"
#include "fiber/fault.hpp"
#include "fiber/sanitizer.hpp"

#include <cxxabi.h>
#include <atomic>

namespace sukima::detail {

extern "C" {
__thread ambient_state* sukima_running_ambient = nullptr;
}

namespace fc = boost::context::detail;

ambient_state* find_ambient_slowly() noexcept { return sukima_running_ambient; }

namespace {

thread_local fiber* this_fiber = nullptr;

/// What travels through a jump. Lies on the stack that is left: copy it before `then` gives that stack away.
struct message {
  worker* w;
  fiber* from;  ///< null: the worker's home
  fiber* to;    ///< null: the worker's home
  after_switch then;
  void* argument;
};

// Both are functions of their own and must not be inlined: the compiler may keep the address of a
// thread-local across a switch, and __cxa_get_globals is even declared to be constant.
[[gnu::noinline]] void set_running(fiber* s) noexcept {
  this_fiber = s;
  sukima_running_ambient = s != nullptr ? s->ambient : nullptr;
  asm volatile("" : : : "memory");
}
/// The words are found through the worker, not through __cxa_get_globals, which is declared to be constant.
void exchange_exceptions(worker& w, exception_state& leaving, const exception_state& arriving) noexcept {
  volatile exception_state& now = *w.thread_exceptions;
  leaving.caught = now.caught;
  leaving.uncaught = now.uncaught;
  now.caught = arriving.caught;
  now.uncaught = arriving.uncaught;
}

/// A fiber that is left for `recycle` never runs again. A library with AddressSanitizer itself has the
/// message of this jump itself on that fiber's false stack, and keeps it.
void** place_of_fake_stack(worker& w, fiber* from, after_switch then) noexcept {
  if (then == recycle && !library_has_asan) return nullptr;
  return from != nullptr ? &from->fake_stack : &w.home_fake_stack;
}

void before_jump(worker& w, fiber* from, fiber* to, after_switch then) noexcept {
  if (program_has_tsan()) [[unlikely]] {
    if (from == nullptr) w.home_tsan_fiber = __tsan_get_current_fiber();
    if (to != nullptr && to->tsan_fiber == nullptr) to->tsan_fiber = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(to != nullptr ? to->tsan_fiber : w.home_tsan_fiber, 0);
  }
  if (program_has_asan()) [[unlikely]] {
    const void* const bottom = to != nullptr ? to->stack_top - to->stack_size : w.home_stack_bottom;
    __sanitizer_start_switch_fiber(place_of_fake_stack(w, from, then), bottom,
                                   to != nullptr ? to->stack_size : w.home_stack_size);
  }
}

/// On the stack arrived at: stores where the other one stopped, makes this fiber the worker's, then does
/// `then`.
void arrive(const fc::transfer_t& transfer, bool fresh) noexcept {
  const message m = *static_cast<message*>(transfer.data);
  if (program_has_asan()) [[unlikely]] {
    void* own = m.to != nullptr ? m.to->fake_stack : m.w->home_fake_stack;
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(fresh ? nullptr : own, &bottom, &size);
    if (m.from == nullptr) {
      m.w->home_stack_bottom = bottom;
      m.w->home_stack_size = size;
    }
  }
  if (m.from != nullptr && m.from->canary) [[unlikely]]
    check_canary(*m.from, transfer.fctx);
  (m.from != nullptr ? m.from->saved : m.w->home) = transfer.fctx;
  // Partner: try_resume, which may come too late for its suspension, and then makes nothing of what it read.
  if (m.to != nullptr) std::atomic_ref(m.to->on).store(m.w, std::memory_order_relaxed);
  set_running(m.to);
  exchange_exceptions(*m.w, m.from != nullptr ? m.from->exceptions : m.w->home_exceptions,
                      m.to != nullptr ? m.to->exceptions : m.w->home_exceptions);
  // Partner: request_abort_checks and whoever sets a flag of this worker: it sets the flag, then reads
  // `current`. Either it sees this fiber, or the load below sees its flag.
  stress_point();
  if (m.to != nullptr) {
    m.w->current.exchange(m.to);
    stress_point();
    if (m.w->flags.load() != 0 || m.w->mailbox.has_request()) m.to->limit.request_poll();
  } else {
    m.w->current.store(nullptr, std::memory_order_relaxed);  // no flag is looked for at home
  }
  if (m.then != nullptr) m.then(*m.w, m.from, m.argument);
}

[[gnu::noinline]] void jump(worker& w, fiber* from, fiber* to, after_switch then, void* argument) {
  message m{&w, from, to, then, argument};
  fc::fcontext_t target = to != nullptr ? to->saved : w.home;
  before_jump(w, from, to, then);
  arrive(fc::jump_fcontext(target, &m), false);
}

void fiber_begins(fc::transfer_t transfer) {
  fiber& self = *static_cast<message*>(transfer.data)->to;
  arrive(transfer, true);
  worker_loop(self);
}

}  // namespace

[[gnu::noinline]] fiber* running_fiber() noexcept {
  asm volatile("" : : : "memory");
  return this_fiber;
}

void set_running_fiber(fiber* s) noexcept { set_running(s); }

/// A fiber has come back to a worker. One that begins says nothing of its place before its task begins.
static void note_arrival(fiber& s) noexcept {
  if (s.runtime->hints.in_use() && s.running != nullptr) [[unlikely]]
    s.runtime->hints.arrives(s);
}

void switch_from_home(worker& w, fiber& to) { jump(w, nullptr, &to, nullptr, nullptr); }

void switch_to(worker& w, fiber& from, fiber& to, after_switch then, void* argument) {
  jump(w, &from, &to, then, argument);
  note_arrival(from);
}

void switch_for_offer(worker& w, fiber& from, fiber& to, after_switch then) {
  jump(w, &from, &to, then, nullptr);
}

void switch_home(worker& w, fiber& from, after_switch then, void* argument) {
  jump(w, &from, nullptr, then, argument);
  note_arrival(from);
}

exception_state* this_threads_exceptions() noexcept {
  return reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

void make_fresh(fiber& s) {
  s.weight.store(1, std::memory_order_relaxed);
  s.saved = fc::make_fcontext(s.stack_top, s.stack_size, fiber_begins);
}

void recycle(worker& w, fiber* from, void* keeps_pages) {
  forget_sanitizer_state(*from);
  if (keeps_pages == nullptr) trim(*from);
  w.give_fiber(from);
}

void forget_sanitizer_state(fiber& s) noexcept {
  if (program_has_tsan() && s.tsan_fiber != nullptr) [[unlikely]] {
    __tsan_destroy_fiber(s.tsan_fiber);
    s.tsan_fiber = nullptr;
  }
  if (program_has_asan()) [[unlikely]] {
    const std::size_t keep = s.stack_size < 65536 ? s.stack_size : 65536;
    __asan_unpoison_memory_region(s.stack_top - keep, keep);
    s.fake_stack = nullptr;
  }
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// Switches fibers: the jump itself, the data that move along with a fiber, and the calls for sanitizers.
#include "fiber/switch.hpp"
#include "fiber/fault.hpp"
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/unannounced.hpp"
#include "fiber/visit.hpp"
#include "place/place_events.hpp"
#include "stress.hpp"
#include "worker.hpp"

#include <sukima/detail/unwinding.hpp>

#include <cxxabi.h>
#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(_LIBCPP_VERSION)
namespace __cxxabiv1 {
extern "C" void* __cxa_get_globals() noexcept;  // libc++abi defines it, but its header does not declare it
}
#endif

namespace sukima::detail {

namespace {
constexpr unsigned no_exceptions = 0;
}

extern "C" {
__thread ambient_state* sukima_running_ambient = nullptr;
__thread const unsigned* sukima_uncaught_exceptions = &no_exceptions;
// Initial-exec, for the same reason as the ambient context (sukima/detail/ambient.hpp).
__thread fiber* sukima_running_fiber __attribute__((tls_model("initial-exec"), visibility("hidden"))) =
    nullptr;
}

namespace fc = boost::context::detail;

ambient_state* find_ambient_slowly() noexcept { return sukima_running_ambient; }

namespace {

/// The argument of a jump. A jump of switch_within passes the fiber that was left instead, marked by the
/// pointer's lowest bit. The message is on the stack that is left, so it must be copied before `then` gives
/// that stack away.
struct message {
  worker* w;
  fiber* from;  ///< null: the worker's home
  fiber* to;  ///< null: the worker's home
  after_switch then;
  void* argument;
};

// A function of its own, which must not be inlined: the compiler may keep the address of a thread-local
// across a switch.
[[gnu::noinline]] void set_running(fiber* s) noexcept {
  sukima_running_fiber = s;
  sukima_running_ambient = s != nullptr ? s->ambient : nullptr;
  asm volatile("" : : : "memory");
}
/// The same without a call: the addresses are computed anew each time.
[[gnu::always_inline]] inline void set_running_here(fiber& s) noexcept {
#if defined(__x86_64__)
  std::uintptr_t at = 0;
  asm volatile(
      "movq sukima_running_fiber@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)\n\t"
      "movq sukima_running_ambient@gottpoff(%%rip), %0\n\tmovq %2, %%fs:(%0)"
      : "=&r"(at)
      : "r"(&s), "r"(s.ambient)
      : "memory");
#else
  set_running(&s);
#endif
}
/// Finds the words through the worker instead of __cxa_get_globals, which is declared to be constant.
void exchange_exceptions(worker& w, exception_state& leaving, const exception_state& arriving) noexcept {
  volatile exception_state& now = *w.thread_exceptions;
  leaving.caught = now.caught;
  leaving.uncaught = now.uncaught;
  now.caught = arriving.caught;
  now.uncaught = arriving.uncaught;
}

/// The place to save the fake stack of the fiber that is left. A fiber that has ended, or is left for
/// `recycle`, never runs again: null makes AddressSanitizer free its fake stack at once.
void** place_of_fake_stack(worker& w, fiber* from, after_switch then) noexcept {
  if (then == recycle || (from != nullptr && from->has_ended)) return nullptr;
  return from != nullptr ? &from->fake_stack : &w.home_fake_stack;
}

/// Not instrumented, because its frame would begin on one fake stack and end after that stack was freed.
[[gnu::no_sanitize_address]]
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

constexpr std::uintptr_t within = 1;

bool came_from_within(const fc::transfer_t& transfer) noexcept {
  return (reinterpret_cast<std::uintptr_t>(transfer.data) & within) != 0;
}

/// The rest of switch_within, on the stack that was switched to.
void arrive_from_within(const fc::transfer_t& transfer) noexcept {
  fiber& from = *reinterpret_cast<fiber*>(reinterpret_cast<std::uintptr_t>(transfer.data) ^ within);
  if (from.canary) [[unlikely]]
    check_canary(from, transfer.fctx);
  from.saved = transfer.fctx;
}

/// Runs on the stack that was switched to. Stores where the other fiber stopped, makes this fiber the
/// worker's current one, then calls `then`.
void arrive(const fc::transfer_t& transfer, bool fresh) noexcept {
  if (came_from_within(transfer)) return arrive_from_within(transfer);
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
  // A call of try_resume that is too late for its suspension discards the value that it read here.
  // pairs with: try_resume in suspend.cpp
  if (m.to != nullptr) std::atomic_ref(m.to->on).store(m.w, std::memory_order_relaxed);
  set_running(m.to);
  exchange_exceptions(*m.w, m.from != nullptr ? m.from->exceptions : m.w->home_exceptions,
                      m.to != nullptr ? m.to->exceptions : m.w->home_exceptions);
  // A thread that sets a flag of this worker, as request_abort_checks does, reads `current` afterwards.
  // Either it reads this fiber, or the load below reads its flag.
  stress_point();
  if (m.to != nullptr) {
    m.w->current.exchange(m.to, std::memory_order_seq_cst);
    stress_point();
    if (m.w->flags.load(std::memory_order_seq_cst) != 0 || m.w->mailbox.has_request())
      m.to->limit.request_poll();
  } else {
    m.w->current.store(nullptr, std::memory_order_relaxed);  // a worker at home reads no flags
  }
  if (m.then != nullptr) m.then(*m.w, m.from, m.argument);
}

/// Not instrumented: the message must be on the real stack, because the fake one may be freed before the
/// message is read.
[[gnu::noinline, gnu::no_sanitize_address]] void jump(worker& w, fiber* from, fiber* to, after_switch then,
                                                      void* argument) {
  message m{&w, from, to, then, argument};
  fc::fcontext_t target = to != nullptr ? to->saved : w.home;
  before_jump(w, from, to, then);
  arrive(fc::jump_fcontext(target, &m), false);
}

void fiber_begins(fc::transfer_t transfer) {
  fiber& self = came_from_within(transfer) ? *running_fiber() : *static_cast<message*>(transfer.data)->to;
  arrive(transfer, true);
  worker_loop(self);
}

/// The function with which a thread that has left by a visit comes home.
void home_from_visit(fc::transfer_t transfer) {
  const worker& w = *static_cast<message*>(transfer.data)->w;
  arrive(transfer, false);
  end_visit(w.visited_from);
}

}  // namespace

void make_home(worker& w) noexcept {
  // Below that position, the stack is free until the thread comes home.
  w.home = fc::make_fcontext(w.visited_from, 0, home_from_visit);
}

[[gnu::noinline]] fiber* running_fiber_as_it_is() noexcept {
  asm volatile("" : : : "memory");
  return sukima_running_fiber;
}

[[gnu::noinline]] fiber* running_fiber() noexcept {
  asm volatile("" : : : "memory");
  fiber* const s = sukima_running_fiber;
  if (s != nullptr) ensure_announced(*s);
  return s;
}

fiber& announce_own(fiber& s) noexcept {
  if (running_fiber_as_it_is() == &s) announce(s);
  return s;
}

void set_running_fiber(fiber* s) noexcept { set_running(s); }

/// Reports the place of a fiber that has come back to a worker. A fresh fiber reports its place when its task
/// begins.
static void note_arrival(fiber& s) noexcept {
  if (parts_of<fiber_parts>(s).hints.in_use() && s.running != nullptr) [[unlikely]]
    parts_of<fiber_parts>(s).hints.arrives(s);
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

/// Enters jump_fcontext by a jump instead of a call. jump_fcontext also leaves by a jump, so after a call of
/// it the processor would predict each return of its callers with the address of the return before.
[[gnu::always_inline]] inline fc::transfer_t jump_within(fc::fcontext_t target, void* word) noexcept {
#if defined(__x86_64__)
  fc::transfer_t back;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // the caller's data below its stack pointer
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "jmp jump_fcontext@PLT\n"
      "1:\tleaq 128(%%rsp), %%rsp"
      : "=a"(back.fctx), "=d"(back.data), "+D"(target), "+S"(word)
      :
      : "rcx", "r8", "r9", "r10", "r11", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
        "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return back;
#else
  return fc::jump_fcontext(target, word);
#endif
}

bool can_switch_within() noexcept { return !program_has_asan() && !program_has_tsan(); }

// Noinline: the compiler may keep the address of a thread-local across the jump.
[[gnu::noinline]] bool switch_within(fiber& from, fiber& to) noexcept {
  worker& w = *from.on;
  stress_point();
  // pairs with: try_resume in suspend.cpp
  std::atomic_ref(to.on).store(&w, std::memory_order_relaxed);
  exchange_exceptions(w, from.exceptions, to.exceptions);
  set_running_here(to);
  // Stored without an exchange, and no flag is read, because the limit of a small fiber is always raised, so
  // its next poll reads the flags. Release: thieves read what the fiber has published.
  w.current.store(&to, std::memory_order_release);
  const fc::transfer_t back =
      jump_within(to.saved, reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(&from) | within));
  if (came_from_within(back)) [[likely]]
    arrive_from_within(back);
  else
    arrive(back, false);
  return true;
}

exception_state* this_threads_exceptions() noexcept {
  // Entries call this. Once the address of the count is known, it takes fewer instructions.
  if (sukima_uncaught_exceptions == &no_exceptions) [[unlikely]]
    sukima_uncaught_exceptions = &reinterpret_cast<exception_state*>(abi::__cxa_get_globals())->uncaught;
  const auto count = reinterpret_cast<std::uintptr_t>(sukima_uncaught_exceptions);
  return reinterpret_cast<exception_state*>(count - offsetof(exception_state, uncaught));
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

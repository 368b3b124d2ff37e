// SPDX-License-Identifier: Apache-2.0
// Switches between fibers (switch.cpp).
#pragma once

#include "fiber/fiber.hpp"

namespace sukima::detail {

using after_switch = void (*)(worker& w, fiber* from, void* argument);
/// Leaves the worker's home for `to`. Returns when the worker comes home.
void switch_from_home(worker& w, fiber& to);
/// Makes the end of the worker's visit (visit.hpp) the worker's home, so that the thread can be switched
/// home. Called on the visited stack.
void make_home(worker& w) noexcept;
/// Leaves `from` and continues in `to`, where `then` is called first. Returns when this worker or another one
/// resumes `from`.
void switch_to(worker& w, fiber& from, fiber& to, after_switch then, void* argument);
/// The same for a fiber that is left on offer. The caller reports the place to which the fiber comes back.
void switch_for_offer(worker& w, fiber& from, fiber& to, after_switch then);
/// Leaves `from` for the worker's home.
void switch_home(worker& w, fiber& from, after_switch then, void* argument);
/// Whether switch_within can be used. It cannot if a sanitizer must be informed of each switch.
bool can_switch_within() noexcept;
/// switch_to between two small fibers of one executor, without an atomic read-modify-write instruction. Only
/// the holder of `from` can continue it, and there is no `then`. \returns true
bool switch_within(fiber& from, fiber& to) noexcept;
/// The two words of __cxa_get_globals; the C++ ABI defines their layout. After this call, uncaught_in_fiber
/// works on this thread.
exception_state* this_threads_exceptions() noexcept;
/// The loop at the bottom of every fiber: it runs the fiber's first task, then the work that the worker finds
/// (worker_loop.cpp). Never returns.
void worker_loop(fiber& self);
/// The same after the end of a first task that did not begin in that loop. Never returns.
[[noreturn]] void worker_loop_after(fiber& self, task& ended);
/// Makes a fresh fiber that will call `worker_loop`.
void make_fresh(fiber& s);
/// `then` for a fiber that is no longer needed: gives it back to its pool.
/// \param keeps_pages  not null: the pages that it used stay in memory
void recycle(worker& w, fiber* from, void* keeps_pages);
void forget_sanitizer_state(fiber& s) noexcept;

/// The fiber that this thread runs; null: none. The caller must not keep it across a call that may switch.
/// Announces an unannounced fiber.
fiber* running_fiber() noexcept;
/// The same, but does not announce an unannounced fiber (unannounced.hpp).
fiber* running_fiber_as_it_is() noexcept;
void set_running_fiber(fiber* s) noexcept;

}  // namespace sukima::detail

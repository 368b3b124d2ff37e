// SPDX-License-Identifier: Apache-2.0
// The system calls of threads of the simulated machine: futexes, and the number of the thread. All other
// calls go to the kernel. This definition replaces that of the C library, also for the C++ library.
#include "clocks.hpp"
#include "machine.hpp"
#include "real_calls.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace sukima::simulation {

namespace {

using word = std::atomic<std::uint32_t>;

/// Exists since Linux 5.14, but only later headers define it.
constexpr int futex_lock_pi2 = 13;

/// Numbers from here on belong to no thread of the kernel, so a program cannot query the real thread.
constexpr std::uint32_t first_number = 900'000'000;
std::uint32_t number_of(const thread& t) noexcept { return first_number + t.id; }

long fails(int error) noexcept {
  errno = error;
  return -1;
}

long wait_on(word& w, std::uint32_t value, const timespec* length) noexcept {
  the_machine().step(step_kind::futex);
  if (w.load() != value) return fails(EAGAIN);
  const wake_reason why = the_machine().wait(wait_kind::word, &w, after(length));
  if (why == wake_reason::spurious) return fails(EINTR);
  return why == wake_reason::timed_out ? fails(ETIMEDOUT) : 0;
}

/// Works as in the kernel: the word contains its owner's number, and a bit that is set while threads wait for
/// it.
long lock_loan(word& w, const timespec* end) noexcept {
  machine& m = the_machine();
  m.step(step_kind::futex);
  const std::uint32_t self = number_of(*this_thread());
  const std::uint32_t owner = w.load() & FUTEX_TID_MASK;
  if (owner == self) return fails(EDEADLK);
  if (owner == 0) {
    w.store(self);
    return 0;
  }
  if (owner < first_number || !m.is_alive(owner - first_number)) return fails(ESRCH);
  w.fetch_or(FUTEX_WAITERS);
  return m.wait(wait_kind::loan, &w, moment(end)) == wake_reason::timed_out ? fails(ETIMEDOUT) : 0;
}

/// The woken thread owns the word afterwards. Its number is stored here, before it runs, so no other thread
/// can take a word with waiters in between.
long unlock_loan(word& w) noexcept {
  machine& m = the_machine();
  if ((w.load() & FUTEX_TID_MASK) != number_of(*this_thread())) return fails(EPERM);
  const thread* const heir = m.wake_one(wait_kind::loan, &w);
  const bool more = m.waiting(wait_kind::loan, &w) != 0;
  w.store(heir == nullptr ? 0 : number_of(*heir) | (more ? FUTEX_WAITERS : 0));
  m.step(step_kind::futex);
  return 0;
}

long wake(word& w, unsigned most) noexcept {
  the_machine().step(step_kind::futex);
  const unsigned woken = the_machine().wake(wait_kind::word, &w, most);
  return static_cast<long>(woken);
}

long futex(word& w, int operation, std::uint32_t value, const timespec* time) noexcept {
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
      return wait_on(w, value, time);
    case FUTEX_WAKE:
      return wake(w, value);
    case futex_lock_pi2:
      return lock_loan(w, time);
    case FUTEX_UNLOCK_PI:
      return unlock_loan(w);
    default:
      std::fprintf(stderr, "simulation: the futex operation %d is not simulated; add it to futexes.cpp\n",
                   operation);
      std::abort();
  }
}

}  // namespace

}  // namespace sukima::simulation

extern "C" long syscall(long number, ...) noexcept {
  using namespace sukima::simulation;
  va_list given;
  va_start(given, number);
  long a[6];
  for (long& one : a) one = va_arg(given, long);
  va_end(given);
  if (const thread* const self = this_thread()) {
    if (number == SYS_gettid) return static_cast<long>(number_of(*self));
    if (number == SYS_futex)
      return futex(*reinterpret_cast<word*>(a[0]), static_cast<int>(a[1]), static_cast<std::uint32_t>(a[2]),
                   reinterpret_cast<const timespec*>(a[3]));
  }
  return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

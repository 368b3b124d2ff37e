// SPDX-License-Identifier: Apache-2.0
// The fault handler that recognises the guard pages of fibers.
#include "fiber/fault.hpp"

#include "constants.hpp"
#include "fiber/fiber.hpp"
#include "fiber/fiber_parts.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/switch.hpp"
#include "shared/stay_loaded.hpp"

#include <sukima/detail/executor.hpp>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

namespace sukima::detail {

namespace {

struct sigaction earlier_segv;
struct sigaction earlier_bus;

static_assert(tuning::bound_stack == 16 * 1024, "a message names it");

constexpr int overflow_status = 70;
constexpr std::size_t handler_stack = 64 * 1024;
/// Size of a handler's stack with its guard space. If a kernel needs a mapping of its own for a guard, the
/// guard space stays accessible, because many threads may need such a stack. Even then no other handler's
/// stack is right below.
constexpr std::size_t handler_memory_size = small_guard + handler_stack;

/// The bytes right below the C stack, one cache line. A frame that extends there overwrites them.
using canary = std::array<std::uint64_t, 8>;
constexpr canary intact = {0x5a5a'5a5a'5a5a'5a5a, 0xa5a5'a5a5'a5a5'a5a5, 0x5a5a'5a5a'5a5a'5a5a,
                           0xa5a5'a5a5'a5a5'a5a5, 0x5a5a'5a5a'5a5a'5a5a, 0xa5a5'a5a5'a5a5'a5a5,
                           0x5a5a'5a5a'5a5a'5a5a, 0xa5a5'a5a5'a5a5'a5a5};

void say(const char* text) noexcept {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// Ends the process at once. A sanitizer's version of _exit may wait for a lock that is held by the code that
/// the signal has interrupted.
[[noreturn]] void end_process() noexcept {
  for (;;) syscall(SYS_exit_group, overflow_status);
}

[[noreturn]] void report_stack_overflow(const fiber& full) noexcept {
  const fiber_label label = full.label != nullptr ? *full.label : fiber_label{};
  if (label.name != nullptr) {
    say("sukima: ");
    say(label.kind);
    say(" ");
    say(label.name);
    say(": its");
  } else {
    say("sukima: a fiber's");
  }
  if (full.pool == &parts_of<fiber_parts>(full).bound_fibers) {
    say(" C stack of 16 KiB overflowed; ");
    say(label.more_stack != nullptr ? label.more_stack : "give it more where it is made");
    say(", or recurse less\n");
  } else {
    say(" C stack overflowed; set SUKIMA_STACK to more than it is now (default 256M), or recurse less\n");
  }
  end_process();
}

char* stack_low(const fiber& s) noexcept { return s.stack_top - s.stack_size; }

/// Ends the process if the fault is an overflow of the fiber that this thread runs.
void check_overflow(const char* address) noexcept {
  const fiber* s = running_fiber_as_it_is();
  if (s == nullptr) return;
  const char* const low = stack_low(*s);
  if (!s->canary && address >= low - s->guard && address < low) report_stack_overflow(*s);
  if (address >= s->choice_end && address < s->choice_end + small_guard) {
    say("sukima: a fiber has too many pending forks; recurse less, or set SUKIMA_CHOICES to more if it "
        "is less than 64M, which is the default and the most\n");
    end_process();
  }
}

void on_fault(int number, siginfo_t* info, void* machine) {
  const bool sent = info->si_code <= 0;  // by raise, kill or sigqueue, not by an instruction
  if (!sent) check_overflow(static_cast<const char*>(info->si_addr));
  const struct sigaction& earlier = number == SIGSEGV ? earlier_segv : earlier_bus;
  if ((earlier.sa_flags & SA_SIGINFO) != 0 && earlier.sa_sigaction != nullptr) {
    earlier.sa_sigaction(number, info, machine);
    return;
  }
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN) {
    earlier.sa_handler(number);
    return;
  }
  if (sent && earlier.sa_handler == SIG_IGN) return;
  struct sigaction standard = {};
  standard.sa_handler = SIG_DFL;
  sigaction(number, &standard, nullptr);  // the instruction is repeated and ends the process as it would have
  if (sent) raise(number);  // no instruction is repeated; the signal is blocked now, delivered on return
}

class handler_memory {
 public:
  handler_memory() noexcept {
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
      return;  // the thread has a stack
    memory_ = mmap(nullptr, handler_memory_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) return;
    char* const begin = static_cast<char*>(memory_);
    install_guard(begin, small_guard);
    stack_t mine = {};
    mine.ss_sp = begin + small_guard;
    mine.ss_size = handler_stack;
    if (sigaltstack(&mine, nullptr) == 0) return;
    munmap(memory_, handler_memory_size);
    memory_ = MAP_FAILED;
  }
  ~handler_memory() {
    if (memory_ == MAP_FAILED) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, handler_memory_size);
  }
  handler_memory(const handler_memory&) = delete;
  handler_memory& operator=(const handler_memory&) = delete;

 private:
  void* memory_ = MAP_FAILED;
};

}  // namespace

void watch_for_overflow() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    stay_loaded();  // the handlers stay, and so do the threads of a runtime that is never ended
    struct sigaction mine = {};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGSEGV, &mine, &earlier_segv);
    sigaction(SIGBUS, &mine, &earlier_bus);
  });
}

void place_canary(fiber& s) noexcept { std::memcpy(stack_low(s) - sizeof intact, &intact, sizeof intact); }

void check_canary(const fiber& s, const void* stack_pointer) noexcept {
  const char* const low = stack_low(s);
  if (stack_pointer < low || std::memcmp(low - sizeof intact, &intact, sizeof intact) != 0)
    report_stack_overflow(s);
}

void ensure_alternate_stack() noexcept {
  // The C library records the destructor in memory that only the thread finds. A child process after fork()
  // has the record, but not the thread.
  const unchecked_allocations note;
  static thread_local const handler_memory memory;
}

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// The fault handler that recognises the guard pages of fibers.
#include "fiber/fault.hpp"

#include "core.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <mutex>

namespace sukima::detail {

namespace {

struct sigaction earlier_segv;
struct sigaction earlier_bus;

constexpr int overflow_status = 70;
constexpr std::size_t guard = 4096;
constexpr std::size_t handler_stack = 64 * 1024;

void say(const char* text) noexcept {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;
}

/// Ends the process if the fault is an overflow of the fiber that this thread runs.
void check_overflow(const char* address) noexcept {
  const fiber* s = running_fiber();
  if (s == nullptr) return;
  const char* low = s->stack_top - s->stack_size;
  if (address >= low - guard && address < low) {
    say("sukima: a fiber's C stack overflowed; set SUKIMA_STACK to more than it is now (default 256M), or "
        "recurse less\n");
    _exit(overflow_status);
  }
  if (address >= s->choice_end && address < s->choice_end + guard) {
    say("sukima: a fiber has too many pending forks; set SUKIMA_CHOICES to more than it is now (default and "
        "most 64M), or "
        "recurse less\n");
    _exit(overflow_status);
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
  if (sent) raise(number);  // there is none: blocked now, delivered on return
}

class handler_memory {
 public:
  handler_memory() noexcept {
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
      return;  // somebody else's is good enough
    memory_ = mmap(nullptr, handler_stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t mine = {};
    mine.ss_sp = memory_;
    mine.ss_size = handler_stack;
    if (memory_ != MAP_FAILED && sigaltstack(&mine, nullptr) == 0) return;
    if (memory_ != MAP_FAILED) munmap(memory_, handler_stack);
    memory_ = MAP_FAILED;
  }
  ~handler_memory() {
    if (memory_ == MAP_FAILED) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, handler_stack);
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
    struct sigaction mine = {};
    mine.sa_sigaction = on_fault;
    mine.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&mine.sa_mask);
    sigaction(SIGSEGV, &mine, &earlier_segv);
    sigaction(SIGBUS, &mine, &earlier_bus);
  });
}

void ensure_alternate_stack() noexcept { static thread_local const handler_memory memory; }

}  // namespace sukima::detail

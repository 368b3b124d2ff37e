// SPDX-License-Identifier: Apache-2.0
// Visits of another stack (fiber/visit.hpp): what a signal handler finds below the interrupted instruction.
#include "fiber/visit.hpp"

#include "support.hpp"

#if defined(__x86_64__)

#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>

namespace {

using sukima::detail::sukima_continue_at;
using sukima::detail::sukima_end_visit;
using sukima::detail::sukima_visit;

/// From the next instruction on, each one raises SIGTRAP; or none does any more.
void step_singly(bool on) {
  if (on)
    asm volatile("leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
                 :
                 :
                 : "cc", "memory");
  else
    asm volatile(
        "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), %%rsp"
        :
        :
        : "cc", "memory");
}

std::uintptr_t address_of(void (*f)()) { return reinterpret_cast<std::uintptr_t>(f); }

void visits();

volatile std::sig_atomic_t steps_of_visit = 0;
volatile std::sig_atomic_t steps_of_end = 0;
volatile std::sig_atomic_t lost = 0;  ///< steps from which no unwinder finds visits()
char* left_at = nullptr;
bool ends_elsewhere = false;

_Unwind_Reason_Code look_for_visits(_Unwind_Context* context, void* found) {
  if (_Unwind_GetRegionStart(context) != address_of(visits)) return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_END_OF_STACK;
}

void on_step(int, siginfo_t*, void* machine) {
  const auto at = static_cast<std::uintptr_t>(static_cast<ucontext_t*>(machine)->uc_mcontext.gregs[REG_RIP]);
  // In visit.cpp the three functions follow one another.
  if (at < reinterpret_cast<std::uintptr_t>(sukima_visit) ||
      at >= reinterpret_cast<std::uintptr_t>(sukima_continue_at))
    return;
  const bool ends = at >= reinterpret_cast<std::uintptr_t>(sukima_end_visit);
  volatile std::sig_atomic_t& steps = ends ? steps_of_end : steps_of_visit;
  steps = steps + 1;
  bool found = false;
  _Unwind_Backtrace(look_for_visits, &found);
  if (!found) lost = lost + 1;
}

void comes_back(void*) {
  if (ends_elsewhere) sukima_end_visit(left_at);
}

alignas(16) std::array<char, 256 * 1024> other_stack;

[[gnu::noinline, gnu::noclone]] void visits() {
  step_singly(true);
  sukima_visit(other_stack.data() + other_stack.size(), comes_back, nullptr, &left_at);
  step_singly(false);
}

class visit_test : public testing::TestWithParam<bool> {};

TEST_P(visit_test, can_be_unwound_at_each_instruction) {
  if (!sukima::detail::can_visit()) return;
  ends_elsewhere = GetParam();
  steps_of_visit = 0;
  steps_of_end = 0;
  lost = 0;
  struct sigaction stepping = {};
  struct sigaction before = {};
  stepping.sa_sigaction = on_step;
  stepping.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGTRAP, &stepping, &before), 0);
  visits();
  sigaction(SIGTRAP, &before, nullptr);
  EXPECT_GT(steps_of_visit, 10);
  if (ends_elsewhere) {
    EXPECT_EQ(steps_of_end, 11) << "as many as there are instructions";
  }
  EXPECT_EQ(lost, 0);
}

INSTANTIATE_TEST_SUITE_P(ways, visit_test, testing::Bool());

}  // namespace

#endif

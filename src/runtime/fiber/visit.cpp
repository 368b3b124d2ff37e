// SPDX-License-Identifier: Apache-2.0
#include "fiber/visit.hpp"

#include "fiber/sanitizer.hpp"

#include <sukima/detail/atomics.hpp>

namespace sukima::detail {

// The explored and the simulated runtimes use their own threads, which cannot visit.
bool can_visit() noexcept {
#if defined(__x86_64__) && !defined(SUKIMA_ATOMICS)
  return !program_has_asan() && !program_has_tsan();
#else
  return false;
#endif
}

#if defined(__x86_64__)

// The caller's stack keeps the state that a visit restores if it ends elsewhere: the registers of the ABI,
// and the control words of floating point, which the function may have changed temporarily when the thread
// leaves it. rbp holds this place while the function runs, so that a debugger finds the caller. If the
// function returns, the words are loaded only if it has changed bits that a caller may rely on: of mxcsr all
// but the flags. Loading them costs more than comparing them.
asm(".text\n.globl sukima_visit\n.hidden sukima_visit\n.type sukima_visit,@function\n"
    "sukima_visit:\n.cfi_startproc\n"
    "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset rbp, -16\n"
    "movq %rsp, %rbp\n.cfi_def_cfa_register rbp\n"
    "pushq %rbx\n.cfi_offset rbx, -24\n"
    "pushq %r12\n.cfi_offset r12, -32\n"
    "pushq %r13\n.cfi_offset r13, -40\n"
    "pushq %r14\n.cfi_offset r14, -48\n"
    "pushq %r15\n.cfi_offset r15, -56\n"
    "subq $8, %rsp\nstmxcsr (%rsp)\nfnstcw 4(%rsp)\n"
    "movq %rsp, (%rcx)\n"
    "movq %rdi, %rsp\n"
    "movq %rdx, %rdi\n"
    "call *%rsi\n"
    "leaq -48(%rbp), %rsp\n"
    "stmxcsr -8(%rsp)\nmovl -8(%rsp), %eax\nxorl (%rsp), %eax\ntestl $0xffc0, %eax\njne 1f\n"
    "fnstcw -8(%rsp)\nmovzwl -8(%rsp), %eax\ncmpw 4(%rsp), %ax\njne 1f\n"
    "2:\nmovq %rbp, %rsp\n.cfi_remember_state\n"
    "popq %rbp\n.cfi_def_cfa rsp, 8\n.cfi_restore rbp\n.cfi_restore rbx\n"
    ".cfi_restore r12\n.cfi_restore r13\n.cfi_restore r14\n.cfi_restore r15\n"
    "ret\n"
    "1:\n.cfi_restore_state\n"
    "ldmxcsr (%rsp)\nfldcw 4(%rsp)\njmp 2b\n.cfi_endproc\n"
    ".size sukima_visit,.-sukima_visit\n"
    ".globl sukima_end_visit\n.hidden sukima_end_visit\n.type sukima_end_visit,@function\n"
    "sukima_end_visit:\n.cfi_startproc\n"
    // From here on an unwinder continues with the caller of sukima_visit.
    "movq %rdi, %rsp\n.cfi_def_cfa_offset 64\n"
    ".cfi_offset rbp, -16\n.cfi_offset rbx, -24\n.cfi_offset r12, -32\n"
    ".cfi_offset r13, -40\n.cfi_offset r14, -48\n.cfi_offset r15, -56\n"
    "ldmxcsr (%rsp)\nfldcw 4(%rsp)\naddq $8, %rsp\n"
    ".cfi_def_cfa_offset 56\n"
    "popq %r15\n.cfi_def_cfa_offset 48\n.cfi_restore r15\n"
    "popq %r14\n.cfi_def_cfa_offset 40\n.cfi_restore r14\n"
    "popq %r13\n.cfi_def_cfa_offset 32\n.cfi_restore r13\n"
    "popq %r12\n.cfi_def_cfa_offset 24\n.cfi_restore r12\n"
    "popq %rbx\n.cfi_def_cfa_offset 16\n.cfi_restore rbx\n"
    "popq %rbp\n.cfi_def_cfa_offset 8\n.cfi_restore rbp\n"
    "ret\n.cfi_endproc\n"
    ".size sukima_end_visit,.-sukima_end_visit\n"
    ".globl sukima_continue_at\n.hidden sukima_continue_at\n.type sukima_continue_at,@function\n"
    "sukima_continue_at:\n.cfi_startproc\n.cfi_undefined rip\n"
    "movq %rdi, %rsp\n"
    "xorl %ebp, %ebp\n"
    "movq %rdx, %rdi\n"
    "call *%rsi\n"
    "ud2\n.cfi_endproc\n"
    ".size sukima_continue_at,.-sukima_continue_at\n");

#endif

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// The call of a `try` block, and the jump to the end of that call.
//
// The block is a function of its own, so no function here returns twice. The registers that a callee
// preserves are saved on the stack around the call. A jump restores them from there and returns instead of
// the block.
//
// ThreadSanitizer must see the jump, otherwise it assumes that the functions that were left still run. It
// handles setjmp and longjmp. So programs with ThreadSanitizer use these functions, even if this library was
// built without it. Other processors use them, too.
#include "support.hpp"

#include <csetjmp>

extern "C" {

[[gnu::visibility("hidden"), gnu::used]] int sukima_try_by_setjmp(sukima_try_point* r,
                                                                  int (*body)(char*, void*), void* frame,
                                                                  char* top) {
  std::jmp_buf here;
  r->context = &here;
  if (_setjmp(here) != 0) return SUKIMA_THROWN;
  return body(top, frame);
}

[[noreturn, gnu::visibility("hidden"), gnu::used]] void sukima_jump_by_longjmp(void* context) noexcept {
  std::longjmp(*static_cast<std::jmp_buf*>(context), 1);
}
}

#if defined(__x86_64__) && !defined(SUKIMA_SANITIZED)

// sukima_try(rdi = record, rsi = body, rdx = frame, rcx = top). The record's third word holds the stack
// pointer.
asm(".weak __tsan_switch_to_fiber\n"
    ".text\n.globl sukima_try\n.type sukima_try,@function\n"
    "sukima_try:\n.cfi_startproc\n"
    "movq __tsan_switch_to_fiber@GOTPCREL(%rip), %rax\n"
    "testq %rax, %rax\n"
    "jne sukima_try_by_setjmp\n"
    "pushq %rbx\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbx, 0\n"
    "pushq %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset rbp, 0\n"
    "pushq %r12\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r12, 0\n"
    "pushq %r13\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r13, 0\n"
    "pushq %r14\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r14, 0\n"
    "pushq %r15\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset r15, 0\n"
    "subq $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
    "movq %rsp, 16(%rdi)\n"
    "movq %rsi, %rax\n"
    "movq %rcx, %rdi\n"
    "movq %rdx, %rsi\n"
    "call *%rax\n"
    ".Lsukima_try_end:\n"
    "addq $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
    "popq %r15\n.cfi_adjust_cfa_offset -8\n.cfi_restore r15\n"
    "popq %r14\n.cfi_adjust_cfa_offset -8\n.cfi_restore r14\n"
    "popq %r13\n.cfi_adjust_cfa_offset -8\n.cfi_restore r13\n"
    "popq %r12\n.cfi_adjust_cfa_offset -8\n.cfi_restore r12\n"
    "popq %rbp\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbp\n"
    "popq %rbx\n.cfi_adjust_cfa_offset -8\n.cfi_restore rbx\n"
    "ret\n.cfi_endproc\n.size sukima_try,.-sukima_try\n"
    ".globl sukima_jump\n.hidden sukima_jump\n.type sukima_jump,@function\n"
    "sukima_jump:\n"
    "movq __tsan_switch_to_fiber@GOTPCREL(%rip), %rax\n"
    "testq %rax, %rax\n"
    "jne sukima_jump_by_longjmp\n"
    "movq %rdi, %rsp\n"
    "movl $-1, %eax\n"
    "jmp .Lsukima_try_end\n"
    ".size sukima_jump,.-sukima_jump\n");

static_assert(offsetof(sukima_try_point, context) == 16 && SUKIMA_THROWN == -1);

#else

extern "C" {

[[gnu::nothrow]] int sukima_try(sukima_try_point* r, int (*body)(char*, void*), void* frame, char* top) {
  return sukima_try_by_setjmp(r, body, frame, top);
}

void sukima::detail::sukima_jump(void* context) noexcept { sukima_jump_by_longjmp(context); }
}

#endif

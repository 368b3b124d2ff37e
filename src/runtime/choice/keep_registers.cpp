// SPDX-License-Identifier: Apache-2.0
// Calls the slow path of a poll from the inline poll: preserves every register and returns to r11.
#include "choice/keep_registers.hpp"

#include "fiber/fiber.hpp"

#include <cstddef>

#if defined(__x86_64__)

#if !defined(SUKIMA_ATOMICS)  // where they are larger, no poll comes here
namespace sukima::detail {

// A large fiber begins where its gate ends. Where small fibers share a gate, the record of the mapping
// follows it, whose first word is no choice point's address. The numbers are in the assembly below.
static_assert(choice_span == 0x4000000 && gate_offset + sizeof(gate) == 67840);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
static_assert(offsetof(fiber, lets_pass) == 0 && offsetof(fiber, ignored) == 8 &&
              offsetof(fiber, passes_left) == 16);
#pragma GCC diagnostic pop

}  // namespace sukima::detail
#endif

extern "C" {
/// Which vector registers this machine has: 0: xmm; 1: ymm; 2: zmm and masks of 64 bits; 3: zmm and masks of
/// 16 bits (AVX-512F alone: Xeon Phi). The caller may have been compiled for any of them, and the functions
/// that the slow path calls may destroy any.
extern unsigned char sukima_vector_registers __attribute__((visibility("hidden")));
unsigned char sukima_vector_registers = 0;
}

// Not by dynamic initialisation: a program's own initialisers may run before that.
void sukima::detail::find_vector_registers() noexcept {
  __builtin_cpu_init();
  const int found = __builtin_cpu_supports("avx512bw")  ? 2
                    : __builtin_cpu_supports("avx512f") ? 3
                    : __builtin_cpu_supports("avx")     ? 1
                                                        : 0;
  // Relaxed: each thread that polls got its fiber from a runtime that was made after this. All write the
  // same.
  __atomic_store_n(&sukima_vector_registers, static_cast<unsigned char>(found), __ATOMIC_RELAXED);
}

// On entry: r10 = choice point, r11 = where to continue. Nothing was pushed, and the caller may use the 128
// bytes below its stack pointer. XSAVE takes ten times as long as these moves (150 ns instead of 15 with
// AVX-512).
//
// Code that was compiled without AVX must come back to clean upper halves: while they count as used, each of
// its scalar instructions waits for the one before (Zen 5: divisions and square roots in a loop take four
// times as long, until the kernel's next switch of threads). Loading whole registers makes them count as used
// even if they are zero. So if the upper halves of registers 0 to 15 are zero on entry, VZEROUPPER makes them
// clean, and only the lower halves are loaded.
#define SUKIMA_EACH16(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7) M(8) M(9) M(10) M(11) M(12) M(13) M(14) M(15)
#define SUKIMA_UPPER16(M) \
  M(16) M(17) M(18) M(19) M(20) M(21) M(22) M(23) M(24) M(25) M(26) M(27) M(28) M(29) M(30) M(31)
#define SUKIMA_EACH8(M) M(0) M(1) M(2) M(3) M(4) M(5) M(6) M(7)
#define SUKIMA_SAVE_XMM(n) "movaps %xmm" #n ", 64*" #n "(%rsp)\n"
#define SUKIMA_LOAD_XMM(n) "movaps 64*" #n "(%rsp), %xmm" #n "\n"
#define SUKIMA_SAVE_YMM(n) "vmovdqa %ymm" #n ", 64*" #n "(%rsp)\n"
#define SUKIMA_LOAD_YMM(n) "vmovdqa 64*" #n "(%rsp), %ymm" #n "\n"
#define SUKIMA_COLLECT_YMM(n) "vorps %ymm" #n ", %ymm0, %ymm0\n"
#define SUKIMA_SAVE_ZMM(n) "vmovdqa64 %zmm" #n ", 64*" #n "(%rsp)\n"
#define SUKIMA_LOAD_ZMM(n) "vmovdqa64 64*" #n "(%rsp), %zmm" #n "\n"
#define SUKIMA_COLLECT_ZMM(n) "vporq %zmm" #n ", %zmm0, %zmm0\n"
#define SUKIMA_SAVE_MASK(n) "kmovq %k" #n ", 2048+8*" #n "(%rsp)\n"
#define SUKIMA_LOAD_MASK(n) "kmovq 2048+8*" #n "(%rsp), %k" #n "\n"
#define SUKIMA_SAVE_SHORT_MASK(n) "kmovw %k" #n ", 2048+8*" #n "(%rsp)\n"
#define SUKIMA_LOAD_SHORT_MASK(n) "kmovw 2048+8*" #n "(%rsp), %k" #n "\n"

// All registers' upper halves were or-ed into that of ymm0. Leaves at 2112(%rsp) whether one is not zero, and
// all of them clean.
#define SUKIMA_NOTE_UPPER_HALVES    \
  "vextractf128 $1, %ymm0, %xmm1\n" \
  "xorl %eax, %eax\n"               \
  "vptest %xmm1, %xmm1\n"           \
  "setnz %al\n"                     \
  "movl %eax, 2112(%rsp)\n"         \
  "vzeroupper\n"

asm(".text\n.globl sukima_poll_slow_keeping_registers\n.type sukima_poll_slow_keeping_registers,@function\n"
    "sukima_poll_slow_keeping_registers:\n.cfi_startproc\n.cfi_def_cfa_offset 0\n.cfi_register rip, r11\n"
    "leaq -128(%rsp), %rsp\n.cfi_def_cfa_offset 128\n"
    // A poll that is let pass: then no register needs to be kept.
    "pushq %rax\n.cfi_def_cfa_offset 136\n"
    "movq %r10, %rax\nandq $-0x4000000, %rax\n"
    "cmpq %r10, 67840(%rax)\nje 9f\n"
    "popq %rax\n.cfi_def_cfa_offset 128\n"
    "pushq %r11\n.cfi_def_cfa_offset 136\n.cfi_offset rip, -136\n"
    "pushq %rbp\n.cfi_def_cfa_offset 144\n.cfi_offset rbp, -144\n"
    "movq %rsp, %rbp\n.cfi_def_cfa_register rbp\n"
    "pushq %rax\npushq %rcx\npushq %rdx\npushq %rsi\npushq %rdi\npushq %r8\npushq %r9\npushq %r10\n"
    "subq $2176, %rsp\nandq $-64, %rsp\n"
    "movq %r10, %rdi\n"
    "movq sukima_vector_registers@GOTPCREL(%rip), %rax\nmovzbl (%rax), %eax\n"
    "cmpl $1, %eax\nje 1f\nja 2f\n"
    SUKIMA_EACH16(SUKIMA_SAVE_XMM)
    "call sukima_poll_slow@PLT\n"
    "jmp 3f\n"
    "1:\n" SUKIMA_EACH16(SUKIMA_SAVE_YMM)
    SUKIMA_EACH16(SUKIMA_COLLECT_YMM) SUKIMA_NOTE_UPPER_HALVES
    "call sukima_poll_slow@PLT\n"
    "cmpl $0, 2112(%rsp)\njne 5f\n"
    "vzeroupper\njmp 3f\n"
    "5:\n" SUKIMA_EACH16(SUKIMA_LOAD_YMM)
    "jmp 4f\n"
    "2:\n" SUKIMA_EACH16(SUKIMA_SAVE_ZMM) SUKIMA_UPPER16(SUKIMA_SAVE_ZMM)
    "movl %eax, 2116(%rsp)\ncmpl $2, %eax\njne 7f\n" SUKIMA_EACH8(SUKIMA_SAVE_MASK)
    "jmp 8f\n"
    "7:\n" SUKIMA_EACH8(SUKIMA_SAVE_SHORT_MASK)
    "8:\n"
    SUKIMA_EACH16(SUKIMA_COLLECT_ZMM)
    "vextracti64x4 $1, %zmm0, %ymm1\n"
    "vextracti128 $1, %ymm1, %xmm2\n"
    "vpor %xmm1, %xmm2, %xmm1\n"
    "vinserti128 $1, %xmm1, %ymm1, %ymm1\n"
    "vpor %ymm1, %ymm0, %ymm0\n"
    SUKIMA_NOTE_UPPER_HALVES
    "call sukima_poll_slow@PLT\n"
    SUKIMA_UPPER16(SUKIMA_LOAD_ZMM)
    "cmpl $2, 2116(%rsp)\njne 7f\n" SUKIMA_EACH8(SUKIMA_LOAD_MASK)
    "jmp 8f\n"
    "7:\n" SUKIMA_EACH8(SUKIMA_LOAD_SHORT_MASK)
    "8:\n"
    "cmpl $0, 2112(%rsp)\njne 6f\n"
    "vzeroupper\njmp 3f\n"
    "6:\n" SUKIMA_EACH16(SUKIMA_LOAD_ZMM)
    "jmp 4f\n"
    "3:\n" SUKIMA_EACH16(SUKIMA_LOAD_XMM)
    "4:\n"
    "leaq -64(%rbp), %rsp\n"
    "popq %r10\npopq %r9\npopq %r8\npopq %rdi\npopq %rsi\npopq %rdx\npopq %rcx\npopq %rax\n"
    "popq %rbp\n.cfi_def_cfa rsp, 136\n.cfi_restore rbp\n"
    "popq %r11\n.cfi_def_cfa_offset 128\n.cfi_register rip, r11\n"
    "leaq 128(%rsp), %rsp\n.cfi_def_cfa_offset 0\n"
    "notrack jmp *%r11\n"
    "9:\n.cfi_def_cfa_offset 136\n"
    "movq %r10, 67848(%rax)\ndecq 67856(%rax)\njne 10f\n"
    "movq $0, 67840(%rax)\n10:\n"
    "popq %rax\n.cfi_def_cfa_offset 128\n"
    "leaq 128(%rsp), %rsp\n.cfi_def_cfa_offset 0\n"
    "notrack jmp *%r11\n.cfi_endproc\n"
    ".size sukima_poll_slow_keeping_registers,.-sukima_poll_slow_keeping_registers\n");

#endif

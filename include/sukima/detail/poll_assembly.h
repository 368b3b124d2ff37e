/* SPDX-License-Identifier: Apache-2.0
 * The fast half of a poll on x86-64, for C and C++. */
#ifndef SUKIMA_DETAIL_POLL_ASSEMBLY_H
#define SUKIMA_DETAIL_POLL_ASSEMBLY_H

/* Compares a choice point with the poll limit, a word in memory, and calls the slow path if the choice point
 * is below it. The jump there goes through the global offset table, because lazy binding would destroy r11.
 * The slow path preserves all registers except r10, r11, the flags and the stack of the x87 unit (and with it
 * the MMX registers). That stack must be empty at a call, and is another one when the fiber continues on
 * another thread. */
#define SUKIMA_POLL_ASSEMBLY(point, poll_limit)                              \
  __asm__ __inline__ volatile(                                               \
      "cmpq %[r], %[limit]\n\tja 1f\n2:\n\t"                                 \
      ".subsection 1\n1:\tleaq 2b(%%rip), %%r11\n\tmovq %[r], %%r10\n\t"     \
      "jmp *sukima_poll_slow_keeping_registers@GOTPCREL(%%rip)\n\t.previous" \
      :                                                                      \
      : [r] "r"(point), [limit] "m"(poll_limit)                              \
      : "cc", "memory", "r10", "r11", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)")

#endif

// SPDX-License-Identifier: Apache-2.0
// Static probes for bpftrace, perf, SystemTap and gdb. A probe is one instruction that does nothing until a
// tool attaches to it.
#pragma once

#include <cstdint>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

// Operands that the notes can describe: on x86-64 also constants and memory, as in <sys/sdt.h>.
#if defined(__x86_64__)
#define SUKIMA_PROBE_ARGUMENT "nor"
#else
#define SUKIMA_PROBE_ARGUMENT "r"
#endif

/// Marks this place as the probe sukima:NAME with two unsigned arguments. Do not use it on the path of a
/// fork.
///
/// A note in the program's file holds three things: the address of the instruction, the address of a byte
/// that exists once in a program, and the places of the arguments. The format is version 3 of SystemTap's, as
/// in <sys/sdt.h>: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
#define SUKIMA_PROBE(NAME, FIRST, SECOND)                                     \
  __asm__ __volatile__(                                                       \
      "990: nop\n"                                                            \
      ".pushsection .note.stapsdt,\"?\",\"note\"\n"                           \
      ".balign 4\n"                                                           \
      ".4byte 992f-991f, 994f-993f, 3\n"                                      \
      "991: .asciz \"stapsdt\"\n"                                             \
      "992: .balign 4\n"                                                      \
      "993: .8byte 990b\n"                                                    \
      ".8byte _.stapsdt.base\n"                                               \
      ".8byte 0\n"                                                            \
      ".asciz \"sukima\"\n"                                                   \
      ".asciz \"" #NAME                                                       \
      "\"\n"                                                                  \
      ".asciz \"8@%0 8@%1\"\n"                                                \
      "994: .balign 4\n"                                                      \
      ".popsection\n"                                                         \
      ".ifndef _.stapsdt.base\n"                                              \
      ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
      ".weak _.stapsdt.base\n"                                                \
      ".hidden _.stapsdt.base\n"                                              \
      "_.stapsdt.base: .space 1\n"                                            \
      ".size _.stapsdt.base, 1\n"                                             \
      ".popsection\n"                                                         \
      ".endif\n"                                                              \
      :                                                                       \
      : SUKIMA_PROBE_ARGUMENT(static_cast<std::uint64_t>(FIRST)),             \
        SUKIMA_PROBE_ARGUMENT(static_cast<std::uint64_t>(SECOND)))

#else
#define SUKIMA_PROBE(NAME, FIRST, SECOND) static_cast<void>(0)
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Closures in compiled programs of the Tascell language.
 *
 * A pointer to closures is one word, like the pointer to functions that it is in C: either a function's
 * address, or that of a closure's record with the highest bit set, which no function of a program has. So
 * null and plain functions convert by themselves, and what reads `sizeof` need not know. */
#ifndef SUKIMA_DETAIL_CLOSURE_H
#define SUKIMA_DETAIL_CLOSURE_H

/* As tascell.h: no other header, no word of a newer C, and only names that begin with sukima. */

#ifdef __cplusplus
extern "C" {
#endif

/** First member of every closure's record. The captured variables of the block follow it. */
typedef struct sukima_closure {
  void (*sukima_code)(void); /**< takes the record's address in front of the user's parameters */
} sukima_closure;

#define SUKIMA_CLOSURE_BIT ((__UINTPTR_TYPE__)1 << 63)
/* Beside it: the pointer leads into a record of -fclosures=unwind. */
#define SUKIMA_IN_FRAME_BIT ((__UINTPTR_TYPE__)1 << 62)
/* The bits of an address. Those between are the number of a ticket's use, see below. */
#define SUKIMA_CLOSURE_ADDRESS (((__UINTPTR_TYPE__)1 << 48) - 1)

/** Whether a pointer to closures points to a record (1), or to a function or null (0). */
__attribute__((always_inline)) static __inline__ int sukima_is_closure(__UINTPTR_TYPE__ sukima_pointer) {
  return (__INTPTR_TYPE__)sukima_pointer < 0;
}

/** The record of a pointer that sukima_is_closure. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_self(__UINTPTR_TYPE__ sukima_pointer) {
  return (void*)(sukima_pointer & SUKIMA_CLOSURE_ADDRESS);
}

/** The function of a closure that was compiled with -fclosures=unwind (unwind.h). Ends the program with a
 *  message where its creator has not saved itself. */
void (*sukima_frame_closure_code(__UINTPTR_TYPE__ sukima_pointer))(void) __attribute__((cold));

/** The function of a closure, to be cast to its type. */
__attribute__((always_inline)) static __inline__ void (*sukima_closure_code(__UINTPTR_TYPE__ sukima_pointer))(
    void) {
  if (__builtin_expect((sukima_pointer & SUKIMA_IN_FRAME_BIT) != 0, 0))
    return sukima_frame_closure_code(sukima_pointer);
  return ((sukima_closure*)sukima_closure_self(sukima_pointer))->sukima_code;
}

/** The pointer to a record, as what a pointer to closures is initialised with. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_pointer(
    const sukima_closure* sukima_r) {
  return (void*)((__UINTPTR_TYPE__)sukima_r | SUKIMA_CLOSURE_BIT);
}

/* ---- -fcheck-closures --------------------------------------------------------------------------------- */

/** Stands for a closure in its pointers, and outlives it: a call finds out whether it is gone. */
typedef struct sukima_ticket {
  sukima_closure sukima_head;
  void* sukima_record; /**< in the frame of the function that declared the closure */
  const char* sukima_name;
  const char* sukima_file;
  int sukima_line; /**< of the declaration */
  unsigned sukima_use; /**< counts how often it was taken or freed; even: it is free */
  struct sukima_ticket* sukima_next; /**< in the block; then among the free ones */
} sukima_ticket;

/** When a closure comes to life. \param sukima_block the tickets of the block that declares it \returns its
 *  pointer: that of the record itself where there is no memory for a ticket */
void* sukima_ticket_open(void** sukima_block, sukima_closure* sukima_record, void (*sukima_code)(void),
                         const char* sukima_name, const char* sukima_file, int sukima_line);
/** When the block is left. */
void sukima_tickets_close(void** sukima_block);
/** The pointer with which a closure refers to itself. */
void* sukima_ticket_pointer(void* sukima_self);
/** The record, where the code of a closure has its ticket (or the record). */
void* sukima_ticket_record(void* sukima_self);
/** In front of a call: ends the program with a message if the closure is gone. \returns the pointer */
__UINTPTR_TYPE__ sukima_ticket_check(__UINTPTR_TYPE__ sukima_pointer, const char* sukima_file,
                                     int sukima_line);
/** The frames between two places of a stack are left by a jump: closures in them are gone. */
void sukima_tickets_left(const void* sukima_low, const void* sukima_high);

/* ---- goto out of a closure ---------------------------------------------------------------------------- */

/** A label that a closure jumps to, in the frame of the function that the closure was declared in. */
typedef struct sukima_exit {
  char* sukima_top; /**< of the worker function that waits: its records end there; NULL: plain C waits */
  const void* sukima_segment; /**< of the fiber that it runs on; NULL: none, a thread outside workers */
  const void* sukima_thread; /**< then: which */
  const void* sukima_frame; /**< all frames that the function has called lie below */
  int sukima_in_block; /**< it was made in a block that runs to its end (PUT, GET, AFTER …) */
  long long sukima_context[64] __attribute__((aligned(16))); /**< a jmp_buf */
} sukima_exit;

/** The C library's, without a header of it. Behind it all variables that may change are in memory. */
extern int sukima_set_exit(long long* sukima_context) __asm__("_setjmp") __attribute__((returns_twice));

/** Keeps a variable in memory from here on, so that it has its value after a jump back into its function. */
__attribute__((always_inline)) static __inline__ void sukima_keep(const volatile void* sukima_variable) {
  __asm__ volatile("" : : "r"(sukima_variable) : "memory");
}

/** When the closure comes to life: records the fiber that waits here. \param sukima_top NULL: plain C */
void sukima_exit_begin(sukima_exit* sukima_x, char* sukima_top);

/** Jumps there: out of all that was entered since, as a throw leaves it. Ends the program with a message
 *  where that cannot be. */
void sukima_exit_take(sukima_exit* sukima_x, const char* sukima_file, int sukima_line)
    __attribute__((cold, noreturn));

/** Whether any closure of this program jumps. */
extern int sukima_exits_used;
void sukima_remember_top(char* sukima_top) __attribute__((noinline));

/** In front of calls of plain functions and closures by a worker function: where its records end. */
__attribute__((always_inline)) static __inline__ void sukima_leave_for_c(char* sukima_top) {
  if (__builtin_expect(__atomic_load_n(&sukima_exits_used, __ATOMIC_RELAXED), 0))
    sukima_remember_top(sukima_top);
}

#ifdef __cplusplus
}
#endif

#endif

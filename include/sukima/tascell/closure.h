/* SPDX-License-Identifier: Apache-2.0 */
/* Closures in compiled programs of the Tascell language.
 *
 * A pointer to closures is one word, and in C it is a pointer to functions. It holds a function's address, or
 * the address of a closure's record with the highest bit set. No function of a program has an address with
 * that bit. So null and plain functions need no conversion, and `sizeof` is that of a pointer. */
#ifndef SUKIMA_DETAIL_CLOSURE_H
#define SUKIMA_DETAIL_CLOSURE_H

/* As in tascell.h: no other header, no keyword of a newer C, and only names that begin with sukima. */

#ifdef __cplusplus
extern "C" {
#endif

/** First member of every closure's record. The captured variables of the block follow it. */
typedef struct sukima_closure {
  void (*sukima_code)(void); /**< takes the record's address before the user's parameters */
} sukima_closure;

#define SUKIMA_CLOSURE_BIT ((__UINTPTR_TYPE__)1 << 63)
/* Set beside that bit if the pointer leads into a record of -fclosures=unwind. */
#define SUKIMA_IN_FRAME_BIT ((__UINTPTR_TYPE__)1 << 62)
/* The bits of an address. The bits between hold the number of a ticket's use, see below. */
#define SUKIMA_CLOSURE_ADDRESS (((__UINTPTR_TYPE__)1 << 48) - 1)

/** Whether a pointer to closures points to a record (1), or to a function or null (0). */
__attribute__((always_inline)) static __inline__ int sukima_is_closure(__UINTPTR_TYPE__ sukima_pointer) {
  return (__INTPTR_TYPE__)sukima_pointer < 0;
}

/** Returns the record of a pointer for which sukima_is_closure returns 1. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_self(__UINTPTR_TYPE__ sukima_pointer) {
  return (void*)(sukima_pointer & SUKIMA_CLOSURE_ADDRESS);
}

/** Returns the function of a closure that was compiled with -fclosures=unwind (unwind.h). Ends the program
 *  with a message if the function that made the closure has not saved its variables. */
void (*sukima_frame_closure_code(__UINTPTR_TYPE__ sukima_pointer))(void) __attribute__((cold));

/** Returns the function of a closure, to be cast to its type. */
__attribute__((always_inline)) static __inline__ void (*sukima_closure_code(__UINTPTR_TYPE__ sukima_pointer))(
    void) {
  if (__builtin_expect((sukima_pointer & SUKIMA_IN_FRAME_BIT) != 0, 0))
    return sukima_frame_closure_code(sukima_pointer);
  return ((sukima_closure*)sukima_closure_self(sukima_pointer))->sukima_code;
}

/** Returns the pointer to a record, with which a pointer to closures is initialised. */
__attribute__((always_inline)) static __inline__ void* sukima_closure_pointer(
    const sukima_closure* sukima_r) {
  return (void*)((__UINTPTR_TYPE__)sukima_r | SUKIMA_CLOSURE_BIT);
}

/* ---- -fcheck-closures --------------------------------------------------------------------------------- */

/** Stands for a closure in the pointers to it, and outlives it, so that a call can determine whether the
 *  closure has ended. */
typedef struct sukima_ticket {
  sukima_closure sukima_head;
  void* sukima_record; /**< in the frame of the function that declared the closure */
  const char* sukima_name;
  const char* sukima_file;
  int sukima_line; /**< line of the declaration */
  unsigned sukima_use; /**< counts how often the ticket was taken or freed; even: it is free */
  struct sukima_ticket* sukima_next; /**< the next ticket of the block, or the next free one */
} sukima_ticket;

/** Called when a closure begins to exist. \param sukima_block the tickets of the block that declares it
 *  \returns its pointer, which is that of the record itself if there is no memory for a ticket */
void* sukima_ticket_open(void** sukima_block, sukima_closure* sukima_record, void (*sukima_code)(void),
                         const char* sukima_name, const char* sukima_file, int sukima_line);
/** Called when the block is left: frees its tickets. */
void sukima_tickets_close(void** sukima_block);
/** Returns the pointer with which a closure refers to itself. */
void* sukima_ticket_pointer(void* sukima_self);
/** Returns the record of a closure. \param sukima_self its ticket, or the record */
void* sukima_ticket_record(void* sukima_self);
/** Called before a call of a closure: ends the program with a message if the closure has ended. \returns the
 *  pointer */
__UINTPTR_TYPE__ sukima_ticket_check(__UINTPTR_TYPE__ sukima_pointer, const char* sukima_file,
                                     int sukima_line);
/** Called when a jump leaves the frames between two places of a stack: ends the closures in these frames. */
void sukima_tickets_left(const void* sukima_low, const void* sukima_high);

/* ---- goto out of a closure ---------------------------------------------------------------------------- */

/** A label to which a closure jumps, in the frame of the function that declares the closure. */
typedef struct sukima_exit {
  char* sukima_top; /**< end of the records of the worker function that waits; NULL: plain C waits */
  const void* sukima_segment; /**< segment of the fiber on which it runs; NULL: a thread outside workers */
  const void* sukima_thread; /**< that thread */
  const void* sukima_frame; /**< the frames of functions that it has called are below this address */
  int sukima_in_block; /**< 1 if it was made in a block that runs to its end (PUT, GET, AFTER …) */
  long long sukima_context[64] __attribute__((aligned(16))); /**< a jmp_buf */
} sukima_exit;

/** The C library's setjmp, declared without its header. After this call all variables that may change are in
 *  memory. */
extern int sukima_set_exit(long long* sukima_context) __asm__("_setjmp") __attribute__((returns_twice));

/** Keeps a variable in memory from here on, so that it has its last value after a jump back into its
 *  function. */
__attribute__((always_inline)) static __inline__ void sukima_keep(const volatile void* sukima_variable) {
  __asm__ volatile("" : : "r"(sukima_variable) : "memory");
}

/** Called when the closure begins to exist: records the fiber that waits here. \param sukima_top NULL: plain
 *  C */
void sukima_exit_begin(sukima_exit* sukima_x, char* sukima_top);

/** Jumps to the label, out of everything that was entered since, as a throw does. Ends the program with a
 *  message if that is impossible. */
void sukima_exit_take(sukima_exit* sukima_x, const char* sukima_file, int sukima_line)
    __attribute__((cold, noreturn));

/** 1 if a closure of this program jumps, otherwise 0. */
extern int sukima_exits_used;
void sukima_remember_top(char* sukima_top) __attribute__((noinline));

/** Called before a worker function calls plain functions and closures: records where its records end. */
__attribute__((always_inline)) static __inline__ void sukima_leave_for_c(char* sukima_top) {
  if (__builtin_expect(__atomic_load_n(&sukima_exits_used, __ATOMIC_RELAXED), 0))
    sukima_remember_top(sukima_top);
}

#ifdef __cplusplus
}
#endif

#endif

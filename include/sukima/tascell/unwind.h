/* SPDX-License-Identifier: Apache-2.0 */
/* Closures of programs compiled with -fclosures=unwind.
 *
 * A function that may be below a closure's call exists twice. Its fast version keeps its variables in
 * registers. When a closure is called whose creator has not saved its variables, each fast function from the
 * caller down to the entry from plain C stores its variables in a record of the thread's explicit stack, and
 * returns a special value. The entry then calls the closure, whose variables are all in records now.
 * Afterwards it resumes the functions one after the other by their slow versions, which work on the records.
 *
 * The address of a function's record is known when the function is called (a hidden parameter). So pointers
 * to its closures lead to the record, and variables whose address is taken are kept there.
 *
 * With -fclosures=exceptions the fast functions do not test the values that calls return: the C library's
 * unwinder runs through their frames, and their landing pads store the variables. */
#ifndef SUKIMA_DETAIL_UNWIND_H
#define SUKIMA_DETAIL_UNWIND_H

/* As in tascell.h: no header but our own, no keyword of a newer C, and only names that begin with sukima. */
#include <sukima/tascell/closure.h>

#ifdef __cplusplus
extern "C" {
#endif

/** First member of the record of every function. */
typedef struct sukima_frame {
  /** Continues after the call number sukima_place, whose result follows the record. Leaves the function's own
   *  result at the record's address. \returns 1 if it has unwound again */
  int (*sukima_resume)(struct sukima_frame* sukima_f);
  struct sukima_frame* sukima_older; /**< the record below; NULL: this is the entry's first */
  int sukima_place;
} sukima_frame;

/** A closure of a function, a member of its record. Empty until the record is in use. */
typedef struct sukima_frame_closure {
  sukima_closure sukima_head; /**< for calls by plain C */
  void (*sukima_inner)(void); /**< takes the top and this address before the user's parameters */
  int sukima_lands; /**< 1 if it was compiled with -fclosures=exceptions */
} sukima_frame_closure;

/** An entry from plain C, which resumes the functions that unwind to it. */
typedef struct sukima_level {
  char* sukima_base; /**< address of its first record on the explicit stack */
  sukima_frame* sukima_newest; /**< the newest record in use */
} sukima_level;

/** An entry of a file that is compiled with -fclosures=exceptions. */
typedef struct sukima_landing_level {
  sukima_level sukima_l;
  long long sukima_context[64] __attribute__((aligned(16))); /**< a jmp_buf: where the unwinder continues */
} sukima_landing_level;

/** The state of a thread with closures. */
typedef struct sukima_unwind_state {
  int sukima_asked; /**< 1 while functions unwind */
  char *sukima_base, *sukima_saved; /**< begin and end of the saved records of the innermost level */
  char* sukima_top; /**< end of the records of running functions while one of them calls plain C */
  sukima_level* sukima_innermost;
  sukima_frame *sukima_first, *sukima_last; /**< the records saved since unwinding began */
  char* sukima_end; /**< end of the records when unwinding began: the closure's arguments are there */
  int (*sukima_run)(char* sukima_at); /**< calls the closure */
} sukima_unwind_state;

extern __thread sukima_unwind_state sukima_unwinding __attribute__((tls_model("initial-exec")));

/** Marks the pointers that lead to a sukima_frame_closure, beside SUKIMA_CLOSURE_BIT. */
#define SUKIMA_UNWIND_BITS (SUKIMA_CLOSURE_BIT | SUKIMA_IN_FRAME_BIT)

/** The values that functions return while they unwind. A function may also return such a value as its result,
 *  so sukima_asked decides. */
#define SUKIMA_SPECIAL_4 (-2147483647)
#define SUKIMA_SPECIAL_8 (-2147483647L) /* one instruction can compare with it */
#define SUKIMA_RARELY(sukima_x) __builtin_expect(!!(sukima_x), 0)

/* Around slow versions: the compiler need not repeat the warnings about the fast versions. */
#define SUKIMA_SLOW_VERSION_BEGIN                                               \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused\"") \
      _Pragma("GCC diagnostic ignored \"-Wimplicit-fallthrough\"")              \
          _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define SUKIMA_SLOW_VERSION_END _Pragma("GCC diagnostic pop")
/* The value of a statement expression whose value may be unused. */
#ifdef __clang__
#define SUKIMA_VALUE(sukima_x)                                                                       \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunused-value\"")(sukima_x); \
  _Pragma("clang diagnostic pop")
#else
#define SUKIMA_VALUE(sukima_x) (sukima_x);
#endif
/* Around entries with a jmp_buf, which change nothing after it. */
#ifdef __clang__
#define SUKIMA_ENTRY_BEGIN
#define SUKIMA_ENTRY_END
#else
#define SUKIMA_ENTRY_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wclobbered\"")
#define SUKIMA_ENTRY_END _Pragma("GCC diagnostic pop")
#endif

/** Returns the pointer to a closure in a record. */
__attribute__((always_inline)) static __inline__ void* sukima_frame_pointer(
    const sukima_frame_closure* sukima_c) {
  return (void*)((__UINTPTR_TYPE__)sukima_c | SUKIMA_UNWIND_BITS);
}

/** Marks the hidden parameter of fast versions as pointers to closures are marked, so that such a pointer
 *  needs no instruction. */
__attribute__((always_inline)) static __inline__ char* sukima_marked(char* sukima_at) {
  return (char*)((__UINTPTR_TYPE__)sukima_at | SUKIMA_UNWIND_BITS);
}
__attribute__((always_inline)) static __inline__ char* sukima_unmarked(char* sukima_top) {
  return (char*)((__UINTPTR_TYPE__)sukima_top & SUKIMA_CLOSURE_ADDRESS);
}

__attribute__((always_inline)) static __inline__ int sukima_is_in_frame(__UINTPTR_TYPE__ sukima_pointer) {
  return sukima_pointer >= SUKIMA_UNWIND_BITS;
}

/** The slow part of sukima_is_saved: the record does not belong to the innermost level. Ends the program with
 *  a message if the closure cannot be called.
 *  \returns 1: the record is in use; 2: it is in use, and the closure was compiled in another way than its
 *           caller; 0: the functions must unwind first */
int sukima_is_saved_elsewhere(const sukima_frame_closure* sukima_c, int sukima_lands, const char* sukima_top,
                              const char* sukima_file, int sukima_line) __attribute__((cold));

/** Called when a jump leaves all C frames below an address: ends their levels; NULL: all levels of this
 *  thread. */
void sukima_levels_left(const void* sukima_frame_address);

/* The stack pointer: C frames of callers are above it, and frames that were left are below it. If it is
 * unknown, levels that a longjmp has left are detected later. */
#if defined(__x86_64__)
/* NOLINTNEXTLINE(misc-definitions-in-headers): a register has no address, and no second definition */
__extension__ register const void* sukima_stack_pointer __asm__("rsp");
#define sukima_stack_here() sukima_stack_pointer
#elif defined(__aarch64__)
/* NOLINTNEXTLINE(misc-definitions-in-headers): as above */
__extension__ register const void* sukima_stack_pointer __asm__("sp");
#define sukima_stack_here() sukima_stack_pointer
#else
#define sukima_stack_here() ((const void*)0)
#endif

/** Called after a call of plain C: the levels that a longjmp in it has left are below the stack pointer,
 *  which is what it was before the call. */
__attribute__((always_inline)) static __inline__ void sukima_back_from_c(const void* sukima_stack) {
  if (SUKIMA_RARELY((const void*)sukima_unwinding.sukima_innermost < sukima_stack))
    sukima_levels_left(sukima_stack);
}

/** Whether a closure can be called at once, because its creator has been saved. \returns 0 or 1; 2: only as
 *  plain C calls it */
__attribute__((always_inline)) static __inline__ int sukima_is_saved(const sukima_frame_closure* sukima_c,
                                                                     int sukima_lands, const char* sukima_top,
                                                                     const char* sukima_file,
                                                                     int sukima_line) {
  const sukima_unwind_state* const sukima_s = &sukima_unwinding;
  if ((__UINTPTR_TYPE__)((const char*)sukima_c - sukima_s->sukima_base) <
      (__UINTPTR_TYPE__)(sukima_s->sukima_saved - sukima_s->sukima_base))
    return 1;
  return sukima_is_saved_elsewhere(sukima_c, sukima_lands, sukima_top, sukima_file, sukima_line);
}

/** Begins to unwind. The caller has stored the closure's arguments at the end of its record. */
void sukima_ask(char* sukima_end, int (*sukima_run)(char* sukima_at)) __attribute__((cold));
/** The same, with the C library's unwinder. */
void sukima_ask_landing(char* sukima_end, int (*sukima_run)(char* sukima_at)) __attribute__((cold, noreturn));

/** Called when a function has stored its variables, before its caller does so. */
__attribute__((always_inline)) static __inline__ void sukima_save_frame(sukima_frame* sukima_f,
                                                                        int (*sukima_resume)(sukima_frame*),
                                                                        int sukima_call) {
  sukima_unwind_state* const sukima_s = &sukima_unwinding;
  sukima_f->sukima_resume = sukima_resume;
  sukima_f->sukima_place = sukima_call;
  if (sukima_s->sukima_last)
    sukima_s->sukima_last->sukima_older = sukima_f;
  else
    sukima_s->sukima_first = sukima_f;
  sukima_s->sukima_last = sukima_f;
}

/** Begins an entry. \returns the address of its first record, marked */
char* sukima_level_begin(sukima_level* sukima_l);
/** Called when functions have unwound to the entry: calls the closure, and resumes the functions until the
 *  last has returned. Its result is then at the level's base. */
void sukima_level_run(sukima_level* sukima_l);
void sukima_level_end(sukima_level* sukima_l);

/** Whether plain C runs within a level on this thread. Such code must not enter the runtime. */
int sukima_is_in_level(const void* sukima_frame_address);

#ifdef __cplusplus
}
#endif

#endif

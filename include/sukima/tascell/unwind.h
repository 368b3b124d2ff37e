/* SPDX-License-Identifier: Apache-2.0 */
/* Closures of programs compiled with -fclosures=unwind.
 *
 * A function that may be below a closure's call exists twice. Its fast version keeps its variables in
 * registers. When a closure is called whose creator sleeps, each fast function from the caller down to the
 * entry from plain C stores its variables in a record of the thread's explicit stack, and returns a special
 * value. The entry then calls the closure, whose variables are all in records now, and resumes the functions
 * one after the other by their slow versions, which work on the records.
 *
 * The place of a function's record is known when the function is called (a hidden parameter), so that is what
 * pointers to its closures lead to, and where variables are kept whose address is taken.
 *
 * With -fclosures=exceptions the fast functions do not test what they get back: the C library's unwinder runs
 * through their frames, and their landing pads store the variables. */
#ifndef SUKIMA_DETAIL_UNWIND_H
#define SUKIMA_DETAIL_UNWIND_H

/* As tascell.h: no other header but ours, no word of a newer C, and only names that begin with sukima. */
#include <sukima/tascell/closure.h>

#ifdef __cplusplus
extern "C" {
#endif

/** First member of the record of every function. */
typedef struct sukima_frame {
  /** Continues after the call number sukima_place, whose result follows the record. Leaves the function's
   *  own result at the record's address. \returns 1: it has unwound again */
  int (*sukima_resume)(struct sukima_frame* sukima_f);
  struct sukima_frame* sukima_older; /**< the one below; NULL: the entry's first */
  int sukima_place;
} sukima_frame;

/** One closure of a function, a member of its record. Empty until the record is in use. */
typedef struct sukima_frame_closure {
  sukima_closure sukima_head; /**< how plain C calls it */
  void (*sukima_inner)(void); /**< takes the top and this address in front of the user's parameters */
  int sukima_lands; /**< it was compiled with -fclosures=exceptions */
} sukima_frame_closure;

/** An entry from plain C, which resumes what unwinds to it. */
typedef struct sukima_level {
  char* sukima_base; /**< of the explicit stack: the address of its first record */
  sukima_frame* sukima_newest; /**< record in use */
} sukima_level;

/** One of a file that is compiled with -fclosures=exceptions. */
typedef struct sukima_landing_level {
  sukima_level sukima_l;
  long long sukima_context[64] __attribute__((aligned(16))); /**< a jmp_buf: where the unwinder goes on */
} sukima_landing_level;

/** The state of a thread. */
typedef struct sukima_unwind_state {
  int sukima_asked; /**< functions are unwinding */
  char *sukima_base, *sukima_saved; /**< of the innermost level */
  char* sukima_top; /**< no record of a running function reaches beyond, when it calls plain C */
  sukima_level* sukima_innermost;
  sukima_frame *sukima_first, *sukima_last; /**< saved since the closure was asked for */
  char* sukima_end; /**< of the records then: the arguments are there */
  int (*sukima_run)(char* sukima_at);
} sukima_unwind_state;

extern __thread sukima_unwind_state sukima_unwinding __attribute__((tls_model("initial-exec")));

/** Marks the pointers that lead to a sukima_frame_closure, beside SUKIMA_CLOSURE_BIT. */
#define SUKIMA_UNWIND_BITS (SUKIMA_CLOSURE_BIT | SUKIMA_IN_FRAME_BIT)

/** The values that functions return while they unwind: where that can be another result, sukima_asked
 *  decides. */
#define SUKIMA_SPECIAL_4 (-2147483647)
#define SUKIMA_SPECIAL_8 (-2147483647L) /* one instruction can compare with it */
#define SUKIMA_RARELY(sukima_x) __builtin_expect(!!(sukima_x), 0)

/* Around slow versions: what the compiler says about the fast ones need not be said again. */
#define SUKIMA_SLOW_VERSION_BEGIN                                               \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused\"") \
      _Pragma("GCC diagnostic ignored \"-Wimplicit-fallthrough\"")              \
          _Pragma("GCC diagnostic ignored \"-Wuninitialized\"")
#define SUKIMA_SLOW_VERSION_END _Pragma("GCC diagnostic pop")
/* The value of a statement expression, which may stand where no value is used. */
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

/** The pointer to a closure in a record. */
__attribute__((always_inline)) static __inline__ void* sukima_frame_pointer(
    const sukima_frame_closure* sukima_c) {
  return (void*)((__UINTPTR_TYPE__)sukima_c | SUKIMA_UNWIND_BITS);
}

/** The hidden parameter of fast versions is marked as these pointers are: they need no instruction then. */
__attribute__((always_inline)) static __inline__ char* sukima_marked(char* sukima_at) {
  return (char*)((__UINTPTR_TYPE__)sukima_at | SUKIMA_UNWIND_BITS);
}
__attribute__((always_inline)) static __inline__ char* sukima_unmarked(char* sukima_top) {
  return (char*)((__UINTPTR_TYPE__)sukima_top & SUKIMA_CLOSURE_ADDRESS);
}

__attribute__((always_inline)) static __inline__ int sukima_is_in_frame(__UINTPTR_TYPE__ sukima_pointer) {
  return sukima_pointer >= SUKIMA_UNWIND_BITS;
}

/** Where the record does not belong to the innermost level. Ends the program with a message where the closure
 *  cannot be called. \returns 1: it is in use, 2: and the closure was compiled in the other way than its
 *  caller, 0: the functions must unwind first */
int sukima_is_saved_elsewhere(const sukima_frame_closure* sukima_c, int sukima_lands, const char* sukima_top,
                              const char* sukima_file, int sukima_line) __attribute__((cold));

/** A jump leaves all C frames below an address; NULL: all of this thread's levels. */
void sukima_levels_left(const void* sukima_frame_address);

/* The stack pointer: C frames of callers lie above it, what has been left below. Where it is unknown, levels
 * that a longjmp has left are found out later. */
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

/** After a call of plain C: the levels that a longjmp in it has left lie below where the stack pointer is
 *  then, as it was before. */
__attribute__((always_inline)) static __inline__ void sukima_back_from_c(const void* sukima_stack) {
  if (SUKIMA_RARELY((const void*)sukima_unwinding.sukima_innermost < sukima_stack))
    sukima_levels_left(sukima_stack);
}

/** Whether a closure can be called at once, because its creator has been saved. 2: as by plain C only */
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

/** Begins to unwind: the arguments have been stored at the end of the caller's record. */
void sukima_ask(char* sukima_end, int (*sukima_run)(char* sukima_at)) __attribute__((cold));
/** The same, by the unwinder. */
void sukima_ask_landing(char* sukima_end, int (*sukima_run)(char* sukima_at)) __attribute__((cold, noreturn));

/** A function has stored its variables; its caller is next. */
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

/** An entry begins. \returns the address of its first record, marked */
char* sukima_level_begin(sukima_level* sukima_l);
/** Functions have unwound to the entry: calls the closure, and resumes them until the last has returned. The
 *  result is at the level's base then. */
void sukima_level_run(sukima_level* sukima_l);
void sukima_level_end(sukima_level* sukima_l);

/** Whether plain C runs within a level on this thread. Then nothing may enter the runtime. */
int sukima_is_in_level(const void* sukima_frame_address);

#ifdef __cplusplus
}
#endif

#endif

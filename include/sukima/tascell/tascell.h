/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that compiled programs of the Tascell language call, and the C declarations of choice points.
 * docs/translation.md shows generated code. The layouts are those of choice_point.hpp. */
#ifndef SUKIMA_DETAIL_LANGUAGE_H
#define SUKIMA_DETAIL_LANGUAGE_H

/* This header comes before all text of the user. So it includes no system header, because a macro of the user
 * that selects features, such as _GNU_SOURCE, must come before the first one. It uses no keyword that an old
 * dialect of C lacks. All names that generated code needs later begin with sukima, because a macro of the
 * user may have any other name. */
#include <sukima/detail/poll_assembly.h>

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
extern "C" {
using sukima_bool = bool;
using sukima_size = std::size_t;
using sukima_word = std::uintptr_t;
#else
typedef _Bool sukima_bool;
typedef __SIZE_TYPE__ sukima_size;
typedef __UINTPTR_TYPE__ sukima_word;
#endif

/** First member of every choice point, at the top of the choice stack. The word is the address of the choice
 *  point's kind; after a split it is the address of the newest child, with the lowest bit set. Records are
 *  aligned to 16 bytes, and each begins where the previous one ends. */
typedef struct sukima_choice_point {
  sukima_word sukima_kind_or_child;
} sukima_choice_point;

/** First member of the choice points of parallel loops and joins. */
typedef struct sukima_loop {
  sukima_choice_point sukima_head;
  int sukima_i; /**< the running or next iteration; the owner stores it before each poll */
  int sukima_end; /**< end of the owner's iterations; the owner reads it again after each poll */
} sukima_loop;

/** First member of the choice points of loops by successor. The owner's values end where the loop's condition
 *  fails, or, after a split, before `sukima_end`. */
typedef struct sukima_successor_loop {
  sukima_choice_point sukima_head;
  sukima_word sukima_current; /**< the running or next value; the owner stores it before each poll */
  sukima_word sukima_end; /**< the first value that was given away; without meaning before a split */
} sukima_successor_loop;

/** Record of a `try`. */
typedef struct sukima_try_point {
  sukima_choice_point sukima_head;
  sukima_size sukima_tag; /**< what it catches */
  void* context; /**< where execution continues after a throw; set by sukima_try */
  void* unused;
} sukima_try_point;

struct sukima_task;

/** Describes a construct to the runtime. The first members are those of choice_point_kind; the macros below
 *  fill them in. Functions that a construct does not have stay NULL. */
typedef struct sukima_kind {
  unsigned size;
  sukima_bool (*open)(const sukima_choice_point*);
  struct sukima_task* (*split)(sukima_choice_point*);
  void (*reclaim)(sukima_choice_point*, struct sukima_task*);
  void (*undo)(sukima_choice_point*);
  void (*redo)(sukima_choice_point*);
  double (*guard)(sukima_choice_point*);
  void (*destroy)(sukima_choice_point*);
  void (*stop)(sukima_choice_point*);
  void (*leave)(sukima_choice_point*);
  sukima_bool quiet;
  const void* travel;

  /** PUT: fills in a new task, whose bytes are all zero. i1 and i2 are the bounds of a loop's iterations. */
  void (*put)(void* choice_point, void* task, int i1, int i2);
  /** Runs task_exec with this top of the choice stack. */
  void (*exec)(char* top, void* task);
  sukima_size task_size;
  sukima_size task_align;
  double (*probability)(void* choice_point); /**< guard (P) */
  int (*split_place)(void* choice_point, int i, int end); /**< split (E); the result is clamped */
  /** The second copies of dynamic_wind's blocks. `backtracking` is the value that the language binds to that
   *  name. */
  void (*before)(void* choice_point, int backtracking);
  void (*after)(void* choice_point, int backtracking);
  /** Runs the statement with number i of a join. Only reads the choice point. */
  void (*run)(char* top, void* choice_point, int i);
  /** Of a loop by successor: replaces a value by its successor. \returns whether the loop continues with that
   *  value */
  sukima_bool (*advance)(const void* choice_point, sukima_word* value);
  /** PUT of such a loop: the values from `from` on, up to but not including `to` */
  void (*put_values)(void* choice_point, void* task, sukima_word from, sukima_word to);
} sukima_kind;

/* The kinds of the constructs, as initial values of a constant object, without the members' names, because a
 * macro of the program may have such a name. `guard, probability` is `sukima_guard, FUNCTION` or `0, 0`. A
 * member that a construct does not have is 0. reclaim and destroy are always 0. */
#define SUKIMA_KIND(point_type, open, split, undo, redo, guard, stop, leave, quiet, travel, put, exec, \
                    task_size, task_align, probability, split_place, before, after, run, advance,      \
                    put_values)                                                                        \
  {sizeof(point_type),                                                                                 \
   open,                                                                                               \
   split,                                                                                              \
   0,                                                                                                  \
   undo,                                                                                               \
   redo,                                                                                               \
   guard,                                                                                              \
   0,                                                                                                  \
   stop,                                                                                               \
   leave,                                                                                              \
   quiet,                                                                                              \
   travel,                                                                                             \
   put,                                                                                                \
   exec,                                                                                               \
   task_size,                                                                                          \
   task_align,                                                                                         \
   probability,                                                                                        \
   split_place,                                                                                        \
   before,                                                                                             \
   after,                                                                                              \
   run,                                                                                                \
   advance,                                                                                            \
   put_values}
#define SUKIMA_DO_TWO_KIND(point_type, put, exec, task_type, guard, probability) \
  SUKIMA_TRAVELLING_DO_TWO_KIND(0, point_type, put, exec, task_type, guard, probability)
#define SUKIMA_LOOP_KIND(point_type, put, exec, task_type, guard, probability, split_place) \
  SUKIMA_TRAVELLING_LOOP_KIND(0, point_type, put, exec, task_type, guard, probability, split_place)
#define SUKIMA_SUCCESSOR_LOOP_KIND(point_type, advance, put_values, exec, task_type, guard, probability) \
  SUKIMA_TRAVELLING_SUCCESSOR_LOOP_KIND(0, point_type, advance, put_values, exec, task_type, guard,      \
                                        probability)
/* The kinds of constructs whose tasks may travel. The first argument is the type's sukima_travelling. */
#define SUKIMA_TRAVELLING_DO_TWO_KIND(travel, point_type, put, exec, task_type, guard, probability)         \
  SUKIMA_KIND(point_type, sukima_do_two_open, sukima_do_two_split, 0, 0, guard, 0, sukima_leave, 0, travel, \
              put, exec, sizeof(task_type), __alignof__(task_type), probability, 0, 0, 0, 0, 0, 0)
#define SUKIMA_TRAVELLING_LOOP_KIND(travel, point_type, put, exec, task_type, guard, probability,           \
                                    split_place)                                                            \
  SUKIMA_KIND(point_type, sukima_loop_open, sukima_loop_split, 0, 0, guard, sukima_loop_stop, sukima_leave, \
              0, travel, put, exec, sizeof(task_type), __alignof__(task_type), probability, split_place, 0, \
              0, 0, 0, 0)
#define SUKIMA_TRAVELLING_SUCCESSOR_LOOP_KIND(travel, point_type, advance, put_values, exec, task_type,      \
                                              guard, probability)                                            \
  SUKIMA_KIND(point_type, sukima_successor_loop_open, sukima_successor_loop_split, 0, 0, guard,              \
              sukima_loop_stop, sukima_leave, 0, travel, 0, exec, sizeof(task_type), __alignof__(task_type), \
              probability, 0, 0, 0, 0, advance, put_values)
#define SUKIMA_JOIN_KIND(point_type, run)                                                                  \
  SUKIMA_KIND(point_type, sukima_loop_open, sukima_join_split, 0, 0, 0, sukima_loop_stop, sukima_leave, 0, \
              0, 0, 0, 0, 0, 0, 0, 0, 0, run, 0, 0)
#define SUKIMA_WIND_KIND(point_type, before, after)                                                         \
  SUKIMA_KIND(point_type, sukima_never_open, 0, sukima_wind_undo, sukima_wind_redo, 0, 0, 0, 1, 0, 0, 0, 0, \
              0, 0, 0, before, after, 0, 0, 0)

sukima_bool sukima_never_open(const sukima_choice_point* r);
sukima_bool sukima_do_two_open(const sukima_choice_point* r);
sukima_bool sukima_loop_open(const sukima_choice_point* r);
struct sukima_task* sukima_do_two_split(sukima_choice_point* r);
struct sukima_task* sukima_loop_split(sukima_choice_point* r);
sukima_bool sukima_successor_loop_open(const sukima_choice_point* r);
struct sukima_task* sukima_successor_loop_split(sukima_choice_point* r);
struct sukima_task* sukima_join_split(sukima_choice_point* r);
void sukima_loop_stop(sukima_choice_point* r);
void sukima_wind_undo(sukima_choice_point* r);
void sukima_wind_redo(sukima_choice_point* r);
double sukima_guard(sukima_choice_point* r);
void sukima_leave(sukima_choice_point* r);

/** Kinds of the choice points of `poll;` (a plain sukima_poll_point) and of `try`. */
extern const sukima_kind sukima_poll_kind;
extern const sukima_kind sukima_try_kind;
typedef struct sukima_poll_point {
  sukima_choice_point sukima_head;
} __attribute__((aligned(16))) sukima_poll_point;

/* ---- polls ------------------------------------------------------------------------------------------ */

/** Size of the region that holds a fiber's choice stack. The fiber's limit is at a fixed offset in that
 *  region (choice_point.hpp). */
#define SUKIMA_CHOICE_SPAN ((sukima_word)1 << 26)
#define SUKIMA_GATE_OFFSET ((sukima_word)(65536 + 2048))

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SUKIMA_PLAIN_TEST 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
#define SUKIMA_PLAIN_TEST 1
#endif

void sukima_poll_slow_c(sukima_choice_point* r) __attribute__((cold, noinline, nothrow));

/* The limit is a member of a struct, because gcc counts an addition, but not a member's offset, when it
 * decides whether to inline a function into itself. fib takes 1.6 times as long as without constructs, and
 * 2.9 times with the addition. */
struct sukima_gate {
  char before[SUKIMA_GATE_OFFSET];
  char* limit;
};
#define SUKIMA_LIMIT(address) \
  (((struct sukima_gate*)((sukima_word)(address) & ~(SUKIMA_CHOICE_SPAN - 1)))->limit)

/** The poll of a complete choice point: at the entry of do_two and join, before an iteration, and in `poll;`.
 *  It serves pending requests: any handler of this fiber may run, the fiber may continue on another thread,
 *  and an abort leaves from here. poll_assembly.h lists the registers that are lost.
 *
 *  The choice points of dynamic_wind and `try` poll as well when they are complete. Such a poll answers no
 *  request (the kind is marked `quiet`), but the runtime records that the stack has changed. A choice point
 *  that was never polled breaks backtracking. */
__attribute__((always_inline)) static __inline__ void sukima_poll(sukima_choice_point* r) {
#if !defined(SUKIMA_PLAIN_TEST)
  SUKIMA_POLL_ASSEMBLY(r, SUKIMA_LIMIT(r));
#else
  if (__builtin_expect((char*)r < __atomic_load_n(&SUKIMA_LIMIT(r), __ATOMIC_RELAXED), 0))
    sukima_poll_slow_c(r);
#endif
}

/** The poll after S1 of a do_two. \returns 1 if no other worker has touched the choice point, so that S2 runs
 *  here. The address is computed again, because otherwise clang keeps it in a register across S1. */
__attribute__((always_inline)) static __inline__ int sukima_untouched(const sukima_choice_point* r) {
  const char* at = (const char*)r;
  __asm__("" : "+r"(at));
  return __builtin_expect(at >= __atomic_load_n(&SUKIMA_LIMIT(at), __ATOMIC_RELAXED), 1) != 0;
}

/** Whether work was split off from this choice point. Only its owner may call this. */
__attribute__((always_inline)) static __inline__ int sukima_was_split(const sukima_choice_point* r) {
  return __builtin_expect((r->sukima_kind_or_child & 1) != 0, 0) != 0;
}

/* ---- sequential clones -------------------------------------------------------------------------------- */

/** The expected time of the calls of a worker function, by the depth of the caller's choice points. The
 *  layout is that of sukima_clone_site (clone.h). Initially all zero. */
typedef struct sukima_call_site {
  void* sukima_traced;
  struct {
    unsigned sukima_expected, sukima_samples;
  } sukima_at[64];
} sukima_call_site;

/** The forms of a worker function, for one call. */
enum {
  SUKIMA_AS_CHOOSING, /**< in parallel; the calls below choose again */
  SUKIMA_AS_CLONE, /**< as a sequential clone */
  SUKIMA_AS_PARALLEL, /**< in parallel; no call below is a clone */
  SUKIMA_AS_TIMED_CHOOSING, /**< as SUKIMA_AS_CHOOSING; the call is timed */
  SUKIMA_AS_TIMED_CLONE /**< as SUKIMA_AS_CLONE; the call is timed */
};

/** Chooses the form of a call by the time that the site expects. \returns one of these forms */
int sukima_call_begins(const sukima_call_site* site, char* top) __attribute__((nothrow));
/** Returns the time for timed calls, in ticks of the CPU's counter. */
unsigned long long sukima_call_ticks(void) __attribute__((nothrow));
/** Records that a timed call of a function, which began at `begun`, has returned. */
void sukima_call_ended(sukima_call_site* site, const char* function, char* top, unsigned long long begun)
    __attribute__((cold, noinline, nothrow));

/** The fast part of a clone's poll. \returns 1 if the slow part must run */
__attribute__((always_inline)) static __inline__ int sukima_is_raised(const char* top) {
  return __builtin_expect(top < __atomic_load_n(&SUKIMA_LIMIT(top), __ATOMIC_RELAXED), 0) != 0;
}
/** The slow part of a clone's poll. Serves pending requests. \returns 1 if another worker got no work, or the
 *  fiber must stop: the rest of the clone must run in parallel */
int sukima_poll_in_clone(char* top);

/* ---- the ends of constructs -------------------------------------------------------------------------- */

/** Joins the tasks that were split off from a do_two or a parallel loop, when the owner has done its own
 *  part. If the fiber must stop, or a child ended by a throw, the function leaves instead of returning.
 *  \returns the finished task for GET, for a loop the task with the first iterations; NULL if no task was
 *           taken */
void* sukima_join(sukima_choice_point* r) __attribute__((cold, noinline, nothrow));
/** Frees a task after GET. \returns the finished task of the next iterations; NULL if that was the last */
void* sukima_next(void* task) __attribute__((cold, noinline, nothrow));
/** Frees the task of a do_two after GET. */
void sukima_free(void* task) __attribute__((cold, noinline, nothrow));
/** Waits for the statements of a join that was split: at its end, and on every way out of it except a throw.
 *  */
void sukima_await(sukima_choice_point* r) __attribute__((cold, noinline, nothrow));
/** Aborts and awaits the tasks of a do_two or loop that was split, on a way out by return, break, continue or
 *  goto. */
void sukima_abandon(sukima_choice_point* r) __attribute__((cold, noinline, nothrow));

/* ---- try and throw ----------------------------------------------------------------------------------- */

/** The result of sukima_try when a tag was thrown to it. */
#define SUKIMA_THROWN (-1)

/** Calls body(top, frame), which returns the number of the exit by which it ended (0 or more, as the compiler
 *  numbers the exits).
 *  Before the call, the program sets the choice point's word (the address of sukima_try_kind) and its tag,
 *  and polls the choice point.
 *  \param top end of the choice point
 *  \returns what body returns; SUKIMA_THROWN if the tag was thrown: everything above the choice point was
 *           left then */
int sukima_try(sukima_try_point* r, int (*body)(char* top, void* frame), void* frame, char* top)
    __attribute__((nothrow));

/** Leaves the nearest enclosing `try` with an equal tag, across functions and tasks.
 *  \param top         end of the youngest choice point
 *  \param tag         the tag
 *  \param file, line  for the message if no try catches the tag */
void sukima_throw(char* top, sukima_size tag, const char* file, int line) __attribute__((cold, noreturn));

/* ---- entering, and what belongs to workers and threads ------------------------------------------------ */

/** The C entry of a worker function: calls run(top, frame) as a worker and starts the runtime if necessary.
 *  Returns when `run` has returned or was left by an uncaught throw. */
void sukima_enter(void (*run)(char* top, void* frame), void* frame);

/** A worker_local object, which has static storage in the program. */
typedef struct sukima_worker_object {
  sukima_size size;
  sukima_size align;
  const void* initial; /**< each worker's object begins as a copy of this */
  void* objects; /**< for the runtime; initially NULL */
} sukima_worker_object;

/** Returns the running worker's object, or that of the code outside workers. The pointer must not be kept
 *  across a poll. Ends the program with a message if there is no memory for the object. */
void* sukima_worker_local(sukima_worker_object* object);

/** Returns the address of the running thread's errno. Each call computes it again, because a fiber may move
 *  to another thread. */
int* sukima_errno(void);

#ifdef __cplusplus
}
#endif

#endif

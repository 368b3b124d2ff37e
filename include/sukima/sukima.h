/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that programs in the Tascell language may call. Plain C may include this header as well. */
#ifndef SUKIMA_SUKIMA_H
#define SUKIMA_SUKIMA_H

#include <errno.h>
#include <stdio.h>

#include <sukima/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/** \addtogroup c_interface
 *  @{ */

#if defined(__SUKIMA_SEQUENTIAL__)
/* `sukima cc --sequential`: no runtime at all. */
static __inline__ int sukima_worker_id(void) { return 0; }
static __inline__ int sukima_worker_count(void) { return 1; }
static __inline__ void sukima_weight_set(double weight) { (void)weight; }
static __inline__ int sukima_workers_set(int count) { return count < 1 || count > 1024 ? EINVAL : 0; }
static __inline__ void sukima_statistics(FILE* file) { fputs("sequential: no workers\n", file); }
#else
/** Returns the number of the worker that runs this code, from 0; -1 outside worker functions. The code may
 *  run on another worker after a construct or a call of a worker function. */
int sukima_worker_id(void);
/** Sets how much work thieves can take from the calling task. With SUKIMA_VICTIM=weighted, idle workers try
 *  its worker first with a probability in proportion to the weight. The weight holds until it is set again or
 *  the fiber of the task ends; a new fiber has 1. Has no effect outside worker functions.
 *  \param weight 0 or less, and NaN: 0; more than 1e9: 1e9 */
void sukima_weight_set(double weight);
/** Returns the largest number of workers that may run at a time, the entering thread included. */
int sukima_worker_count(void);
/** Uses that many workers from the next entering call on, as if SUKIMA_WORKERS had been set.
 *  References to `sukima::default_runtime()` end with the runtime that it replaces.
 *  \param count 1 to 1024
 *  \returns 0; or, with nothing changed, EINVAL for another count, EBUSY while an entering call of any thread
 *           runs, while a launched future (C++) has not ended, and once the process has shared an entry with
 *           other nodes */
int sukima_workers_set(int count);
/** Writes the counts of the workers so far to a file, as a table for people. \param file open for writing */
void sukima_statistics(FILE* file);
#endif

/** Returns the reason why this thread's last call of a worker function from plain C ended without a result: a
 *  text that is valid until the next such call; NULL after a call with a result. In plain C that a worker
 *  function called, an uncaught `throw` does not end the call alone: it continues into that worker function.
 *
 *  Once a thread has called this function, it handles errors itself: a call that ends by an uncaught `throw`
 *  then returns zero. On other threads such a call ends the program with status 70. */
const char* sukima_last_error(void);

#if defined(__SUKIMA_SEQUENTIAL__)
#define SUKIMA_REDUCE(x, op)                  \
  __extension__({                             \
    __typeof__((x)op(x)) sukima_value_ = (x); \
    sukima_value_;                            \
  })
#define SUKIMA_REDUCE_WITH(x, f)                 \
  __extension__({                                \
    __typeof__(f((x), (x))) sukima_value_ = (x); \
    (void)(f);                                   \
    sukima_value_;                               \
  })
#else
/** Combines the values of a worker_local lvalue (the object, a member, an element) with a binary operator:
 *  SUKIMA_REDUCE(count, +). The operands are the value of the code outside workers, and that of each worker
 *  that has used the object. Use it in plain C while no entering call runs. Once several nodes have shared an
 *  entry it ends the program with status 70, because the objects of other nodes' workers are in other
 *  processes. */
#define SUKIMA_REDUCE(x, op)                                                       \
  __extension__({                                                                  \
    sukima_reduction_begin();                                                      \
    __typeof__((x)op(x)) sukima_value_ = (x);                                      \
    while (sukima_reduction_next()) {                                              \
      __typeof__((x)op(x)) sukima_next_ = (x);                                     \
      if (sukima_reduction_found()) sukima_value_ = sukima_value_ op sukima_next_; \
    }                                                                              \
    sukima_value_;                                                                 \
  })
/** The same with a function f(sum, value). */
#define SUKIMA_REDUCE_WITH(x, f)                                                    \
  __extension__({                                                                   \
    sukima_reduction_begin();                                                       \
    __typeof__(f((x), (x))) sukima_value_ = (x);                                    \
    while (sukima_reduction_next()) {                                               \
      __typeof__(f((x), (x))) sukima_next_ = (x);                                   \
      if (sukima_reduction_found()) sukima_value_ = f(sukima_value_, sukima_next_); \
    }                                                                               \
    sukima_value_;                                                                  \
  })

/** For these macros: begins a reduction, with the value of the code outside workers. */
void sukima_reduction_begin(void);
/** For these macros: from now on a worker_local lvalue means the object of the next worker. \returns 0 if
 *  there is no further worker */
int sukima_reduction_next(void);
/** For these macros: whether that worker has used the object. */
int sukima_reduction_found(void);
#endif

/** @} */

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential clones, the part that C and C++ share: how long the work at a place of a program is expected to
 * take, and the slow paths in the runtime. A clone is the version of a function in which forks are calls and
 * loops are loops. It pushes no choice points, so all choice points of its fiber are below the address at
 * which it began. */
#ifndef SUKIMA_DETAIL_CLONE_H
#define SUKIMA_DETAIL_CLONE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Deeper forks share the last entry. */
enum { sukima_clone_depths = 64 };

/* One place where a clone may begin: a fork, loop or search of the source. All workers use it. Each word is
 * read and written separately, with relaxed order; a lost update costs no more than one sample. Initially
 * all words are zero. */
struct sukima_clone_site {
  void* traced; /* the counters of a trace; null: there is no trace */
  struct {
    uint32_t expected; /* ticks that a call at this depth takes */
    uint32_t samples; /* how many calls were timed; stops at `sukima_clone_first_samples` */
  } at[sukima_clone_depths];
};

/* The number of calls that are timed before any clone begins. Their longest time is the first expectation. */
enum { sukima_clone_first_samples = 4 };

/* Records a call that took this number of ticks. An expectation rises faster than it falls, because a clone
 * that runs too long keeps other workers waiting, whereas an unnecessary fork costs a nanosecond. `place` is
 * the site's name in `sukima explain`; it is copied at the first call. */
void sukima_clone_learn(struct sukima_clone_site* site, const char* place, uint32_t depth, uint64_t ticks);

/* The slow half of a clone's poll, when its limit is raised. Serves the requests to the fiber, which may then
 * run on another thread: work is split off at its oldest choice point. Returns 0 if the clone continues.
 * Otherwise a worker that wants work got none, or an abort is pending, and the parallel version must run the
 * rest from `top`. */
int sukima_poll_in_clone(char* top);

/* Called when a clone that applies steps without choice points begins at `top`. No older choice point is
 * split until `sukima_reopen_older`, which gets the result, because the steps could not be undone. Neither
 * function throws. */
char* sukima_close_older(char* top);
void sukima_reopen_older(char* top, char* older);

/* Counts a clone that begins at this depth on the fiber that owns the address. */
void sukima_count_clone(const struct sukima_clone_site* site, uint32_t depth, char* top);

#ifdef __cplusplus
}
#endif

#endif

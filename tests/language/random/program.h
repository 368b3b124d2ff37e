/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs as trees. Two interpreters run them: one is built from the language's constructs, the other
 * is their sequential erasure. */
#ifndef SUKIMA_TESTS_LANGUAGE_PROGRAM_H
#define SUKIMA_TESTS_LANGUAGE_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum operation {
  op_leaf, /* adds the workspace's state to the result */
  op_seq, /* child 0, child 1 */
  op_do_two, /* child 0, child 1; `leaves`: returns out of the first one */
  op_loop, /* child 0 for each i in [from, to); stops before `stop_at` */
  op_wind, /* changes the workspace around child 0 */
  op_try, /* child 0, catching `tag`; then child 1; `leaves`: returns out of the body at its end */
  op_throw, /* throws `tag` */
  op_join, /* children 0 and 1 spawned, child 2 by the owner */
  op_poll, /* `poll;` */
  op_nested, /* child 0 by an entry from C */
  op_foreign, /* children 0 and 1 by entries from C++ code that forks itself */
  operations
};

struct node {
  enum operation op;
  int number;
  struct node* child[3];
  int from, to;
  int stop_at; /* an iteration; below `from`: does not stop */
  int leaves; /* boolean */
  int hints; /* 0: none; 1: guard; 2: guard and split */
  double probability; /* of the guard */
  size_t tag;
};

/* A program's result: a hash of the numbers noted, in order. Appending is associative. */
struct part {
  uint64_t hash;
  uint64_t power;
};

/* The state that dynamic_wind changes. Each task has its own. */
enum { workspace_room = 64 };
struct workspace {
  int size;
  uint64_t value[workspace_room];
};

/* Statistics of a run. `wrong`: BEFORE or AFTER blocks that found a wrong state. */
struct counts {
  long befores, afters, puts, gets, wrong;
};

static inline void note(struct part* p, uint64_t v) {
  const uint64_t base = UINT64_C(0x9E3779B97F4A7C15);
  p->hash = p->hash * base + v + 1;
  p->power *= base;
}
static inline void append(struct part* p, const struct part* q) {
  p->hash = p->hash * q->power + q->hash;
  p->power *= q->power;
}
static inline void note_state(struct part* p, const struct node* n, const struct workspace* w) {
  note(p, (uint64_t)n->number);
  for (int k = 0; k < w->size; k++) note(p, w->value[k]);
}

/** Runs a program by the constructs, entered from C. \returns 0, or 1 if an uncaught tag ended it */
int run_program(const struct node* root, struct workspace* w, struct part* result);
/** The result that run_program must have. */
int expect_program(const struct node* root, struct workspace* w, struct part* result);
/** Runs the two children in parallel by the C++ interface and appends their results. */
void run_foreign(const struct node* n, const struct workspace* w, struct part* result);
/** Counts of all runs since the last call. */
struct counts take_counts(void);

#ifdef __cplusplus
}
#endif

#endif

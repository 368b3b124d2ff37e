/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter built from the constructs, as C in the form that the compiler emits. */
#include "program.h"

#include <limits.h>
#include <sukima/sukima.h>
#include <sukima/tascell/tascell.h>

#include <stdatomic.h>

static atomic_long befores_seen, afters_seen, puts_seen, gets_seen, wrong_seen;

static long take(atomic_long* c) { return atomic_exchange(c, 0L); }
struct counts take_counts(void) {
  struct counts c;
  c.befores = take(&befores_seen);
  c.afters = take(&afters_seen);
  c.puts = take(&puts_seen);
  c.gets = take(&gets_seen);
  c.wrong = take(&wrong_seen);
  return c;
}

static void count(atomic_long* c) { atomic_fetch_add_explicit(c, 1, memory_order_relaxed); }

static void change(struct workspace* space, int number) {
  count(&befores_seen);
  if (space->size >= workspace_room)
    count(&wrong_seen);
  else
    space->value[space->size++] = (uint64_t)number;
}
/* AFTERs run in the opposite order of the BEFOREs, each exactly once. */
static void restore(struct workspace* space, int number) {
  count(&afters_seen);
  if (space->size == 0) {
    count(&wrong_seen);
    return;
  }
  space->size--;
  if (space->value[space->size] != (uint64_t)number) count(&wrong_seen);
}

static void run_worker(char* top, const struct node* n, struct workspace* space, struct part* out);

/* ---- do_two ------------------------------------------------------------------------------------------- */

struct task_branch {
  struct workspace w;
  const struct node* n;
  struct part out;
};

struct two_1 {
  sukima_choice_point sukima_head;
  const struct node* n;
  struct workspace* w;
} __attribute__((aligned(16)));

static void two_1_put(void* record, void* task, int i1, int i2) {
  const struct two_1* r1 = record;
  struct task_branch* self = task;
  (void)i1;
  (void)i2;
  count(&puts_seen);
  self->w = *r1->w;
  self->n = r1->n->child[1];
  self->out.power = 1;
}
static void branch_exec(char* top, void* task) {
  struct task_branch* self = task;
  run_worker(top, self->n, &self->w, &self->out);
}
static double two_1_guard(void* record) { return ((const struct two_1*)record)->n->probability; }

static const sukima_kind two_1_kind =
    SUKIMA_DO_TWO_KIND(struct two_1, two_1_put, branch_exec, struct task_branch, 0, 0);
static const sukima_kind two_1_guarded_kind =
    SUKIMA_DO_TWO_KIND(struct two_1, two_1_put, branch_exec, struct task_branch, sukima_guard, two_1_guard);

static void two_worker(char* top, const struct node* n, struct workspace* space, struct part* out) {
  struct two_1* r1 = (void*)top;
  r1->sukima_head.sukima_kind_or_child = (uintptr_t)(n->hints ? &two_1_guarded_kind : &two_1_kind);
  r1->n = n;
  r1->w = space;
  sukima_poll(&r1->sukima_head);
  run_worker((char*)(r1 + 1), n->child[0], space, out);
  if (n->leaves) {
    if (sukima_was_split(&r1->sukima_head)) sukima_abandon(&r1->sukima_head);
    return;
  }
  struct task_branch* t1;
  if (sukima_untouched(&r1->sukima_head) || !(t1 = sukima_join(&r1->sukima_head))) {
    run_worker((char*)r1, n->child[1], space, out);
  } else {
    count(&gets_seen);
    append(out, &t1->out);
    sukima_free(t1);
  }
}

/* ---- parallel for ------------------------------------------------------------------------------------- */

struct task_range {
  struct workspace w;
  const struct node* n;
  int i1, i2;
  struct part out;
  int stopped;
};

struct range_1 {
  sukima_loop sukima_head;
  const struct node* n;
  struct workspace* w;
} __attribute__((aligned(16)));

static int range_worker(char* top, const struct node* n, struct workspace* space, int from, int to,
                        struct part* out);

static void range_1_put(void* record, void* task, int i1, int i2) {
  const struct range_1* r1 = record;
  struct task_range* self = task;
  count(&puts_seen);
  self->w = *r1->w;
  self->n = r1->n;
  self->i1 = i1;
  self->i2 = i2;
  self->out.power = 1;
}
static void range_exec(char* top, void* task) {
  struct task_range* self = task;
  self->stopped = range_worker(top, self->n, &self->w, self->i1, self->i2, &self->out);
}
static double range_1_guard(void* record) { return ((const struct range_1*)record)->n->probability; }
static int range_1_split(void* record, int i, int end) {
  const struct node* n = ((const struct range_1*)record)->n;
  return n->number % 3 == 0   ? (i < INT_MIN + 5 ? i : i - 5)
         : n->number % 3 == 1 ? end
                              : i + 1; /* is clamped */
}

static const sukima_kind range_1_kind =
    SUKIMA_LOOP_KIND(struct range_1, range_1_put, range_exec, struct task_range, 0, 0, 0);
static const sukima_kind range_1_guarded_kind = SUKIMA_LOOP_KIND(
    struct range_1, range_1_put, range_exec, struct task_range, sukima_guard, range_1_guard, 0);
static const sukima_kind range_1_split_kind = SUKIMA_LOOP_KIND(
    struct range_1, range_1_put, range_exec, struct task_range, sukima_guard, range_1_guard, range_1_split);

static int range_worker(char* top, const struct node* n, struct workspace* space, int from, int to,
                        struct part* out) {
  int stopped = 0;
  int i1_ = from;
  const int end1_ = to;
  if (i1_ < end1_) {
    struct range_1* r1 = (void*)top;
    r1->sukima_head.sukima_head.sukima_kind_or_child = (uintptr_t)(n->hints == 0   ? &range_1_kind
                                                                   : n->hints == 1 ? &range_1_guarded_kind
                                                                                   : &range_1_split_kind);
    r1->sukima_head.sukima_end = end1_;
    r1->n = n;
    r1->w = space;
    r1->sukima_head.sukima_i = i1_;
    do {
      sukima_poll(&r1->sukima_head.sukima_head);
      {
        const int i = i1_;
        if (n->stop_at >= n->from && i >= n->stop_at) {
          if (sukima_was_split(&r1->sukima_head.sukima_head)) sukima_abandon(&r1->sukima_head.sukima_head);
          return 1;
        }
        note(out, (uint64_t)(uint32_t)i);
        run_worker((char*)(r1 + 1), n->child[0], space, out);
      }
      r1->sukima_head.sukima_i = ++i1_;
    } while (i1_ < r1->sukima_head.sukima_end);
    if (sukima_was_split(&r1->sukima_head.sukima_head))
      for (struct task_range* t1 = sukima_join(&r1->sukima_head.sukima_head); t1 != NULL;
           t1 = sukima_next(t1)) {
        count(&gets_seen);
        if (!stopped) {
          append(out, &t1->out);
          stopped = t1->stopped;
        }
      }
  }
  return stopped;
}

/* ---- dynamic_wind ------------------------------------------------------------------------------------- */

struct wind_1 {
  sukima_choice_point sukima_head;
  struct workspace* w;
  int number;
} __attribute__((aligned(16)));

static void wind_1_before(void* record, int backtracking) {
  const struct wind_1* r1 = record;
  if (!backtracking) count(&wrong_seen);
  change(r1->w, r1->number);
}
static void wind_1_after(void* record, int backtracking) {
  const struct wind_1* r1 = record;
  (void)backtracking;
  restore(r1->w, r1->number);
}
static const sukima_kind wind_1_kind = SUKIMA_WIND_KIND(struct wind_1, wind_1_before, wind_1_after);

static void wind_worker(char* top, const struct node* n, struct workspace* space, struct part* out) {
  change(space, n->number);
  struct wind_1* r1 = (void*)top;
  r1->sukima_head.sukima_kind_or_child = (uintptr_t)&wind_1_kind;
  r1->w = space;
  r1->number = n->number;
  sukima_poll(&r1->sukima_head);
  run_worker((char*)(r1 + 1), n->child[0], space, out);
  restore(space, n->number);
}

/* ---- join and spawn ----------------------------------------------------------------------------------- */

struct join_1 {
  sukima_loop sukima_head;
  const struct node* n;
  struct workspace* w; /* one for each statement, made by the program */
  struct part* v;
} __attribute__((aligned(16)));

static void join_1_run(char* top, void* record, int i) {
  const struct join_1* r1 = record;
  run_worker(top, r1->n->child[i], &r1->w[i], &r1->v[i]);
}
static const sukima_kind join_1_kind = SUKIMA_JOIN_KIND(struct join_1, join_1_run);

static void join_worker(char* top, const struct node* n, struct workspace* space, struct part* out) {
  struct workspace own[3] = {*space, *space, *space};
  struct part v[3] = {{0, 1}, {0, 1}, {0, 1}};
  struct join_1* r1 = (void*)top;
  r1->sukima_head.sukima_head.sukima_kind_or_child = (uintptr_t)&join_1_kind;
  r1->n = n;
  r1->w = own;
  r1->v = v;
  r1->sukima_head.sukima_i = 0;
  r1->sukima_head.sukima_end = 2;
  sukima_poll(&r1->sukima_head.sukima_head);
  run_worker((char*)(r1 + 1), n->child[0], &own[0], &v[0]);
  r1->sukima_head.sukima_i = 1;
  if (1 < r1->sukima_head.sukima_end) run_worker((char*)(r1 + 1), n->child[1], &own[1], &v[1]);
  r1->sukima_head.sukima_i = r1->sukima_head.sukima_end; /* nothing is left to give away */
  run_worker((char*)(r1 + 1), n->child[2], &own[2], &v[2]);
  if (sukima_was_split(&r1->sukima_head.sukima_head)) sukima_await(&r1->sukima_head.sukima_head);
  for (int k = 0; k < 3; k++) append(out, &v[k]);
}

/* ---- try, throw, poll, entries ------------------------------------------------------------------------ */

struct try_frame {
  const struct node* n;
  struct workspace* w;
  struct part p;
};

static int try_1_body(char* top, void* frame) {
  struct try_frame* f = frame;
  run_worker(top, f->n->child[0], f->w, &f->p);
  return f->n->leaves ? 1 : 0;
}

static void try_worker(char* top, const struct node* n, struct workspace* space, struct part* out) {
  struct try_frame f = {n, space, {0, 1}};
  sukima_try_point* r1 = (void*)top;
  r1->sukima_head.sukima_kind_or_child = (uintptr_t)&sukima_try_kind;
  r1->sukima_tag = n->tag;
  sukima_poll(&r1->sukima_head);
  switch (sukima_try(r1, try_1_body, &f, (char*)(r1 + 1))) {
    case 0:
      append(out, &f.p);
      break;
    case 1:
      append(out, &f.p);
      return;
    default:
      note(out, (uint64_t)n->tag);
  }
  run_worker(top, n->child[1], space, out);
}

struct entry_frame {
  const struct node* n;
  struct workspace* w;
  struct part* out;
};
static void run_entry(char* top, void* frame) {
  struct entry_frame* f = frame;
  run_worker(top, f->n, f->w, f->out);
}

int run_program(const struct node* root, struct workspace* space, struct part* result) {
  const int before = space->size;
  (void)sukima_last_error(); /* this thread looks after errors itself */
  *result = (struct part){0, 1};
  struct entry_frame f = {root, space, result};
  sukima_enter(run_entry, &f);
  if (space->size != before) count(&wrong_seen);
  if (sukima_last_error() == NULL) return 0;
  *result = (struct part){0, 1};
  return 1;
}

static void run_worker(char* top, const struct node* n, struct workspace* space, struct part* out) {
  switch (n->op) {
    case op_leaf:
      note_state(out, n, space);
      break;
    case op_seq:
      run_worker(top, n->child[0], space, out);
      run_worker(top, n->child[1], space, out);
      break;
    case op_do_two:
      two_worker(top, n, space, out);
      break;
    case op_loop:
      (void)range_worker(top, n, space, n->from, n->to, out);
      break;
    case op_wind:
      wind_worker(top, n, space, out);
      break;
    case op_try:
      try_worker(top, n, space, out);
      break;
    case op_throw:
      sukima_throw(top, n->tag, __FILE__, __LINE__);
      break;
    case op_join:
      join_worker(top, n, space, out);
      break;
    case op_poll: {
      sukima_poll_point* r1 = (void*)top;
      r1->sukima_head.sukima_kind_or_child = (uintptr_t)&sukima_poll_kind;
      sukima_poll(&r1->sukima_head);
      note(out, (uint64_t)n->number);
      break;
    }
    case op_nested: {
      struct part p;
      if (run_program(n->child[0], space, &p) != 0)
        note(out, 0);
      else
        append(out, &p);
      break;
    }
    case op_foreign:
      run_foreign(n, space, out);
      break;
    case operations:
      break;
  }
}

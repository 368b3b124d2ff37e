/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's output for the n-queens search with a work array, by hand: a parallel loop, and a
 * dynamic_wind whose second copies of BEFORE and AFTER are functions over its choice point.
 *
 *   worker long place(struct board *b, int k, int from, int to) {
 *     if (k == b->n) return 1;
 *     long s = 0;
 *     for (int p : from, to) {
 *       if (b->column[p] || b->up[k + p] || b->down[k - p + b->n]) continue;
 *       dynamic_wind { set(b, k, p, 1); }
 *                    { s += place(b, k + 1, 0, b->n); }
 *                    { set(b, k, p, 0); }
 *     } handles queens (int i1, int i2) {
 *       this.b = *b; this.k = k; this.from = i1; this.to = i2;
 *     } { s += this.s; }
 *     return s;
 *   }
 *   task_exec queens { this.s = place(&this.b, this.k, this.from, this.to); }
 */
#include "emitted.h"

#include <sukima/tascell/tascell.h>

#include <stddef.h>

struct board {
  int n;
  char column[24];
  char up[48];
  char down[48];
};

static void set(struct board* b, int k, int p, char value) {
  b->column[p] = value;
  b->up[k + p] = value;
  b->down[k - p + b->n] = value;
}

struct task_queens {
  struct board b;
  int k, from, to;
  long s;
};

struct place_1 {
  sukima_loop sukima_head;
  struct board* b;
  int k;
} __attribute__((aligned(16)));

/* Lies right above a place_1. */
struct place_2 {
  sukima_choice_point sukima_head;
  int p;
} __attribute__((aligned(16)));

static long place_worker(char* top, struct board* b, int k, int from, int to);

static void place_1_put(void* choice_point, void* task, int i1, int i2) {
  const struct place_1* r1 = choice_point;
  struct task_queens* self = task;
  struct board* const b = r1->b;
  const int k = r1->k;
  {
    self->b = *b;
    self->k = k;
    self->from = i1;
    self->to = i2;
  }
}

static void place_exec(char* top, void* task) {
  struct task_queens* self = task;
  {
    self->s = place_worker(top, &self->b, self->k, self->from, self->to);
  }
}

static void place_2_before(void* choice_point, int backtracking) {
  const struct place_2* r2 = choice_point;
  const struct place_1* r1 = (const struct place_1*)(const void*)r2 - 1;
  (void)backtracking;
  {
    set(r1->b, r1->k, r2->p, 1);
  }
}

static void place_2_after(void* choice_point, int backtracking) {
  const struct place_2* r2 = choice_point;
  const struct place_1* r1 = (const struct place_1*)(const void*)r2 - 1;
  (void)backtracking;
  {
    set(r1->b, r1->k, r2->p, 0);
  }
}

static const sukima_kind place_1_kind =
    SUKIMA_LOOP_KIND(struct place_1, place_1_put, place_exec, struct task_queens, 0, 0, 0);
static const sukima_kind place_2_kind = SUKIMA_WIND_KIND(struct place_2, place_2_before, place_2_after);

static long place_worker(char* top, struct board* b, int k, int from, int to) {
  if (k == b->n) return 1;
  long s = 0;
  {
    int i1_ = from;
    const int end1_ = to;
    if (i1_ < end1_) {
      struct place_1* r1 = (void*)top;
      r1->sukima_head.sukima_head.sukima_kind_or_child = (sukima_word)&place_1_kind;
      r1->sukima_head.sukima_end = end1_;
      r1->b = b;
      r1->k = k;
      r1->sukima_head.sukima_i = i1_;
      do {
        sukima_poll(&r1->sukima_head.sukima_head);
        {
          const int p = i1_;
          if (b->column[p] || b->up[k + p] || b->down[k - p + b->n]) goto continue_1;
          {
            set(b, k, p, 1);
          }
          struct place_2* r2 = (void*)(r1 + 1);
          r2->sukima_head.sukima_kind_or_child = (sukima_word)&place_2_kind;
          r2->p = p;
          sukima_poll(&r2->sukima_head);
          {
            s += place_worker((char*)(r2 + 1), b, k + 1, 0, b->n);
          }
          {
            set(b, k, p, 0);
          }
        }
      continue_1:
        r1->sukima_head.sukima_i = ++i1_;
      } while (i1_ < r1->sukima_head.sukima_end);
      if (sukima_was_split(&r1->sukima_head.sukima_head))
        for (struct task_queens* t1 = sukima_join(&r1->sukima_head.sukima_head); t1 != NULL;
             t1 = sukima_next(t1)) {
          {
            s += t1->s;
          }
        }
    }
  }
  return s;
}

struct queens_entry {
  long result;
  struct board* b;
};

static void queens_enter(char* top, void* frame) {
  struct queens_entry* f = frame;
  f->result = place_worker(top, f->b, 0, 0, f->b->n);
}

long emitted_queens(int n) {
  struct board b = {.n = n};
  struct queens_entry f = {0, &b};
  sukima_enter(queens_enter, &f);
  for (int p = 0; p < n; p++)
    if (b.column[p]) return -1; /* every AFTER ran as often as its BEFORE */
  return f.result;
}

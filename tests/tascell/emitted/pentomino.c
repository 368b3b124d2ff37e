/* SPDX-License-Identifier: Apache-2.0 */
/* The pentomino search, emitted by hand: a dynamic_wind in an ordinary loop in a parallel loop, whose blocks
 * need what the parallel loop's choice point has captured. The text in the language is like
 * examples/tascell's.
 */
#include "emitted.h"

#include <sukima/tascell/tascell.h>

#include <stdlib.h>
#include <string.h>

enum { pieces = 12, columns = 7, cells = 70, squares = 5 };

static const char* const shapes[pieces] = {"XXXXX",       "XXXX/X...",   "XXXX/.X..",   "XXX/XX.",
                                           "XXX/X.X",     "XXX./..XX",   "XXX/X../X..", "XX./.XX/..X",
                                           "XX./.X./.XX", ".XX/XX./.X.", ".X./XXX/.X.", "XXX/.X./.X."};
static int orientations[pieces];
static int offsets[pieces][8][squares];

static int by_value(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

static void turn(const int* row, const int* column, int way, int* result) {
  for (int k = 0; k < squares; k++) {
    int y = row[k], x = column[k];
    if (way & 4) {
      const int z = x;
      x = y;
      y = z;
    }
    if (way & 1) x = -x;
    if (way & 2) y = -y;
    result[k] = y * columns + x;
  }
  qsort(result, squares, sizeof *result, by_value);
  for (int k = squares - 1; k >= 0; k--) result[k] -= result[0];
}

static void prepare(void) {
  for (int p = 0; p < pieces; p++) {
    int row[squares], column[squares], n = 0, y = 0, x = 0;
    orientations[p] = 0;
    for (const char* s = shapes[p]; *s; s++) {
      if (*s == '/') {
        y++;
        x = 0;
        continue;
      }
      if (*s == 'X') {
        row[n] = y;
        column[n++] = x;
      }
      x++;
    }
    for (int way = 0; way < 8; way++) {
      int turned[squares], known = 0;
      turn(row, column, way, turned);
      for (int e = 0; e < orientations[p]; e++) known |= !memcmp(offsets[p][e], turned, sizeof turned);
      if (!known) memcpy(offsets[p][orientations[p]++], turned, sizeof turned);
    }
  }
}

struct task_pentomino {
  int k, i0, i1, i2;
  int a[pieces];
  int b[cells];
  long s;
};

static int fits(const struct task_pentomino* task, int k, int piece, int d) {
  for (int e = 0; e < squares; e++) {
    const int at = k + offsets[piece][d][e];
    if (at >= cells || task->b[at]) return 0;
  }
  return 1;
}

static void place(struct task_pentomino* task, int k, int j0, int p, int d) {
  const int piece = task->a[p];
  task->a[p] = task->a[j0];
  task->a[j0] = piece;
  for (int e = 0; e < squares; e++) task->b[k + offsets[piece][d][e]] = piece + 2;
}

static void unplace(struct task_pentomino* task, int k, int j0, int p, int d) {
  const int piece = task->a[j0];
  for (int e = 0; e < squares; e++) task->b[k + offsets[piece][d][e]] = 0;
  task->a[j0] = task->a[p];
  task->a[p] = piece;
}

static int first_free(const struct task_pentomino* task, int k) {
  while (k < cells && task->b[k]) k++;
  return k < cells ? k : -1;
}

struct search_1 {
  sukima_loop sukima_head;
  struct task_pentomino* t;
  int k, j0;
} __attribute__((aligned(16)));

struct search_2 {
  sukima_choice_point sukima_head;
  int p, d;
} __attribute__((aligned(16)));

static long search_worker(char* top, int k, int j0, int j1, int j2, struct task_pentomino* task);

static void search_1_put(void* choice_point, void* task, int i1, int i2) {
  const struct search_1* r1 = choice_point;
  struct task_pentomino* self = task;
  struct task_pentomino* const t = r1->t;
  const int k = r1->k, j0 = r1->j0;
  {
    memcpy(self->a, t->a, sizeof self->a);
    memcpy(self->b, t->b, sizeof self->b);
    self->k = k;
    self->i0 = j0;
    self->i1 = i1;
    self->i2 = i2;
  }
}

static void search_exec(char* top, void* task) {
  struct task_pentomino* self = task;
  {
    self->s = search_worker(top, self->k, self->i0, self->i1, self->i2, self);
  }
}

static void search_2_before(void* choice_point, int backtracking) {
  const struct search_2* r2 = choice_point;
  const struct search_1* r1 = (const struct search_1*)(const void*)r2 - 1;
  (void)backtracking;
  {
    place(r1->t, r1->k, r1->j0, r2->p, r2->d);
  }
}

static void search_2_after(void* choice_point, int backtracking) {
  const struct search_2* r2 = choice_point;
  const struct search_1* r1 = (const struct search_1*)(const void*)r2 - 1;
  (void)backtracking;
  {
    unplace(r1->t, r1->k, r1->j0, r2->p, r2->d);
  }
}

static const sukima_kind search_1_kind =
    SUKIMA_LOOP_KIND(struct search_1, search_1_put, search_exec, struct task_pentomino, 0, 0, 0);
static const sukima_kind search_2_kind = SUKIMA_WIND_KIND(struct search_2, search_2_before, search_2_after);

static long search_worker(char* top, int k, int j0, int j1, int j2, struct task_pentomino* task) {
  long s = 0;
  {
    int i1_ = j1;
    const int end1_ = j2;
    if (i1_ < end1_) {
      struct search_1* r1 = (void*)top;
      r1->sukima_head.sukima_head.sukima_kind_or_child = (sukima_word)&search_1_kind;
      r1->sukima_head.sukima_end = end1_;
      r1->t = task;
      r1->k = k;
      r1->j0 = j0;
      r1->sukima_head.sukima_i = i1_;
      do {
        sukima_poll(&r1->sukima_head.sukima_head);
        {
          const int p = i1_;
          const int piece = task->a[p];
          for (int d = 0; d < orientations[piece]; d++) {
            if (!fits(task, k, piece, d)) continue;
            {
              place(task, k, j0, p, d);
            }
            struct search_2* r2 = (void*)(r1 + 1);
            r2->sukima_head.sukima_kind_or_child = (sukima_word)&search_2_kind;
            r2->p = p;
            r2->d = d;
            sukima_poll(&r2->sukima_head);
            {
              const int next = first_free(task, k);
              s += next < 0 ? 1 : search_worker((char*)(r2 + 1), next, j0 + 1, j0 + 1, pieces, task);
            }
            {
              unplace(task, k, j0, p, d);
            }
          }
        }
        r1->sukima_head.sukima_i = ++i1_;
      } while (i1_ < r1->sukima_head.sukima_end);
      if (sukima_was_split(&r1->sukima_head.sukima_head))
        for (struct task_pentomino* t1 = sukima_join(&r1->sukima_head.sukima_head); t1 != NULL;
             t1 = sukima_next(t1)) {
          {
            s += t1->s;
          }
        }
    }
  }
  return s;
}

struct pentomino_entry {
  long result;
  int to;
  struct task_pentomino* t;
};

static void pentomino_enter(char* top, void* frame) {
  struct pentomino_entry* f = frame;
  f->result = search_worker(top, 0, 0, 0, f->to, f->t);
}

long emitted_pentomino(int to) {
  prepare();
  struct task_pentomino t = {.k = 0};
  for (int p = 0; p < pieces; p++) t.a[p] = p;
  for (int k = 0; k < cells; k++) t.b[k] = k % columns == columns - 1;
  const struct task_pentomino before = t;
  struct pentomino_entry f = {0, to, &t};
  sukima_enter(pentomino_enter, &f);
  return memcmp(&t, &before, sizeof t) != 0 ? -1 : f.result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's output for fib, by hand: two calls that may run at the same time.
 *
 *   task fib { in int n; out long r; };
 *   worker long fib(int n) {
 *     if (n < 2) return n;
 *     long s1, s2;
 *     do_two { s1 = fib(n - 1); } { s2 = fib(n - 2); }
 *     handles fib { this.n = n - 2; } { s2 = this.r; }
 *     return s1 + s2;
 *   }
 *   task_exec fib { this.r = fib(this.n); }
 */
#include "emitted.h"

#include <sukima/tascell/tascell.h>

struct task_fib {
  int n;
  long r;
};

struct fib_1 {
  sukima_choice_point sukima_head;
  int n;
} __attribute__((aligned(16)));

static long fib_worker(char* top, int n);

static void fib_1_put(void* choice_point, void* task, int i1, int i2) {
  const struct fib_1* r1 = choice_point;
  struct task_fib* self = task;
  const int n = r1->n;
  (void)i1;
  (void)i2;
  {
    self->n = n - 2;
  }
}

static void fib_exec(char* top, void* task) {
  struct task_fib* self = task;
  {
    self->r = fib_worker(top, self->n);
  }
}

static const sukima_kind fib_1_kind =
    SUKIMA_DO_TWO_KIND(struct fib_1, fib_1_put, fib_exec, struct task_fib, 0, 0);

static long fib_worker(char* top, int n) {
  if (n < 2) return n;
  long s1, s2;
  {
    struct fib_1* r1 = (void*)top;
    r1->sukima_head.sukima_kind_or_child = (sukima_word)&fib_1_kind;
    r1->n = n;
    sukima_poll(&r1->sukima_head);
    {
      s1 = fib_worker((char*)(r1 + 1), n - 1);
    }
    struct task_fib* t1;
    if (sukima_untouched(&r1->sukima_head) || !(t1 = sukima_join(&r1->sukima_head))) {
      s2 = fib_worker((char*)r1, r1->n - 2);
    } else {
      {
        s2 = t1->r;
      }
      sukima_free(t1);
    }
  }
  return s1 + s2;
}

/* The C entry. */
struct fib_entry {
  long result;
  int n;
};

static void fib_enter(char* top, void* frame) {
  struct fib_entry* f = frame;
  f->result = fib_worker(top, f->n);
}

long emitted_fib(int n) {
  struct fib_entry f = {0, n};
  sukima_enter(fib_enter, &f);
  return f.result;
}

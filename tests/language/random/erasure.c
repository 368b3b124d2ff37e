/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential erasure of a program: no runtime; exits are return codes. */
#include "program.h"

enum { left_normally = 0, left_by_return = 1, left_by_throw = 2 };

static int expect(const struct node* n, struct workspace* space, struct part* out, size_t* tag);

static int expect_loop(const struct node* n, struct workspace* space, struct part* out, size_t* tag) {
  for (int i = n->from; i < n->to; i++) {
    if (n->stop_at >= n->from && i >= n->stop_at) return left_normally;
    note(out, (uint64_t)(uint32_t)i);
    const int left = expect(n->child[0], space, out, tag);
    if (left == left_by_throw) return left;
  }
  return left_normally;
}

static int expect_join(const struct node* n, const struct workspace* space, struct part* out, size_t* tag) {
  for (int k = 0; k < 3; k++) {
    struct workspace own = *space;
    struct part p = {0, 1};
    if (expect(n->child[k], &own, &p, tag) == left_by_throw) return left_by_throw;
    append(out, &p);
  }
  return left_normally;
}

/* As in the parallel interpreter, a `return` in a construct ends this call only. */
static int expect(const struct node* n, struct workspace* space, struct part* out, size_t* tag) {
  switch (n->op) {
    case op_leaf:
      note_state(out, n, space);
      return left_normally;
    case op_seq:
      if (expect(n->child[0], space, out, tag) == left_by_throw) return left_by_throw;
      return expect(n->child[1], space, out, tag) == left_by_throw ? left_by_throw : left_normally;
    case op_do_two:
      if (expect(n->child[0], space, out, tag) == left_by_throw) return left_by_throw;
      if (n->leaves) return left_by_return;
      return expect(n->child[1], space, out, tag) == left_by_throw ? left_by_throw : left_normally;
    case op_loop:
      return expect_loop(n, space, out, tag);
    case op_wind: {
      space->value[space->size++] = (uint64_t)n->number;
      const int left = expect(n->child[0], space, out, tag);
      space->size--;
      return left == left_by_throw ? left : left_normally;
    }
    case op_try: {
      struct part p = {0, 1};
      const int left = expect(n->child[0], space, &p, tag);
      if (left == left_by_throw && *tag != n->tag) return left;
      if (left == left_by_throw) {
        note(out, (uint64_t)n->tag);
      } else {
        append(out, &p);
        if (n->leaves) return left_by_return;
      }
      return expect(n->child[1], space, out, tag) == left_by_throw ? left_by_throw : left_normally;
    }
    case op_throw:
      *tag = n->tag;
      return left_by_throw;
    case op_join:
      return expect_join(n, space, out, tag);
    case op_poll:
      note(out, (uint64_t)n->number);
      return left_normally;
    case op_nested: {
      struct part p = {0, 1};
      if (expect(n->child[0], space, &p, tag) == left_by_throw) {
        note(out, 0); /* the entry's call returns without a result */
        return left_normally;
      }
      append(out, &p);
      return left_normally;
    }
    case op_foreign:
      for (int k = 0; k < 2; k++) {
        struct workspace own = *space;
        struct part p = {0, 1};
        if (expect(n->child[k], &own, &p, tag) == left_by_throw)
          note(out, 0);
        else
          append(out, &p);
      }
      return left_normally;
    case operations:
      break;
  }
  return left_normally;
}

int expect_program(const struct node* root, struct workspace* space, struct part* result) {
  size_t tag = 0;
  *result = (struct part){0, 1};
  if (expect(root, space, result, &tag) != left_by_throw) return 0;
  *result = (struct part){0, 1};
  return 1;
}

// SPDX-License-Identifier: Apache-2.0
// Simulated application BT: the flow problem by alternating directions, a block tridiagonal system along
// each line. Specification: RNR-94-007, section 3.3.2.
#include <string.h>

#include "flow.h"
#include "npb.h"

enum { longest_line = 64 };

/// The blocks of a line: below, on and above the diagonal.
struct line {
  flow_block below[longest_line], on[longest_line], above[longest_line];
};

static void set_blocks(const struct flow* f, size_t first, int direction, struct line* line) {
  const size_t s = flow_stride(f, direction);
  flow_block convective;
  flow_block viscous;
  const double d1 = f->dt * f->t1;
  const double d2 = f->dt * f->t2;
  for (int i = 0; i < f->size; ++i) {
    const double* const u = f->u + first + (size_t)i * s;
    flow_convective(u, direction, convective);
    flow_viscous(u, direction, viscous);
    for (int r = 0; r < flow_fields; ++r)
      for (int c = 0; c < flow_fields; ++c) {
        const double diffusion = r == c ? flow_diffusion(direction) : 0;
        // A point's Jacobians are in its own row and in those of its neighbours.
        if (i + 1 < f->size)
          line->below[i + 1][r][c] = -d2 * convective[r][c] - d1 * (viscous[r][c] + diffusion);
        line->on[i][r][c] = (r == c ? 1 : 0) + 2 * d1 * (viscous[r][c] + diffusion);
        if (i > 0) line->above[i - 1][r][c] = d2 * convective[r][c] - d1 * (viscous[r][c] + diffusion);
      }
  }
}

/// Solves along one line and overwrites the right side. The boundary's step is zero, so the inner points are
/// a system by themselves.
static void solve_line(struct flow* f, size_t first, int direction, struct line* line) {
  const size_t s = flow_stride(f, direction);
  const int last = f->size - 2;
  set_blocks(f, first, direction, line);
  for (int i = 1; i <= last; ++i) {
    double* const r = f->rhs + first + (size_t)i * s;
    if (i > 1) {
      const double* const before = f->rhs + first + (size_t)(i - 1) * s;
      for (int a = 0; a < flow_fields; ++a)
        for (int b = 0; b < flow_fields; ++b) {
          const double factor = line->below[i][a][b];
          r[a] -= factor * before[b];
          for (int c = 0; c < flow_fields; ++c) line->on[i][a][c] -= factor * line->above[i - 1][b][c];
        }
    }
    flow_block copy;
    memcpy(copy, line->on[i], sizeof copy);
    flow_solve(copy, r, 1);
    if (i < last) flow_solve(line->on[i], &line->above[i][0][0], flow_fields);
  }
  for (int i = last - 1; i >= 1; --i) {
    double* const r = f->rhs + first + (size_t)i * s;
    const double* const after = f->rhs + first + (size_t)(i + 1) * s;
    for (int a = 0; a < flow_fields; ++a)
      for (int b = 0; b < flow_fields; ++b) r[a] -= line->above[i][a][b] * after[b];
  }
}

static void solve_direction(struct flow* f, int direction) {
  const int n = f->size;
#pragma omp parallel
  {
    struct line line;
#pragma omp for
    for (int b = 1; b < n - 1; ++b)
      for (int a = 1; a < n - 1; ++a) {
        const size_t first = direction == 0   ? flow_at(f, 0, a, b)
                             : direction == 1 ? flow_at(f, a, 0, b)
                                              : flow_at(f, a, b, 0);
        solve_line(f, first, direction, &line);
      }
  }
}

static void step(struct flow* f) {
  const size_t all = flow_stride(f, 2) * (size_t)f->size;
  flow_compute_rhs(f);
#pragma omp parallel for
  for (size_t i = 0; i < all; ++i) f->rhs[i] *= f->dt;
  for (int direction = 0; direction < 3; ++direction) solve_direction(f, direction);
#pragma omp parallel for
  for (size_t i = 0; i < all; ++i) f->u[i] += f->rhs[i];
}

struct npb_result npb_bt(char class_name) {
  static const double residual[2][flow_fields] = {
      {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02, 2.6436421275166801e-02,
       1.9211784131744430e-01},
      {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
       0.2638427874317e+03}};
  static const double error[2][flow_fields] = {
      {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05, 7.3821238632439731e-05,
       8.9269630987491446e-04},
      {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
       0.1018045837718e+02}};
  const int row = class_name == 'S' ? 0 : 1;
  const int steps = row == 0 ? 60 : 200;
  struct flow f = row == 0 ? flow_make(12, 0.010) : flow_make(24, 0.0008);
  return flow_run(&f, step, steps, residual[row], error[row]);
}

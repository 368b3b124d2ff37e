// SPDX-License-Identifier: Apache-2.0
// The flow problem of BT, SP and LU; see flow.h.
#include "flow.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const double c1 = 1.4;
static const double c2 = 0.4;
static const double c34 = 0.1;  // c3 c4
static const double c1345 = 1.4 * 0.1 * 1.4;
static const double c15 = 1.4 * 1.4;
static const double dissipation = 0.25;
static const double four_thirds = 4.0 / 3.0;
enum { longest_line = 128 };

/// Coefficients of the exact solution, a polynomial of the fourth degree without mixed terms.
static const double exact_coefficients[flow_fields][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}};

static void exact(const struct flow* f, int i, int j, int k, double value[flow_fields]) {
  const double place[3] = {(double)i / (f->size - 1), (double)j / (f->size - 1), (double)k / (f->size - 1)};
  for (int m = 0; m < flow_fields; ++m) {
    const double* const c = exact_coefficients[m];
    value[m] = c[0];
    for (int d = 0; d < 3; ++d)
      value[m] +=
          place[d] * (c[1 + d] + place[d] * (c[4 + d] + place[d] * (c[7 + d] + place[d] * c[10 + d])));
  }
}

/// The convective flux at a point.
static void flux_at(const double* u, int direction, double flux[flow_fields]) {
  const double velocity = u[1 + direction] / u[0];
  const double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0];
  flux[0] = u[1 + direction];
  for (int m = 1; m < 4; ++m) flux[m] = u[m] * velocity;
  flux[1 + direction] += c2 * (u[4] - kinetic);
  flux[4] = (c1 * u[4] - c2 * kinetic) * velocity;
}

/// The viscous flux between two neighbours.
static void viscous_between(const double* a, const double* b, int direction, double t3,
                            double flux[flow_fields]) {
  double squares_a = 0;
  double squares_b = 0;
  for (int m = 1; m < 4; ++m) {
    const double va = a[m] / a[0];
    const double vb = b[m] / b[0];
    flux[m] = (m == 1 + direction ? four_thirds : 1) * t3 * (vb - va);
    squares_a += va * va;
    squares_b += vb * vb;
  }
  const double wa = a[1 + direction] / a[0];
  const double wb = b[1 + direction] / b[0];
  flux[0] = 0;
  flux[4] = 0.5 * (1 - c15) * t3 * (squares_b - squares_a) + t3 / 6 * (wb * wb - wa * wa) +
            c15 * t3 * (b[4] / b[0] - a[4] / a[0]);
}

/// Fourth-order dissipation at point i of a line of n; the points next to the boundary have formulas of
/// their own.
static double dissipation_at(const double* u, size_t s, int i, int n) {
  const double here = u[0];
  if (i == 1) return 5 * here - 4 * u[s] + u[2 * s];
  if (i == 2) return -4 * *(u - s) + 6 * here - 4 * u[s] + u[2 * s];
  if (i == n - 3) return *(u - 2 * s) - 4 * *(u - s) + 6 * here - 4 * u[s];
  if (i == n - 2) return *(u - 2 * s) - 4 * *(u - s) + 5 * here;
  return *(u - 2 * s) - 4 * *(u - s) + 6 * here - 4 * u[s] + u[2 * s];
}

/// Adds the operator along one line to `out` at its inner points. `first` is where the line begins.
static void add_line(const struct flow* f, const double* field, double* out, size_t first, int direction) {
  double flux[longest_line][flow_fields];
  double viscous[longest_line][flow_fields];
  const int n = f->size;
  const size_t s = flow_stride(f, direction);
  const double* const u = field + first;
  for (int i = 0; i < n; ++i) {
    flux_at(u + (size_t)i * s, direction, flux[i]);
    if (i > 0) viscous_between(u + (size_t)(i - 1) * s, u + (size_t)i * s, direction, f->t3, viscous[i]);
  }
  for (int i = 1; i < n - 1; ++i) {
    double* const r = out + first + (size_t)i * s;
    for (int m = 0; m < flow_fields; ++m) {
      const double* const here = u + (size_t)i * s + (size_t)m;
      r[m] += -f->t2 * (flux[i + 1][m] - flux[i - 1][m]) + f->t3 * c34 * (viscous[i + 1][m] - viscous[i][m]) +
              flow_diffusion(direction) * f->t1 * (*(here - s) - 2 * here[0] + here[s]) -
              dissipation * dissipation_at(here, s, i, n);
    }
  }
}

/// Adds the operator in one direction; the lines are independent of each other.
static void add_direction(const struct flow* f, const double* field, double* out, int direction) {
  const int n = f->size;
#pragma omp for
  for (int b = 1; b < n - 1; ++b) {
    for (int a = 1; a < n - 1; ++a) {
      const size_t first = direction == 0   ? flow_at(f, 0, a, b)
                           : direction == 1 ? flow_at(f, a, 0, b)
                                            : flow_at(f, a, b, 0);
      add_line(f, field, out, first, direction);
    }
  }
}

void flow_compute_rhs(struct flow* f) {
  const size_t all = flow_stride(f, 2) * (size_t)f->size;
#pragma omp parallel
  {
#pragma omp for
    for (size_t i = 0; i < all; ++i) f->rhs[i] = f->forcing[i];
    for (int direction = 0; direction < 3; ++direction) add_direction(f, f->u, f->rhs, direction);
  }
}

struct flow flow_make(int size, double dt) {
  const double h = 1.0 / (size - 1);
  struct flow f = {size, dt, 1 / (h * h), 1 / (2 * h), 1 / h, NULL, NULL, NULL};
  const size_t all = flow_stride(&f, 2) * (size_t)size;
  f.u = npb_allocate(all, sizeof(double));
  f.rhs = npb_allocate(all, sizeof(double));
  f.forcing = npb_allocate(all, sizeof(double));
  for (int k = 0; k < size; ++k)
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) exact(&f, i, j, k, f.u + flow_at(&f, i, j, k));
  for (int direction = 0; direction < 3; ++direction) add_direction(&f, f.u, f.forcing, direction);
  for (size_t i = 0; i < all; ++i) f.forcing[i] = -f.forcing[i];
  return f;
}

void flow_free(struct flow* f) { free(f->u), free(f->rhs), free(f->forcing); }

/// Between the exact values on the boundary, in each direction linearly, and combined as the specification
/// says.
static void interpolate(const struct flow* f, int i, int j, int k, double value[flow_fields]) {
  const int place[3] = {i, j, k};
  double sides[3][flow_fields];
  for (int d = 0; d < 3; ++d) {
    int low[3] = {i, j, k};
    int high[3] = {i, j, k};
    low[d] = 0;
    high[d] = f->size - 1;
    double a[flow_fields];
    double b[flow_fields];
    exact(f, low[0], low[1], low[2], a);
    exact(f, high[0], high[1], high[2], b);
    const double part = (double)place[d] / (f->size - 1);
    for (int m = 0; m < flow_fields; ++m) sides[d][m] = (1 - part) * a[m] + part * b[m];
  }
  for (int m = 0; m < flow_fields; ++m) {
    const double x = sides[0][m];
    const double y = sides[1][m];
    const double z = sides[2][m];
    value[m] = x + y + z - x * y - y * z - z * x + x * y * z;
  }
}

void flow_set_initial(struct flow* f) {
  const int last = f->size - 1;
  for (int k = 0; k <= last; ++k)
    for (int j = 0; j <= last; ++j)
      for (int i = 0; i <= last; ++i) {
        const bool boundary = i == 0 || j == 0 || k == 0 || i == last || j == last || k == last;
        double* const u = f->u + flow_at(f, i, j, k);
        if (boundary) {
          exact(f, i, j, k, u);
        } else {
          interpolate(f, i, j, k, u);
        }
      }
}

void flow_convective(const double* u, int direction, flow_block a) {
  const int w = 1 + direction;
  const double r = 1 / u[0];
  const double kinetic = 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) * r * r;
  const double vw = u[w] * r;
  memset(a, 0, sizeof(flow_block));
  a[0][w] = 1;
  for (int m = 1; m < 4; ++m) {
    const double v = u[m] * r;
    a[m][0] = -v * vw;
    a[m][w] += v;
    a[m][m] += vw;
    a[4][m] = -c2 * v * vw;
  }
  a[w][0] += c2 * kinetic;
  for (int m = 1; m < 4; ++m) a[w][m] -= c2 * u[m] * r;
  a[w][4] = c2;
  a[4][0] = (2 * c2 * kinetic - c1 * u[4] * r) * vw;
  a[4][w] += c1 * u[4] * r - c2 * kinetic;
  a[4][4] = c1 * vw;
}

void flow_viscous(const double* u, int direction, flow_block n) {
  const double r = 1 / u[0];
  memset(n, 0, sizeof(flow_block));
  for (int m = 1; m < 4; ++m) {
    const double factor = m == 1 + direction ? four_thirds * c34 : c34;
    n[m][0] = -factor * r * r * u[m];
    n[m][m] = factor * r;
    n[4][0] -= (factor - c1345) * r * r * r * u[m] * u[m];
    n[4][m] = (factor - c1345) * r * r * u[m];
  }
  n[4][0] -= c1345 * r * r * u[4];
  n[4][4] = c1345 * r;
}

void flow_solve(flow_block a, double* b, int columns) {
  for (int p = 0; p < flow_fields; ++p) {
    const double pivot = 1 / a[p][p];
    for (int m = p + 1; m < flow_fields; ++m) a[p][m] *= pivot;
    for (int c = 0; c < columns; ++c) b[p * columns + c] *= pivot;
    for (int row = 0; row < flow_fields; ++row) {
      if (row == p) continue;
      const double factor = a[row][p];
      for (int m = p + 1; m < flow_fields; ++m) a[row][m] -= factor * a[p][m];
      for (int c = 0; c < columns; ++c) b[row * columns + c] -= factor * b[p * columns + c];
    }
  }
}

void flow_norms(const struct flow* f, double scale, double residual[flow_fields], double error[flow_fields]) {
  const int n = f->size;
  memset(residual, 0, flow_fields * sizeof(double));
  memset(error, 0, flow_fields * sizeof(double));
  for (int k = 1; k < n - 1; ++k)
    for (int j = 1; j < n - 1; ++j)
      for (int i = 1; i < n - 1; ++i) {
        double wanted[flow_fields];
        exact(f, i, j, k, wanted);
        const size_t at = flow_at(f, i, j, k);
        for (int m = 0; m < flow_fields; ++m) {
          const double r = f->rhs[at + (size_t)m] / scale;
          const double e = f->u[at + (size_t)m] - wanted[m];
          residual[m] += r * r;
          error[m] += e * e;
        }
      }
  const double points = pow(n - 2, 3);
  for (int m = 0; m < flow_fields; ++m) {
    residual[m] = sqrt(residual[m] / points);
    error[m] = sqrt(error[m] / points);
  }
}

bool flow_verified(const struct flow* f, double scale, const double residual[flow_fields],
                   const double error[flow_fields]) {
  double found_residual[flow_fields];
  double found_error[flow_fields];
  flow_norms(f, scale, found_residual, found_error);
  bool right = true;
  for (int m = 0; m < flow_fields; ++m)
    right =
        right && npb_close(found_residual[m], residual[m], 1e-8) && npb_close(found_error[m], error[m], 1e-8);
  return right;
}

struct npb_result flow_run(struct flow* f, void (*step)(struct flow*), int steps,
                           const double residual[flow_fields], const double error[flow_fields]) {
  struct npb_result result = {0, 0, false};
  result.threads = npb_count_threads();
  flow_set_initial(f);
  step(f);
  flow_set_initial(f);
  const double begin = omp_get_wtime();
  for (int i = 0; i < steps; ++i) step(f);
  result.seconds = omp_get_wtime() - begin;
  flow_compute_rhs(f);
  result.verified = flow_verified(f, 1, residual, error);
  flow_free(f);
  return result;
}

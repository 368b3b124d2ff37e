// SPDX-License-Identifier: Apache-2.0
// Simulated application LU: symmetric successive over-relaxation of the flow problem. The triangular
// solutions are pipelined: each thread has some rows, and waits for its neighbour, plane by plane, by
// spinning on a flag, as in the published OpenMP program. No setting of the runtime changes how these waits
// are done. Specification: RNR-94-007, section 3.3.4.
#include <omp.h>
#include <stdatomic.h>
#include <string.h>

#include "flow.h"
#include "npb.h"

static const double omega = 1.2;
enum { most_threads = 256 };

/// How many planes a thread has finished, on a cache line of its own.
struct progress {
  _Alignas(64) atomic_int planes;
};
static struct progress done[most_threads];

/// A block of the triangular matrices: from the neighbour on one side (sign -1) or the other (+1) in a
/// direction.
static void off_diagonal(const struct flow* f, const double* u, int direction, int sign, flow_block block) {
  flow_block convective;
  flow_block viscous;
  flow_convective(u, direction, convective);
  flow_viscous(u, direction, viscous);
  for (int r = 0; r < flow_fields; ++r)
    for (int c = 0; c < flow_fields; ++c)
      block[r][c] = f->dt * (sign * f->t2 * convective[r][c] - f->t1 * viscous[r][c]);
  for (int m = 0; m < flow_fields; ++m) block[m][m] -= f->dt * f->t1 * flow_diffusion(direction);
}

static void diagonal(const struct flow* f, const double* u, flow_block block) {
  memset(block, 0, sizeof(flow_block));
  for (int direction = 0; direction < 3; ++direction) {
    flow_block viscous;
    flow_viscous(u, direction, viscous);
    for (int r = 0; r < flow_fields; ++r)
      for (int c = 0; c < flow_fields; ++c) block[r][c] += 2 * f->dt * f->t1 * viscous[r][c];
    for (int m = 0; m < flow_fields; ++m) block[m][m] += 2 * f->dt * f->t1 * flow_diffusion(direction);
  }
  for (int m = 0; m < flow_fields; ++m) block[m][m] += 1;
}

/// Solves at one point, from the neighbours on one side. Forwards the right side itself is replaced,
/// backwards the solution is taken off it.
static void relax_point(struct flow* f, int i, int j, int k, int sign) {
  const size_t at = flow_at(f, i, j, k);
  double sum[flow_fields] = {0};
  for (int direction = 0; direction < 3; ++direction) {
    const size_t s = flow_stride(f, direction);
    const size_t neighbour = sign < 0 ? at - s : at + s;
    flow_block block;
    off_diagonal(f, f->u + neighbour, direction, sign, block);
    for (int r = 0; r < flow_fields; ++r)
      for (int c = 0; c < flow_fields; ++c) sum[r] += omega * block[r][c] * f->rhs[neighbour + (size_t)c];
  }
  flow_block block;
  diagonal(f, f->u + at, block);
  double* const v = f->rhs + at;
  if (sign < 0) {
    for (int m = 0; m < flow_fields; ++m) v[m] -= sum[m];
    flow_solve(block, v, 1);
  } else {
    flow_solve(block, sum, 1);
    for (int m = 0; m < flow_fields; ++m) v[m] -= sum[m];
  }
}

static void wait_for(int thread, int planes) {
  while (atomic_load_explicit(&done[thread].planes, memory_order_acquire) < planes) {
  }
}

/// One triangular solution by all threads of a region. The first rows are thread 0's; backwards the last
/// ones begin.
static void sweep(struct flow* f, int sign) {
  const int inner = f->size - 2;
  const int threads = omp_get_num_threads();
  const int self = omp_get_thread_num();
  const int begin = 1 + self * inner / threads;
  const int end = 1 + (self + 1) * inner / threads;
  const int before = self + (sign < 0 ? -1 : 1);
  atomic_store(&done[self].planes, 0);
#pragma omp barrier
  for (int plane = 1; plane <= inner; ++plane) {
    const int k = sign < 0 ? plane : inner + 1 - plane;
    if (before >= 0 && before < threads) wait_for(before, plane);
    for (int row = begin; row < end; ++row) {
      const int j = sign < 0 ? row : begin + end - 1 - row;
      for (int point = 1; point <= inner; ++point)
        relax_point(f, sign < 0 ? point : inner + 1 - point, j, k, sign);
    }
    atomic_store_explicit(&done[self].planes, plane, memory_order_release);
  }
#pragma omp barrier
}

static void step(struct flow* f) {
  const size_t all = flow_stride(f, 2) * (size_t)f->size;
#pragma omp parallel
  {
#pragma omp for
    for (size_t i = 0; i < all; ++i) f->rhs[i] *= f->dt;
    sweep(f, -1);
    sweep(f, +1);
    const double factor = 1 / (omega * (2 - omega));
#pragma omp for
    for (size_t i = 0; i < all; ++i) f->u[i] += factor * f->rhs[i];
  }
  flow_compute_rhs(f);
}

struct npb_result npb_lu(char class_name) {
  static const double residual[2][flow_fields] = {
      {1.6196343210976702e-02, 2.1976745164821318e-03, 1.5179927653399185e-03, 1.5029584435994323e-03,
       3.4264073155896461e-02},
      {0.1236511638192e+02, 0.1317228477799e+01, 0.2550120713095e+01, 0.2326187750252e+01,
       0.2826799444189e+02}};
  static const double error[2][flow_fields] = {
      {6.4223319957960924e-04, 8.4144342047347926e-05, 5.8588269616485186e-05, 5.8474222595157350e-05,
       1.3103347914111294e-03},
      {0.4867877144216e+00, 0.5064652880982e-01, 0.9281818101960e-01, 0.8570126542733e-01,
       0.1084277417792e+01}};
  const int row = class_name == 'S' ? 0 : 1;
  const int steps = row == 0 ? 50 : 300;
  struct flow f = row == 0 ? flow_make(12, 0.5) : flow_make(33, 1.5e-3);
  flow_set_initial(&f);
  struct npb_result result = {0, 0, false};
  result.threads = npb_count_threads();
  flow_compute_rhs(&f);
  const double begin = omp_get_wtime();
  for (int i = 0; i < steps; ++i) step(&f);
  result.seconds = omp_get_wtime() - begin;
  result.verified = flow_verified(&f, 1, residual[row], error[row]);
  flow_free(&f);
  return result;
}

// SPDX-License-Identifier: Apache-2.0
// The flow problem of the simulated applications BT, SP and LU: the compressible Navier-Stokes equations with
// a source term that makes a polynomial the steady solution. Specification: RNR-94-007, chapter 3 (sections
// 3.2 to 3.4).
#ifndef SUKIMA_BENCH_NPB_FLOW_H
#define SUKIMA_BENCH_NPB_FLOW_H

#include <stdbool.h>
#include <stddef.h>

#include "npb.h"

/// Density, three momenta, energy.
enum { flow_fields = 5 };

typedef double flow_block[flow_fields][flow_fields];

/// A cube of `size` points in each direction. A field is five numbers at each point; x varies fastest.
struct flow {
  int size;
  double dt;  ///< time step
  double t1, t2, t3;  ///< 1/h^2, 1/2h, 1/h for the distance h of the points
  double* u;  ///< the solution
  double* rhs;  ///< the right-hand side, and the step computed from it
  double* forcing;  ///< the source term
};

/// The diffusion coefficient in a direction (0 is x), equal for all five fields.
static inline double flow_diffusion(int direction) { return direction == 2 ? 1.0 : 0.75; }

/// Returns the index of a point's five numbers.
static inline size_t flow_at(const struct flow* f, int i, int j, int k) {
  return (size_t)flow_fields * ((size_t)i + (size_t)f->size * ((size_t)j + (size_t)f->size * (size_t)k));
}

/// Returns the distance from a point to the next one in a direction.
static inline size_t flow_stride(const struct flow* f, int direction) {
  const size_t size = (size_t)f->size;
  return flow_fields * (direction == 0 ? 1 : direction == 1 ? size : size * size);
}

struct flow flow_make(int size, double dt);
void flow_free(struct flow* f);

/// Sets the solution to the exact one on the boundary and to the specified interpolation inside.
void flow_set_initial(struct flow* f);

/// Computes rhs = spatial operator of u, minus that of the exact solution, in three parallel loops.
void flow_compute_rhs(struct flow* f);

/// Compute the Jacobians of the convective flux and of the viscous flux in a direction at a point.
void flow_convective(const double* u, int direction, flow_block jacobian);
void flow_viscous(const double* u, int direction, flow_block jacobian);

/// Solves a x = b for a five by five matrix, overwriting b, for `columns` right sides that are in rows of b.
/// a is destroyed. The matrices here need no pivoting.
void flow_solve(flow_block a, double* b, int columns);

/// Computes root mean squares over the inner points: of rhs / `scale`, and of the error of the solution.
void flow_norms(const struct flow* f, double scale, double residual[flow_fields], double error[flow_fields]);

/// Returns whether both norms are the published ones, within 1e-8.
bool flow_verified(const struct flow* f, double scale, const double residual[flow_fields],
                   const double error[flow_fields]);

/// Runs that many steps from the initial state, after one that is not timed, as BT and SP specify. Frees `f`.
struct npb_result flow_run(struct flow* f, void (*step)(struct flow*), int steps,
                           const double residual[flow_fields], const double error[flow_fields]);

#endif

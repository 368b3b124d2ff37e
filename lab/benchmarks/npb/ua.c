// SPDX-License-Identifier: Apache-2.0
// Kernel UA, unstructured adaptive: heat from a moving ball is carried by the classical Runge-Kutta method
// and spread by conjugate gradients, on a mesh that follows the ball. Many short parallel loops, each
// a region by itself, and atomic sums over index lists that change with the mesh. Specification: NAS-04-006.
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "npb.h"
#include "ua.h"

enum { solver_steps = 10, adaptation_steps = 5, most_levels = 7, own_line = ua_line - 2 };

static const double velocity = 3;  // in all three directions
static const double viscosity = 0.005;
static const double pi = 3.14159265358979323846;
static const double start[3] = {3.0 / 7, 2.0 / 7, 2.0 / 7};

struct problem {
  struct ua_basis basis;
  struct ua_columns columns;
  struct ua_mesh mesh;
  struct ua_mortars mortars;
  double radius;  ///< of the ball
  double dt;
  double time;
  struct ua_scale scale[most_levels];  ///< of the operator, by level
  double own_inverse[most_levels][ua_own];  ///< 1 / diagonal at an element's own nodes, by level
  double* inverse;  ///< 1 / diagonal at the points
  // The vectors of the conjugate gradients at the elements' own nodes (27 each) and at the points.
  double *own_x, *own_r, *own_p, *own_q;
  double *x, *r, *p, *q;
};

/// Returns the number, among an element's nodes, of one of its own 27.
static int node_of(int own) {
  return ua_plane * (own / (own_line * own_line) + 1) + ua_line * (own / own_line % own_line + 1) +
         own % own_line + 1;
}

static double* heat_of(const struct problem* s, int e) { return s->mesh.heat + (size_t)ua_nodes * (size_t)e; }

/// The ball's centre at a time.
static void centre_at(double time, double centre[3]) {
  for (int d = 0; d < 3; ++d) centre[d] = start[d] + velocity * time;
}

static void adapt(struct problem* s) {
  double centre[3];
  centre_at(s->time, centre);
  if (!ua_adapt(&s->mesh, &s->basis, centre, s->radius)) return;
  ua_mortars_renew(&s->mortars, &s->mesh, &s->basis);
  ua_diagonal(&s->columns, &s->mortars, &s->mesh, &s->basis, s->scale, s->inverse);
#pragma omp parallel for
  for (int i = 0; i < s->mortars.count; ++i) s->inverse[i] = 1 / s->inverse[i];
}

/// rate = heating - velocity . gradient u.
static void rate_of(const struct problem* problem, const struct ua_element* e, double time, const double* u,
                    double* rate) {
  const double side = 1.0 / (1 << e->level);
  ua_along_lines(problem->basis.derivative, u, rate);
  for (int n = 0; n < ua_nodes; ++n) rate[n] *= -velocity * 2 / side;
  double centre[3];
  centre_at(time, centre);
  if (!ua_touches(&problem->mesh, e, centre, problem->radius)) return;
  double square[3][ua_line];  // of the distance from the centre in each direction
  for (int d = 0; d < 3; ++d)
    for (int i = 0; i < ua_line; ++i) {
      const double distance =
          (double)e->place[d] / problem->mesh.side + problem->basis.place[i] * side - centre[d];
      square[d][i] = distance * distance;
    }
  for (int n = 0; n < ua_nodes; ++n) {
    const double r2 = square[0][n % ua_line] + square[1][n / ua_line % ua_line] + square[2][n / ua_plane];
    if (r2 <= problem->radius * problem->radius) rate[n] += cos(sqrt(r2) * (pi / problem->radius)) + 1;
  }
}

/// Whether a node is on the surface of the whole cube.
static bool on_surface(const struct ua_mesh* m, const struct ua_element* e, int n) {
  const int index[3] = {n % ua_line, n / ua_line % ua_line, n / ua_plane};
  for (int d = 0; d < 3; ++d)
    if ((index[d] == 0 && e->place[d] == 0) ||
        (index[d] == ua_line - 1 && e->place[d] + ua_side(m, e->level) == m->side))
      return true;
  return false;
}

/// Whether an element has a face on it.
static bool at_surface(const struct ua_mesh* m, const struct ua_element* e) {
  for (int d = 0; d < 3; ++d)
    if (e->place[d] == 0 || e->place[d] + ua_side(m, e->level) == m->side) return true;
  return false;
}

/// Carries the heat of one element for a time step; the cube's surface stays cold.
static void carry(const struct problem* problem, int e) {
  static const double part[4] = {0, 0.5, 0.5, 1};
  static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  const struct ua_element* const element = &problem->mesh.element[e];
  double* const u = heat_of(problem, e);
  double at[ua_nodes];
  double rate[ua_nodes] = {0};
  double sum[ua_nodes] = {0};
  for (int stage = 0; stage < 4; ++stage) {
    for (int n = 0; n < ua_nodes; ++n) at[n] = u[n] + part[stage] * problem->dt * rate[n];
    rate_of(problem, element, problem->time + part[stage] * problem->dt, at, rate);
    for (int n = 0; n < ua_nodes; ++n) sum[n] += weight[stage] * rate[n];
  }
  const bool inside = !at_surface(&problem->mesh, element);
  for (int n = 0; n < ua_nodes; ++n)
    if (inside || !on_surface(&problem->mesh, element, n)) u[n] += problem->dt * sum[n];
}

/// Carries all heat, and makes it one across elements: x = mean values at the points.
static void convect(struct problem* s) {
  const int points = s->mortars.count;
#pragma omp parallel for
  for (int i = 0; i < points; ++i) s->x[i] = s->r[i] = 0;
#pragma omp parallel for
  for (int e = 0; e < s->mesh.count; ++e) {
    carry(s, e);
    ua_scatter_plain(&s->mortars, &s->basis, e, heat_of(s, e), s->x);
  }
#pragma omp parallel for
  for (int i = 0; i < points; ++i) s->x[i] *= s->mortars.share[i];
}

/// r = residual of the mean values in the time step's equation, own x = 0, p = 0; returns the product of r
/// with the scaled r.
static double begin_diffusion(struct problem* problem) {
  double product = 0;
#pragma omp parallel for reduction(+ : product)
  for (int e = 0; e < problem->mesh.count; ++e) {
    const struct ua_scale scale = problem->scale[problem->mesh.element[e].level];
    double* const u = heat_of(problem, e);
    double had[ua_nodes];
    double lack[ua_nodes];
    for (int n = 0; n < ua_nodes; ++n) had[n] = problem->basis.weight[n] * scale.mass * u[n];
    ua_gather(&problem->mortars, &problem->basis, e, problem->x, u);
    ua_apply(&problem->basis, scale, u, lack);
    for (int n = 0; n < ua_nodes; ++n) lack[n] = had[n] - lack[n];
    ua_scatter(&problem->mortars, &problem->basis, e, lack, problem->r);
    const double* const inverse = problem->own_inverse[problem->mesh.element[e].level];
    const size_t first = (size_t)ua_own * (size_t)e;
    for (int i = 0; i < ua_own; ++i) {
      const double r = problem->own_r[first + (size_t)i] = lack[node_of(i)];
      problem->own_x[first + (size_t)i] = problem->own_p[first + (size_t)i] = 0;
      product += r * r * inverse[i];
    }
  }
#pragma omp parallel for reduction(+ : product)
  for (int i = 0; i < problem->mortars.count; ++i) {
    problem->r[i] *= problem->mortars.inside[i];
    problem->p[i] = 0;
    product += problem->r[i] * problem->r[i] * problem->inverse[i];
  }
  return product;
}

/// p = scaled r + beta p, q = A p; gives the product of p and q.
static double multiply(struct problem* problem, double beta) {
  const int points = problem->mortars.count;
#pragma omp parallel for
  for (int i = 0; i < points; ++i) {
    problem->p[i] = problem->inverse[i] * problem->r[i] + beta * problem->p[i];
    problem->q[i] = 0;
  }
  double product = 0;
#pragma omp parallel for reduction(+ : product)
  for (int e = 0; e < problem->mesh.count; ++e) {
    const int level = problem->mesh.element[e].level;
    const double* const inverse = problem->own_inverse[level];
    const double* const r = problem->own_r + (size_t)ua_own * (size_t)e;
    double* const p = problem->own_p + (size_t)ua_own * (size_t)e;
    double* const q = problem->own_q + (size_t)ua_own * (size_t)e;
    double u[ua_nodes];
    double image[ua_nodes];
    for (int i = 0; i < ua_own; ++i) u[node_of(i)] = p[i] = inverse[i] * r[i] + beta * p[i];
    ua_gather(&problem->mortars, &problem->basis, e, problem->p, u);
    ua_apply(&problem->basis, problem->scale[level], u, image);
    ua_scatter(&problem->mortars, &problem->basis, e, image, problem->q);
    for (int i = 0; i < ua_own; ++i) {
      q[i] = image[node_of(i)];
      product += p[i] * q[i];
    }
  }
#pragma omp parallel for reduction(+ : product)
  for (int i = 0; i < points; ++i) {
    problem->q[i] *= problem->mortars.inside[i];
    product += problem->p[i] * problem->q[i];
  }
  return product;
}

/// x += alpha p, r -= alpha q; gives the product of r with the scaled r.
static double advance(struct problem* problem, double alpha) {
  double product = 0;
#pragma omp parallel for reduction(+ : product)
  for (int e = 0; e < problem->mesh.count; ++e) {
    const double* const inverse = problem->own_inverse[problem->mesh.element[e].level];
    const size_t first = (size_t)ua_own * (size_t)e;
    for (size_t i = 0; i < ua_own; ++i) {
      problem->own_x[first + i] += alpha * problem->own_p[first + i];
      const double r = problem->own_r[first + i] -= alpha * problem->own_q[first + i];
      product += r * r * inverse[i];
    }
  }
#pragma omp parallel for reduction(+ : product)
  for (int i = 0; i < problem->mortars.count; ++i) {
    problem->x[i] += alpha * problem->p[i];
    const double r = problem->r[i] -= alpha * problem->q[i];
    product += r * r * problem->inverse[i];
  }
  return product;
}

/// Spreads the heat for a time step. The solution of the conjugate gradients at the points is added to the
/// mean values there.
static void diffuse(struct problem* problem) {
  double product = begin_diffusion(problem);
  double beta = 0;
  for (int step = 0; step < solver_steps; ++step) {
    const double alpha = product / multiply(problem, beta);
    const double next = advance(problem, alpha);
    beta = next / product;
    product = next;
  }
#pragma omp parallel for
  for (int e = 0; e < problem->mesh.count; ++e) {
    double* const u = heat_of(problem, e);
    const double* const x = problem->own_x + (size_t)ua_own * (size_t)e;
    for (int i = 0; i < ua_own; ++i) u[node_of(i)] += x[i];
    ua_gather(&problem->mortars, &problem->basis, e, problem->x, u);
  }
}

/// The integral of the temperature over the cube.
static double integral(const struct problem* s) {
  double total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int e = 0; e < s->mesh.count; ++e) {
    double sum = 0;
    for (int n = 0; n < ua_nodes; ++n) sum += s->basis.weight[n] * heat_of(s, e)[n];
    const double half = 0.5 / (1 << s->mesh.element[e].level);
    total += sum * half * half * half;
  }
  return total;
}

static struct problem* make_problem(int finest, double radius, int elements, int points) {
  struct problem* const s = npb_allocate(1, sizeof *s);
  ua_basis_make(&s->basis);
  ua_columns_make(&s->columns, &s->basis);
  s->mesh = ua_mesh_make(finest, elements);
  s->mortars = ua_mortars_make(&s->mesh, points);
  s->radius = radius;
  s->dt = 0.04 / (1 << finest);
  for (int level = 0; level <= finest; ++level) {
    const double half = 0.5 / (1 << level);
    s->scale[level] = (struct ua_scale){viscosity * half, half * half * half / s->dt};
    for (int i = 0; i < ua_own; ++i) {
      const struct ua_scale column = s->columns.node[node_of(i)];
      s->own_inverse[level][i] =
          1 / (column.stiffness * s->scale[level].stiffness + column.mass * s->scale[level].mass);
    }
  }
  double** const own[] = {&s->own_x, &s->own_r, &s->own_p, &s->own_q};
  double** const all[] = {&s->x, &s->r, &s->p, &s->q, &s->inverse};
  for (int v = 0; v < 4; ++v) *own[v] = npb_allocate((uint64_t)elements * ua_own, sizeof(double));
  for (int v = 0; v < 5; ++v) *all[v] = npb_allocate((uint64_t)points, sizeof(double));
  return s;
}

static void free_problem(struct problem* s) {
  ua_mesh_free(&s->mesh);
  ua_mortars_free(&s->mortars);
  free(s->own_x), free(s->own_r), free(s->own_p), free(s->own_q);
  free(s->x), free(s->r), free(s->p), free(s->q), free(s->inverse), free(s);
}

struct npb_result npb_ua(char class_name) {
  static const struct {
    int finest;
    int steps;
    double radius;
    int elements;
    int points;
    double integral;
  } classes[] = {{4, 50, 0.040, 250, 11600, 0.1890013110962e-02},
                 {5, 100, 0.060, 700, 26700, 0.2569794837076e-04},
                 {6, 200, 0.076, 2400, 92700, 0.8939996281443e-04}};
  const int row = class_name == 'S' ? 0 : class_name == 'W' ? 1 : 2;
  struct problem* const s =
      make_problem(classes[row].finest, classes[row].radius, classes[row].elements, classes[row].points);
  struct npb_result result = {0, 0, false};
  result.threads = npb_count_threads();
  adapt(s);
  // One step that is not timed, as specified.
  convect(s);
  diffuse(s);
#pragma omp parallel for
  for (int i = 0; i < ua_nodes * s->mesh.count; ++i) s->mesh.heat[i] = 0;
  const double begin = omp_get_wtime();
  for (int step = 1; step <= classes[row].steps; ++step) {
    convect(s);
    diffuse(s);
    s->time += s->dt;
    if (step % adaptation_steps == 0 && step != classes[row].steps) adapt(s);
  }
  result.seconds = omp_get_wtime() - begin;
  result.verified = npb_close(integral(s), classes[row].integral, 1e-8);
  free_problem(s);
  return result;
}

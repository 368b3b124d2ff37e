// SPDX-License-Identifier: Apache-2.0
// Simulated application SP: the flow problem by alternating directions in characteristic variables, so that
// each line is three scalar pentadiagonal systems. Specification: RNR-94-007, section 3.3.3.
#include <math.h>

#include "flow.h"
#include "npb.h"

enum { longest_line = 64, bands = 5, systems = 3 };

static const double c2 = 0.4;
static const double c12 = 1.4 * 0.4;
static const double c34 = 0.1;
static const double c15 = 1.4 * 1.4;
static const double dissipation = 0.25;
static const double half_root = 0.70710678118654752440;  // the square root of 1/2

/// The bands of one line's systems: two below, on, and two above the diagonal. Three fields move with the
/// fluid, one with the sound and one against it.
typedef double line_bands[systems][longest_line][bands];

/// Which system a field belongs to.
static int system_of(int field) { return field < 3 ? 0 : field - 2; }

static double kinetic_energy(const double* u) {
  return 0.5 * (u[1] * u[1] + u[2] * u[2] + u[3] * u[3]) / u[0];
}
static double speed_of_sound(const double* u) { return sqrt(c12 * (u[4] - kinetic_energy(u)) / u[0]); }

/// The dissipation's five coefficients at point i of a line of n.
static void add_dissipation(double* band, double factor, int i, int n) {
  static const double inside[bands] = {1, -4, 6, -4, 1};
  for (int b = 0; b < bands; ++b) {
    const int other = i + b - 2;
    if (other < 1 || other > n - 2) continue;
    band[b] += factor * (b == 2 && (i == 1 || i == n - 2) ? 5 : inside[b]);
  }
}

static void set_bands(const struct flow* f, size_t first, int direction, line_bands line) {
  const size_t s = flow_stride(f, direction);
  const int n = f->size;
  const double d1 = f->dt * f->t1;
  const double d2 = f->dt * f->t2;
  double velocity[longest_line];
  double sound[longest_line];
  double spread[longest_line];
  for (int i = 0; i < n; ++i) {
    const double* const u = f->u + first + (size_t)i * s;
    velocity[i] = u[1 + direction] / u[0];
    sound[i] = speed_of_sound(u);
    spread[i] = flow_diffusion(direction) + c15 * c34 / u[0];  // the largest of all fields
  }
  for (int i = 1; i < n - 1; ++i) {
    for (int m = 0; m < systems; ++m) {
      const double with_sound = m == 0 ? 0 : m == 1 ? 1 : -1;
      double* const band = line[m][i];
      band[0] = 0;
      band[1] = -d2 * (velocity[i - 1] + with_sound * sound[i - 1]) - d1 * spread[i - 1];
      band[2] = 1 + 2 * d1 * spread[i];
      band[3] = d2 * (velocity[i + 1] + with_sound * sound[i + 1]) - d1 * spread[i + 1];
      band[4] = 0;
      add_dissipation(band, f->dt * dissipation, i, n);
    }
  }
}

/// Solves along one line and overwrites the right side. The boundary's step is zero, so the inner points are
/// systems by themselves.
static void solve_line(struct flow* f, size_t first, int direction, line_bands line) {
  const size_t s = flow_stride(f, direction);
  const int last = f->size - 2;
  set_bands(f, first, direction, line);
  for (int m = 0; m < systems; ++m) {
    const int from = m == 0 ? 0 : m + 2;
    const int to = m == 0 ? 3 : m + 3;
    for (int i = 1; i <= last; ++i) {
      double* const here = line[m][i];
      double* const r = f->rhs + first + (size_t)i * s;
      const double factor = 1 / here[2];
      here[3] *= factor;
      here[4] *= factor;
      for (int field = from; field < to; ++field) r[field] *= factor;
      for (int below = 1; below <= 2 && i + below <= last; ++below) {
        double* const next = line[m][i + below];
        const double part = next[2 - below];
        next[3 - below] -= part * here[3];
        next[4 - below] -= part * here[4];
        double* const its = r + (size_t)below * s;
        for (int field = from; field < to; ++field) its[field] -= part * r[field];
      }
    }
  }
  for (int i = last - 1; i >= 1; --i) {
    double* const r = f->rhs + first + (size_t)i * s;
    for (int field = 0; field < flow_fields; ++field) {
      const double* const here = line[system_of(field)][i];
      r[field] -= here[3] * *(r + s + field);
      if (i + 2 <= last) r[field] -= here[4] * *(r + 2 * s + field);
    }
  }
}

static void solve_direction(struct flow* f, int direction) {
  const int n = f->size;
#pragma omp parallel
  {
    line_bands line;
#pragma omp for
    for (int b = 1; b < n - 1; ++b)
      for (int a = 1; a < n - 1; ++a) {
        const size_t first = direction == 0   ? flow_at(f, 0, a, b)
                             : direction == 1 ? flow_at(f, a, 0, b)
                                              : flow_at(f, a, b, 0);
        solve_line(f, first, direction, line);
      }
  }
}

/// From the conserved variables to the characteristic ones of the first direction.
static void into_first(const double* u, double* field) {
  const double c = speed_of_sound(u);
  const double vx = u[1] / u[0];
  const double vy = u[2] / u[0];
  const double vz = u[3] / u[0];
  const double pressure =
      c2 / (c * c) *
      (kinetic_energy(u) / u[0] * field[0] - vx * field[1] - vy * field[2] - vz * field[3] + field[4]);
  const double along = half_root / u[0] * (vx * field[0] - field[1]);
  const double across_y = (vy * field[0] - field[2]) / u[0];
  const double across_z = -(vz * field[0] - field[3]) / u[0];
  const double sound = half_root / u[0] * c * pressure;
  field[0] -= pressure;
  field[1] = across_z;
  field[2] = across_y;
  field[3] = sound - along;
  field[4] = sound + along;
}

/// From the characteristic variables of one direction to those of the next: the two fields `one` and `other`
/// turn by a right angle, and `sound` changes places with the difference of the sound's two fields.
static void into_next(double* r, int one, int other, int sound) {
  const double turned = half_root * r[sound];
  const double mean = 0.5 * (r[3] + r[4]);
  const double before = r[one];
  r[one] = -r[other];
  r[other] = before;
  r[sound] = half_root * (r[3] - r[4]);
  r[3] = mean - turned;
  r[4] = mean + turned;
}

/// From those of the third back to the conserved variables.
static void out_of_third(const double* u, double* field) {
  const double c = speed_of_sound(u);
  const double vx = u[1] / u[0];
  const double vy = u[2] / u[0];
  const double vz = u[3] / u[0];
  const double pressure = half_root * u[0] / c * (field[3] + field[4]);
  const double mass = field[2] + pressure;
  const double along = half_root * u[0] * (field[3] - field[4]);
  const double x = -u[0] * field[1];
  const double y = u[0] * field[0];
  field[0] = mass;
  field[1] = x + vx * mass;
  field[2] = y + vy * mass;
  field[3] = vz * mass + along;
  field[4] = vx * x + vy * y + kinetic_energy(u) / u[0] * mass + c * c / c2 * pressure + vz * along;
}

/// The step at every inner point between two directions.
enum turn { turn_into_first, turn_into_second, turn_into_third, turn_out_of_third };
static void at_all_points(struct flow* f, enum turn turn) {
  const int n = f->size;
#pragma omp parallel for
  for (int k = 1; k < n - 1; ++k)
    for (int j = 1; j < n - 1; ++j)
      for (int i = 1; i < n - 1; ++i) {
        const size_t place = flow_at(f, i, j, k);
        double* const r = f->rhs + place;
        switch (turn) {
          case turn_into_first:
            for (int m = 0; m < flow_fields; ++m) r[m] *= f->dt;
            into_first(f->u + place, r);
            break;
          case turn_into_second:
            into_next(r, 0, 1, 2);
            break;
          case turn_into_third:
            into_next(r, 1, 2, 0);
            break;
          case turn_out_of_third:
            out_of_third(f->u + place, r);
            for (int m = 0; m < flow_fields; ++m) f->u[place + (size_t)m] += r[m];
            break;
        }
      }
}

static void step(struct flow* f) {
  flow_compute_rhs(f);
  at_all_points(f, turn_into_first);
  solve_direction(f, 0);
  at_all_points(f, turn_into_second);
  solve_direction(f, 1);
  at_all_points(f, turn_into_third);
  solve_direction(f, 2);
  at_all_points(f, turn_out_of_third);
}

struct npb_result npb_sp(char class_name) {
  static const double residual[2][flow_fields] = {
      {2.7470315451339479e-02, 1.0360746705285417e-02, 1.6235745065095532e-02, 1.5840557224455615e-02,
       3.4849040609362460e-02},
      {0.1893253733584e-02, 0.1717075447775e-03, 0.2778153350936e-03, 0.2887475409984e-03,
       0.3143611161242e-02}};
  static const double error[2][flow_fields] = {
      {2.7289258557377227e-05, 1.0364446640837285e-05, 1.6154798287166471e-05, 1.5750704994480102e-05,
       3.4177666183390531e-05},
      {0.7542088599534e-04, 0.6512852253086e-05, 0.1049092285688e-04, 0.1128838671535e-04,
       0.1212845639773e-03}};
  const int row = class_name == 'S' ? 0 : 1;
  const int steps = row == 0 ? 100 : 400;
  struct flow f = row == 0 ? flow_make(12, 0.015) : flow_make(36, 0.0015);
  return flow_run(&f, step, steps, residual[row], error[row]);
}

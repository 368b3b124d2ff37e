// SPDX-License-Identifier: Apache-2.0
// The polynomials of kernel UA and the operators on one element. All matrices follow from the Gauss-Lobatto
// points and weights. Specification: NAS-04-006.
#include <math.h>
#include <string.h>

#include "ua.h"

/// The polynomial that is one at point j of `count` and zero at the others, at x.
static double lagrange(const double* point, int count, int j, double x) {
  double value = 1;
  for (int m = 0; m < count; ++m)
    if (m != j) value *= (x - point[m]) / (point[j] - point[m]);
  return value;
}

/// Its derivative at point i.
static double slope(const double* point, int count, int j, int i) {
  double sum = 0;
  for (int left_out = 0; left_out < count; ++left_out) {
    if (left_out == j) continue;
    double product = 1 / (point[j] - point[left_out]);
    for (int m = 0; m < count; ++m)
      if (m != j && m != left_out) product *= (point[i] - point[m]) / (point[j] - point[m]);
    sum += product;
  }
  return sum;
}

/// The mortar condition on a divided edge: the difference of the element's polynomial and the mortars' is
/// orthogonal to the polynomials of degree two, with the quadrature of each side, and the ends are equal.
static void make_projection(struct ua_basis* b, const double* point, const double* weight) {
  enum { between = ua_line - 2 };
  memset(b->project, 0, sizeof b->project);
  for (int i = 0; i < between; ++i) {
    for (int half = 0; half < 2; ++half)
      for (int j = 0; j < ua_line; ++j) {
        const double s = 0.5 * (point[j] + (half == 0 ? -1 : 1));
        b->project[i][(ua_line - 1) * half + j] +=
            0.5 * weight[j] * lagrange(point + 1, between, i, s) / weight[i + 1];
      }
    b->project[i][0] -= weight[0] * lagrange(point + 1, between, i, -1) / weight[i + 1];
    b->project[i][ua_fine - 1] -= weight[ua_line - 1] * lagrange(point + 1, between, i, 1) / weight[i + 1];
  }
}

/// Corners first, then edges, then faces.
static void make_parts(struct ua_basis* b) {
  static const int step[3] = {1, ua_line, ua_plane};
  int next[3] = {0, ua_corners, ua_corners + ua_edges};
  for (int n = 0; n < 27; ++n) {
    const int place[3] = {n % 3, n / 3 % 3, n / 9};
    struct ua_part part = {{place[0], place[1], place[2]}, 0, {0, 0}, {0, 0}};
    int extent = 0;
    for (int d = 0; d < 3; ++d) {
      part.first += step[d] * (place[d] == 2 ? ua_line - 1 : place[d]);
      if (place[d] != 1) continue;
      if (extent < 2) part.axis[extent] = d, part.stride[extent] = step[d];
      ++extent;
    }
    if (extent == 3) continue;
    b->part_at[place[2]][place[1]][place[0]] = next[extent];
    b->part[next[extent]++] = part;
  }
}

void ua_basis_make(struct ua_basis* b) {
  const double root = sqrt(3.0 / 7.0);
  const double point[ua_line] = {-1, -root, 0, root, 1};
  const double weight[ua_line] = {0.1, 49.0 / 90, 32.0 / 45, 49.0 / 90, 0.1};
  for (int i = 0; i < ua_line; ++i) b->place[i] = 0.5 * (point[i] + 1);
  for (int n = 0; n < ua_nodes; ++n)
    b->weight[n] = weight[n % ua_line] * weight[n / ua_line % ua_line] * weight[n / ua_plane];
  for (int i = 0; i < ua_line; ++i)
    for (int j = 0; j < ua_line; ++j) {
      b->derivative[i][j] = slope(point, ua_line, j, i);
      b->stiffness[i][j] = 0;
      const int half = i > ua_line / 2;
      for (int p = 0; p < ua_line; ++p)
        b->stiffness[i][j] +=
            weight[p] * slope(point, ua_line, i, p) * slope(point, ua_line, j, p) / weight[i];
      for (int h = 0; h < 2; ++h) {
        const double centre = h == 0 ? -1 : 1;
        b->halve[h][i][j] = lagrange(point, ua_line, j, 0.5 * (point[i] + centre));
        b->join[h][i][j] = half == h ? lagrange(point, ua_line, j, 2 * point[i] - centre) : 0;
      }
    }
  make_projection(b, point, weight);
  make_parts(b);
}

void ua_along_lines(const ua_matrix matrix, const double* restrict u, double* restrict out) {
  double turned[ua_line][ua_line];
  for (int i = 0; i < ua_line; ++i)
    for (int j = 0; j < ua_line; ++j) turned[j][i] = matrix[i][j];
  for (int k = 0; k < ua_line; ++k) {
    const double* const plane = u + ua_plane * k;
    double* const to = out + ua_plane * k;
    for (int n = 0; n < ua_plane; ++n) {
      double sum = 0;
      for (int m = 0; m < ua_line; ++m) sum += matrix[k][m] * u[ua_plane * m + n];
      to[n] = sum;
    }
    for (int j = 0; j < ua_line; ++j)
      for (int i = 0; i < ua_line; ++i) {
        double sum = to[ua_line * j + i];
        for (int m = 0; m < ua_line; ++m)
          sum += matrix[j][m] * plane[ua_line * m + i] + plane[ua_line * j + m] * turned[m][i];
        to[ua_line * j + i] = sum;
      }
  }
}

void ua_apply(const struct ua_basis* b, struct ua_scale scale, const double* restrict u,
              double* restrict out) {
  ua_along_lines(b->stiffness, u, out);
  for (int n = 0; n < ua_nodes; ++n) out[n] = b->weight[n] * (scale.stiffness * out[n] + scale.mass * u[n]);
}

void ua_add_product(const ua_matrix x, const ua_matrix y, const ua_matrix z, const double* u, double* out) {
  double along_x[ua_nodes];
  double along_y[ua_nodes];
  for (int n = 0; n < ua_nodes; ++n) {
    along_x[n] = 0;
    for (int m = 0; m < ua_line; ++m) along_x[n] += x[n % ua_line][m] * u[n - n % ua_line + m];
  }
  for (int n = 0; n < ua_nodes; ++n) {
    const int j = n / ua_line % ua_line;
    along_y[n] = 0;
    for (int m = 0; m < ua_line; ++m) along_y[n] += y[j][m] * along_x[n + ua_line * (m - j)];
  }
  for (int n = 0; n < ua_nodes; ++n)
    for (int m = 0; m < ua_line; ++m) out[n] += z[n / ua_plane][m] * along_y[n % ua_plane + ua_plane * m];
}

// SPDX-License-Identifier: Apache-2.0
// The diagonal of kernel UA's assembled operator, with which the conjugate gradients are scaled. A point's
// entry is the sum over its elements of v' A v, where v is what the point alone makes of the element's nodes.
// There are few different v, so that v' A v is known beforehand for each. Specification: NAS-04-006.
#include <string.h>

#include "ua.h"

enum { between = ua_line - 2 };

static struct ua_scale energy(const struct ua_basis* b, const double* v) {
  double image[ua_nodes];
  struct ua_scale sum = {0, 0};
  ua_apply(b, (struct ua_scale){1, 0}, v, image);
  for (int i = 0; i < ua_nodes; ++i) sum.stiffness += v[i] * image[i];
  ua_apply(b, (struct ua_scale){0, 1}, v, image);
  for (int i = 0; i < ua_nodes; ++i) sum.mass += v[i] * image[i];
  return sum;
}

/// By symmetry all is done at the corner of node 0, along x first.
void ua_columns_make(struct ua_columns* c, const struct ua_basis* b) {
  static const int step[3] = {1, ua_line, ua_plane};
  double v[ua_nodes];
  for (int n = 0; n < ua_nodes; ++n) {
    memset(v, 0, sizeof v);
    v[n] = 1;
    c->node[n] = energy(b, v);
  }
  for (unsigned mask = 0; mask < 64; ++mask) {
    memset(v, 0, sizeof v);
    v[0] = 1;
    for (unsigned d = 0; d < 3; ++d) {
      const int s = step[d];
      const int one = step[(d + 1) % 3];
      const int two = step[(d + 2) % 3];
      for (int i = 0; i < between && (mask >> d & 1) != 0; ++i) v[s * (i + 1)] = b->project[i][0];
      for (int i = 0; i < between * between && (mask >> d & 8) != 0; ++i)
        v[one * (i / between + 1) + two * (i % between + 1)] =
            b->project[i / between][0] * b->project[i % between][0];
    }
    c->corner[mask] = energy(b, v);
  }
  for (int faces = 0; faces < 3; ++faces)
    for (int point = 0; point < ua_fine; ++point) {
      memset(v, 0, sizeof v);
      for (int i = 0; i < between; ++i) v[i + 1] = b->project[i][point];
      for (int face = 0; face < faces; ++face)
        for (int i = 0; i < between * between; ++i)
          v[i / between + 1 + step[face + 1] * (i % between + 1)] =
              b->project[i / between][point] * b->project[i % between][0];
      c->edge[faces][point] = energy(b, v);
    }
  for (int point = 0; point < ua_fine * ua_fine; ++point) {
    memset(v, 0, sizeof v);
    for (int i = 0; i < between * between; ++i)
      v[i / between + 1 + ua_line * (i % between + 1)] =
          b->project[i / between][point / ua_fine] * b->project[i % between][point % ua_fine];
    c->face[point / ua_fine][point % ua_fine] = energy(b, v);
  }
}

static double scaled(struct ua_scale column, struct ua_scale by) {
  return column.stiffness * by.stiffness + column.mass * by.mass;
}

/// Adds one element's share.
static void add_element(const struct ua_columns* c, const struct ua_mortars* mortars,
                        const struct ua_basis* b, int e, struct ua_scale scale, double* diagonal) {
  const int* const where = mortars->where[e];
  for (int p = 0; p < ua_corners; ++p) {
    unsigned mask = 0;
    for (unsigned d = 0; d < 3; ++d) {
      int edge[3];
      int face[3];
      for (unsigned k = 0; k < 3; ++k) {
        edge[k] = k == d ? 1 : b->part[p].place[k];
        face[k] = k == d ? b->part[p].place[k] : 1;
      }
      if (ua_divided(mortars, e, b->part_at[edge[2]][edge[1]][edge[0]])) mask |= 1U << d;
      if (ua_divided(mortars, e, b->part_at[face[2]][face[1]][face[0]])) mask |= 8U << d;
    }
    ua_add(&diagonal[where[p]], scaled(c->corner[mask], scale));
  }
  for (int p = ua_corners; p < ua_parts; ++p) {
    const struct ua_part* const part = &b->part[p];
    const bool is_edge = p < ua_corners + ua_edges;
    if (!ua_divided(mortars, e, p)) {
      for (int i = 0; i < (is_edge ? between : between * between); ++i) {
        const int node = part->first + part->stride[0] * (i % between) + part->stride[1] * (i / between);
        ua_add(&diagonal[where[p] + i], scaled(c->node[node], scale));
      }
      continue;
    }
    const int* const list = mortars->list + where[p];
    if (is_edge) {
      int faces = 0;
      for (int d = 0; d < 3; ++d) {
        if (d == part->axis[0]) continue;
        int face[3] = {1, 1, 1};
        face[d] = part->place[d];
        faces += ua_divided(mortars, e, b->part_at[face[2]][face[1]][face[0]]);
      }
      for (int i = 1; i < ua_fine - 1; ++i) ua_add(&diagonal[list[i]], scaled(c->edge[faces][i], scale));
    } else {
      for (int j = 1; j < ua_fine - 1; ++j)
        for (int i = 1; i < ua_fine - 1; ++i)
          ua_add(&diagonal[list[ua_fine * j + i]], scaled(c->face[j][i], scale));
    }
  }
}

void ua_diagonal(const struct ua_columns* c, const struct ua_mortars* t, const struct ua_mesh* m,
                 const struct ua_basis* b, const struct ua_scale* scale, double* diagonal) {
#pragma omp parallel for
  for (int i = 0; i < t->count; ++i) diagonal[i] = 0;
#pragma omp parallel for
  for (int e = 0; e < m->count; ++e) add_element(c, t, b, e, scale[m->element[e].level], diagonal);
}

// SPDX-License-Identifier: Apache-2.0
// The points of kernel UA that make the temperature one across elements: they are found by the places of
// corners and of the middles of edges and faces, which no two of those that carry points share.
// Specification: NAS-04-006.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npb.h"
#include "ua.h"

enum { between = ua_line - 2, unseen = -1, corner_here = -2 };

/// Along a divided edge: in which of the five places (corner, half, corner, half, corner) a point is, and
/// which of that half's points it is.
static const int fine_place[ua_fine] = {0, 1, 1, 1, 2, 3, 3, 3, 4};
static const int fine_offset[ua_fine] = {0, 0, 1, 2, 0, 0, 1, 2, 0};

struct ua_mortars ua_mortars_make(const struct ua_mesh* m, int room) {
  const size_t line = (size_t)m->side + 1;
  const size_t elements = (size_t)m->room;
  struct ua_mortars t = {.room = room};
  t.lattice = npb_allocate(line * line * line, sizeof *t.lattice);
  t.divided = npb_allocate(elements, sizeof *t.divided);
  t.where = npb_allocate(elements, sizeof *t.where);
  t.inside = npb_allocate((uint64_t)room, sizeof *t.inside);
  t.share = npb_allocate((uint64_t)room, sizeof *t.share);
  return t;
}

void ua_mortars_free(struct ua_mortars* t) {
  free(t->lattice), free(t->divided), free(t->where), free(t->list), free(t->inside), free(t->share);
}

static int* lattice_at(const struct ua_mortars* t, const struct ua_mesh* m, const int place[3]) {
  const size_t line = (size_t)m->side + 1;
  return &t->lattice[(size_t)place[0] + line * ((size_t)place[1] + line * (size_t)place[2])];
}

/// The middle of a part of an element's surface.
static void middle_of(const struct ua_mesh* m, const struct ua_element* e, const struct ua_part* part,
                      int place[3]) {
  for (int d = 0; d < 3; ++d) place[d] = e->place[d] + part->place[d] * ua_side(m, e->level) / 2;
}

/// Finds the divided parts: those with a corner in their middle.
static void find_divided(struct ua_mortars* mortars, const struct ua_mesh* m, const struct ua_basis* b) {
  const int line = m->side + 1;
#pragma omp parallel for
  for (int i = 0; i < line * line * line; ++i) mortars->lattice[i] = unseen;
#pragma omp parallel for
  for (int e = 0; e < m->count; ++e)
    for (int c = 0; c < ua_corners; ++c) {
      int place[3];
      middle_of(m, &m->element[e], &b->part[c], place);
#pragma omp atomic write
      *lattice_at(mortars, m, place) = corner_here;
    }
#pragma omp parallel for
  for (int e = 0; e < m->count; ++e) {
    mortars->divided[e] = 0;
    for (int p = ua_corners; p < ua_parts; ++p) {
      int place[3];
      middle_of(m, &m->element[e], &b->part[p], place);
      if (*lattice_at(mortars, m, place) == corner_here) mortars->divided[e] |= (uint32_t)1 << p;
    }
  }
}

/// The number of points of a part, and of one that is divided with its borders.
static int points_of(int part) {
  return part < ua_corners ? 1 : part < ua_corners + ua_edges ? between : between * between;
}
static int fine_points_of(int part) { return part < ua_corners + ua_edges ? ua_fine : ua_fine * ua_fine; }

static void too_many(int room) {
  fprintf(stderr, "bench-npb: UA needs more mortar points than the %d of this class\n", room);
  exit(1);
}

/// Numbers the points, so that those of an element are close together.
static void number(struct ua_mortars* mortars, const struct ua_mesh* m, const struct ua_basis* b) {
  mortars->count = mortars->list_count = 0;
  for (int e = 0; e < m->count; ++e)
    for (int p = 0; p < ua_parts; ++p) {
      if (ua_divided(mortars, e, p)) {
        mortars->where[e][p] = mortars->list_count;
        mortars->list_count += fine_points_of(p);
        continue;
      }
      int place[3];
      middle_of(m, &m->element[e], &b->part[p], place);
      int* const at = lattice_at(mortars, m, place);
      if (*at < 0) {
        if (mortars->count + points_of(p) > mortars->room) too_many(mortars->room);
        *at = mortars->count;
        bool inside = true;
        for (int d = 0; d < 3; ++d) inside = inside && place[d] > 0 && place[d] < m->side;
        for (int i = 0; i < points_of(p); ++i) mortars->inside[mortars->count++] = inside ? 1 : 0;
      }
      mortars->where[e][p] = *at;
    }
}

/// Lists the points of a divided part.
static void list_points(struct ua_mortars* mortars, const struct ua_mesh* m, const struct ua_basis* b, int e,
                        int p) {
  const struct ua_part* const part = &b->part[p];
  const int quarter = ua_side(m, m->element[e].level) / 4;
  int* const list = mortars->list + mortars->where[e][p];
  int place[3];
  middle_of(m, &m->element[e], part, place);
  const int axis = part->axis[0];
  const int other = part->axis[1];
  const bool face = p >= ua_corners + ua_edges;
  for (int i = 0; i < fine_points_of(p); ++i) {
    const int along = i % ua_fine;
    const int across = i / ua_fine;
    place[axis] = m->element[e].place[axis] + fine_place[along] * quarter;
    if (face) place[other] = m->element[e].place[other] + fine_place[across] * quarter;
    // Nine points in a row of three rows, or three in a row in one of the directions.
    const bool both = face && fine_place[along] % 2 != 0 && fine_place[across] % 2 != 0;
    list[i] =
        *lattice_at(mortars, m, place) + fine_offset[along] + (both ? between : 1) * fine_offset[across];
  }
}

void ua_mortars_renew(struct ua_mortars* mortars, const struct ua_mesh* m, const struct ua_basis* b) {
  find_divided(mortars, m, b);
  number(mortars, m, b);
  if (mortars->list_count > mortars->list_room) {
    free(mortars->list);
    mortars->list_room = 2 * mortars->list_count;
    mortars->list = npb_allocate((uint64_t)mortars->list_room, sizeof *mortars->list);
  }
#pragma omp parallel for
  for (int i = 0; i < mortars->count; ++i) mortars->share[i] = 0;
#pragma omp parallel for
  for (int e = 0; e < m->count; ++e) {
    for (int p = ua_corners; p < ua_parts; ++p)
      if (ua_divided(mortars, e, p)) list_points(mortars, m, b, e, p);
    double one[ua_nodes];
    for (int i = 0; i < ua_nodes; ++i) one[i] = 1;
    ua_scatter_plain(mortars, b, e, one, mortars->share);
  }
#pragma omp parallel for
  for (int i = 0; i < mortars->count; ++i) mortars->share[i] = 1 / mortars->share[i];
}

/// From the points of a divided edge to the nodes between its ends, and back.
static double project_onto(const struct ua_basis* b, int node, const double* fine) {
  double sum = 0;
  for (int i = 0; i < ua_fine; ++i) sum += b->project[node][i] * fine[i];
  return sum;
}
static double project_back(const struct ua_basis* b, int point, const double* node, int stride) {
  double sum = 0;
  for (int i = 0; i < between; ++i) sum += b->project[i][point] * node[stride * i];
  return sum;
}

void ua_gather(const struct ua_mortars* mortars, const struct ua_basis* b, int e, const double* value,
               double* u) {
  const int* const where = mortars->where[e];
  int p = 0;
  for (; p < ua_corners; ++p) u[b->part[p].first] = value[where[p]];
  for (; p < ua_corners + ua_edges; ++p) {
    double* const to = u + b->part[p].first;
    const int stride = b->part[p].stride[0];
    if (ua_divided(mortars, e, p)) {
      double fine[ua_fine];
      for (int i = 0; i < ua_fine; ++i) fine[i] = value[mortars->list[where[p] + i]];
      for (int i = 0; i < between; ++i) to[stride * i] = project_onto(b, i, fine);
    } else {
      for (int i = 0; i < between; ++i) to[stride * i] = value[where[p] + i];
    }
  }
  for (; p < ua_parts; ++p) {
    double* const to = u + b->part[p].first;
    const int* const stride = b->part[p].stride;
    if (ua_divided(mortars, e, p)) {
      double half[between][ua_fine];
      for (int j = 0; j < ua_fine; ++j) {
        double fine[ua_fine];
        for (int i = 0; i < ua_fine; ++i) fine[i] = value[mortars->list[where[p] + ua_fine * j + i]];
        for (int i = 0; i < between; ++i) half[i][j] = project_onto(b, i, fine);
      }
      for (int j = 0; j < between; ++j)
        for (int i = 0; i < between; ++i) to[stride[0] * i + stride[1] * j] = project_onto(b, j, half[i]);
    } else {
      for (int j = 0; j < between; ++j)
        for (int i = 0; i < between; ++i)
          to[stride[0] * i + stride[1] * j] = value[where[p] + between * j + i];
    }
  }
}

void ua_scatter(const struct ua_mortars* mortars, const struct ua_basis* b, int e, const double* u,
                double* value) {
  const int* const where = mortars->where[e];
  int p = 0;
  for (; p < ua_corners; ++p) ua_add(&value[where[p]], u[b->part[p].first]);
  for (; p < ua_corners + ua_edges; ++p) {
    const double* const from = u + b->part[p].first;
    const int stride = b->part[p].stride[0];
    if (ua_divided(mortars, e, p)) {
      for (int i = 0; i < ua_fine; ++i)
        ua_add(&value[mortars->list[where[p] + i]], project_back(b, i, from, stride));
    } else {
      for (int i = 0; i < between; ++i) ua_add(&value[where[p] + i], from[stride * i]);
    }
  }
  for (; p < ua_parts; ++p) {
    const double* const from = u + b->part[p].first;
    const int* const stride = b->part[p].stride;
    if (ua_divided(mortars, e, p)) {
      double half[ua_fine][between];
      for (int i = 0; i < between; ++i)
        for (int j = 0; j < ua_fine; ++j) half[j][i] = project_back(b, j, from + stride[0] * i, stride[1]);
      for (int j = 0; j < ua_fine; ++j)
        for (int i = 0; i < ua_fine; ++i)
          ua_add(&value[mortars->list[where[p] + ua_fine * j + i]], project_back(b, i, half[j], 1));
    } else {
      for (int j = 0; j < between; ++j)
        for (int i = 0; i < between; ++i)
          ua_add(&value[where[p] + between * j + i], from[stride[0] * i + stride[1] * j]);
    }
  }
}

void ua_scatter_plain(const struct ua_mortars* mortars, const struct ua_basis* b, int e, const double* u,
                      double* value) {
  const int* const where = mortars->where[e];
  for (int p = 0; p < ua_corners; ++p) {
    // A corner counts by those of its three faces that are not divided.
    const int* const place = b->part[p].place;
    const int faces[3] = {b->part_at[1][1][place[0]], b->part_at[1][place[1]][1], b->part_at[place[2]][1][1]};
    int plain = 0;
    for (int d = 0; d < 3; ++d) plain += !ua_divided(mortars, e, faces[d]);
    ua_add(&value[where[p]], u[b->part[p].first] * plain / 3);
  }
  for (int p = ua_corners; p < ua_parts; ++p) {
    if (ua_divided(mortars, e, p)) continue;
    const struct ua_part* const part = &b->part[p];
    for (int i = 0; i < points_of(p); ++i)
      ua_add(&value[where[p] + i],
             u[part->first + part->stride[0] * (i % between) + part->stride[1] * (i / between)]);
  }
}

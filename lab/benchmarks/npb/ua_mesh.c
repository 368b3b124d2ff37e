// SPDX-License-Identifier: Apache-2.0
// The mesh of kernel UA: the leaves of an octree in Morton order. Each change makes a new mesh beside the old
// one, all elements in parallel. Specification: NAS-04-006.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npb.h"
#include "ua.h"

/// The change of an element. Of eight elements that are merged the first has `mark_merge`, the others
/// `mark_drop`.
enum { mark_keep, mark_split, mark_merge, mark_drop };

/// Children of an element, and neighbours across a face or an edge.
enum { children = 8, directions = 18 };

static uint32_t interleave(const int place[3]) {
  uint32_t code = 0;
  for (unsigned bit = 0; bit < 10; ++bit)
    for (unsigned d = 0; d < 3; ++d) code |= ((uint32_t)place[d] >> bit & 1) << (3 * bit + d);
  return code;
}

struct ua_mesh ua_mesh_make(int finest, int room) {
  const size_t count = (size_t)room;
  struct ua_mesh m = {.finest = finest, .side = 2 << finest, .room = room, .count = 1};
  m.element = npb_allocate(count, sizeof *m.element);
  m.next_element = npb_allocate(count, sizeof *m.next_element);
  m.heat = npb_allocate(count * ua_nodes, sizeof *m.heat);
  m.next_heat = npb_allocate(count * ua_nodes, sizeof *m.next_heat);
  m.mark = npb_allocate(count, sizeof *m.mark);
  m.target = npb_allocate(count, sizeof *m.target);
  return m;
}

void ua_mesh_free(struct ua_mesh* m) {
  free(m->element), free(m->next_element), free(m->heat), free(m->next_heat), free(m->mark), free(m->target);
}

bool ua_touches(const struct ua_mesh* m, const struct ua_element* e, const double centre[3], double radius) {
  double distance = 0;  // squared
  for (int d = 0; d < 3; ++d) {
    const double low = (double)e->place[d] / m->side;
    const double high = (double)(e->place[d] + ua_side(m, e->level)) / m->side;
    const double outside = centre[d] < low ? low - centre[d] : centre[d] > high ? centre[d] - high : 0;
    distance += outside * outside;
  }
  return distance < radius * radius;
}

/// The element that holds the lowest corner of the cube of e's size in a direction; none: outside.
static const struct ua_element* neighbour(const struct ua_mesh* m, const struct ua_element* e,
                                          int direction) {
  static const signed char step[directions][3] = {
      {-1, 0, 0},  {1, 0, 0},  {0, -1, 0},  {0, 1, 0},  {0, 0, -1},  {0, 0, 1},
      {-1, -1, 0}, {1, -1, 0}, {-1, 1, 0},  {1, 1, 0},  {-1, 0, -1}, {1, 0, -1},
      {-1, 0, 1},  {1, 0, 1},  {0, -1, -1}, {0, 1, -1}, {0, -1, 1},  {0, 1, 1}};
  int place[3];
  for (int d = 0; d < 3; ++d) {
    place[d] = e->place[d] + step[direction][d] * ua_side(m, e->level);
    if (place[d] < 0 || place[d] >= m->side) return NULL;
  }
  const uint32_t code = interleave(place);
  int low = 0;
  int high = m->count;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (m->element[middle].code <= code)
      low = middle;
    else
      high = middle;
  }
  return &m->element[low];
}

static struct ua_element child_of(const struct ua_mesh* m, const struct ua_element* e, int child) {
  struct ua_element c = {{0, 0, 0}, e->level + 1, 0};
  for (int d = 0; d < 3; ++d) c.place[d] = e->place[d] + (child >> d & 1) * ua_side(m, c.level);
  c.code = interleave(c.place);
  return c;
}

/// Makes element i's successors in the next mesh.
static void make_next(const struct ua_mesh* m, const struct ua_basis* b, int i) {
  const struct ua_element* const e = &m->element[i];
  const double* const heat = m->heat + (size_t)ua_nodes * (size_t)i;
  struct ua_element* const to = &m->next_element[m->target[i]];
  double* const to_heat = m->next_heat + (size_t)ua_nodes * (size_t)m->target[i];
  switch (m->mark[i]) {
    case mark_keep:
      *to = *e;
      memcpy(to_heat, heat, ua_nodes * sizeof *heat);
      break;
    case mark_split:
      memset(to_heat, 0, children * ua_nodes * sizeof *heat);
      for (int c = 0; c < children; ++c) {
        to[c] = child_of(m, e, c);
        ua_add_product(b->halve[c & 1], b->halve[c >> 1 & 1], b->halve[c >> 2], heat, to_heat + ua_nodes * c);
      }
      break;
    case mark_merge:
      *to = *e;
      --to->level;
      memset(to_heat, 0, ua_nodes * sizeof *heat);
      for (int c = 0; c < children; ++c)
        ua_add_product(b->join[c & 1], b->join[c >> 1 & 1], b->join[c >> 2], heat + ua_nodes * c, to_heat);
      break;
    default:
      break;
  }
}

/// Changes all elements as they are marked.
static void change(struct ua_mesh* m, const struct ua_basis* b) {
  static const int successors[] = {
      [mark_keep] = 1, [mark_split] = children, [mark_merge] = 1, [mark_drop] = 0};
  int count = 0;
  for (int i = 0; i < m->count; ++i) {
    m->target[i] = count;
    count += successors[m->mark[i]];
  }
  if (count > m->room) {
    fprintf(stderr, "bench-npb: UA needs %d elements, more than the %d of this class\n", count, m->room);
    exit(1);
  }
#pragma omp parallel for
  for (int i = 0; i < m->count; ++i) make_next(m, b, i);
  struct ua_element* const element = m->element;
  double* const heat = m->heat;
  m->element = m->next_element;
  m->heat = m->next_heat;
  m->next_element = element;
  m->next_heat = heat;
  m->count = count;
}

/// Marks the elements that are larger than a marked neighbour; true if there was one that had no mark.
/// Threads may mark the same element at once, and may see a mark of this sweep: both only bring the end
/// nearer.
static bool mark_larger(struct ua_mesh* m) {
  bool found = false;
#pragma omp parallel for reduction(|| : found)
  for (int i = 0; i < m->count; ++i) {
    unsigned char mark = mark_keep;
#pragma omp atomic read
    mark = m->mark[i];
    for (int d = 0; d < directions && mark == mark_split; ++d) {
      const struct ua_element* const other = neighbour(m, &m->element[i], d);
      if (other == NULL || other->level >= m->element[i].level) continue;
      unsigned char its = mark_keep;
#pragma omp atomic read
      its = m->mark[other - m->element];
      if (its == mark_split) continue;
#pragma omp atomic write
      m->mark[other - m->element] = mark_split;
      found = true;
    }
  }
  return found;
}

/// One level of refinement; false if there is nothing to refine.
static bool refine(struct ua_mesh* m, const struct ua_basis* b, const double centre[3], double radius) {
  bool found = false;
#pragma omp parallel for reduction(|| : found)
  for (int i = 0; i < m->count; ++i) {
    const struct ua_element* const e = &m->element[i];
    const bool split = e->level < m->finest && ua_touches(m, e, centre, radius);
    m->mark[i] = split ? mark_split : mark_keep;
    found = found || split;
  }
  if (!found) return false;
  while (mark_larger(m)) continue;
  change(m, b);
  return true;
}

/// Whether an element may be merged with its siblings as far as it is concerned.
static bool may_merge(const struct ua_mesh* m, const struct ua_element* e, const double centre[3],
                      double radius) {
  if (e->level == 0 || ua_touches(m, e, centre, radius)) return false;
  for (int d = 0; d < directions; ++d) {
    const struct ua_element* const other = neighbour(m, e, d);
    if (other != NULL && other->level > e->level) return false;
  }
  return true;
}

/// One level of coarsening; false if there is nothing to coarsen.
static bool coarsen(struct ua_mesh* m, const struct ua_basis* b, const double centre[3], double radius) {
#pragma omp parallel for
  for (int i = 0; i < m->count; ++i)
    m->mark[i] = may_merge(m, &m->element[i], centre, radius) ? mark_merge : mark_keep;
  bool found = false;
  for (int i = 0; i < m->count;) {
    // Eight elements of one size from the first place of their parent's are that parent's.
    const struct ua_element* const e = &m->element[i];
    const uint32_t volume = (uint32_t)1 << 3 * (m->finest + 1 - e->level);
    bool merge = e->code % (children * volume) == 0 && i + children <= m->count;
    for (int c = 0; c < children && merge; ++c)
      merge = m->mark[i + c] == mark_merge && e[c].level == e->level;
    const int group = merge ? children : 1;
    m->mark[i] = merge ? mark_merge : mark_keep;
    for (int c = 1; c < group; ++c) m->mark[i + c] = mark_drop;
    found = found || merge;
    i += group;
  }
  if (!found) return false;
  change(m, b);
  return true;
}

bool ua_adapt(struct ua_mesh* m, const struct ua_basis* b, const double centre[3], double radius) {
  bool changed = false;
  while (refine(m, b, centre, radius)) changed = true;
  while (coarsen(m, b, centre, radius)) changed = true;
  return changed;
}

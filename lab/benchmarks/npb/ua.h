// SPDX-License-Identifier: Apache-2.0
// Common parts of kernel UA: heat that is transported and diffuses in a cube. The mesh of cubes is fine near
// a moving ball that heats, with polynomials of degree four in each element. Specification: H. Feng, R. Van
// der Wijngaart, R. Biswas, C. Mavriplis, "Unstructured Adaptive (UA) NAS Parallel Benchmark, Version 1.0",
// NASA NAS-04-006 (2004), with the classes and the expected values as in the NAS Parallel Benchmarks 3.3.
#ifndef SUKIMA_BENCH_NPB_UA_H
#define SUKIMA_BENCH_NPB_UA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// An element has 5^3 nodes; x varies fastest. 3^3 of them belong only to it, and the others are on its
/// surface.
enum { ua_line = 5, ua_plane = 25, ua_nodes = 125, ua_own = 27 };

/// The parts of an element's surface: 8 corners, 12 edges without their ends, 6 faces without their edges.
enum { ua_corners = 8, ua_edges = 12, ua_faces = 6, ua_parts = 26 };

/// Points along an edge whose neighbours have half the size: two mortars of five, one of them common.
enum { ua_fine = 9 };

typedef double ua_matrix[ua_line][ua_line];

/// The two parts of the operator of diffusion and time step. They scale differently with an element's size.
struct ua_scale {
  double stiffness;
  double mass;
};

/// The position of a part of the surface.
struct ua_part {
  int place[3];  ///< in each direction: 0 low, 1 the range between, 2 high
  int first;  ///< its first node
  int axis[2];  ///< the directions in which it extends
  int stride[2];  ///< from one of its nodes to the next in these directions
};

/// Polynomials on the Gauss-Lobatto points, and the matrices that follow from them.
struct ua_basis {
  double place[ua_line];  ///< the points, from 0 to 1
  double weight[ua_nodes];  ///< of the quadrature on a cube of side 2
  ua_matrix derivative;  ///< on a line of length 2
  ua_matrix stiffness;  ///< second derivatives in weak form, divided by the row's weight
  ua_matrix halve[2];  ///< values at the points of the lower and of the upper half
  ua_matrix join[2];  ///< the contributions of the lower and of the upper half to the values on the whole
  double project[ua_line - 2][ua_fine];  ///< from the points of a divided edge to the nodes between its ends
  struct ua_part part[ua_parts];
  int part_at[3][3][3];  ///< by place, z first; the middle has no part
};

void ua_basis_make(struct ua_basis* b);

/// out = sum over the three directions of the matrix applied along the lines of that direction.
void ua_along_lines(const ua_matrix matrix, const double* restrict u, double* restrict out);

/// out = (diffusion + mass / time step) u on an element, in weak form.
void ua_apply(const struct ua_basis* b, struct ua_scale scale, const double* restrict u,
              double* restrict out);

/// out += the three matrices, each along its direction, applied to u.
void ua_add_product(const ua_matrix x, const ua_matrix y, const ua_matrix z, const double* u, double* out);

/// One cube of the mesh. Lengths are integers; the finest element's side is 2.
struct ua_element {
  int place[3];  ///< its lowest corner
  int level;  ///< its side is the side of the whole cube / 2^level
  uint32_t code;  ///< the bits of its place interleaved, x lowest; the mesh has this order
};

/// The leaves of an octree with the temperature at their nodes. Elements that share an edge differ by at most
/// one level.
struct ua_mesh {
  int finest;  ///< the highest level
  int side;  ///< side of the whole cube
  int room;  ///< maximum number of elements
  int count;
  struct ua_element* element;
  double* heat;  ///< temperature, ua_nodes for each element
  struct ua_element* next_element;  ///< memory in which the next mesh is made
  double* next_heat;
  unsigned char* mark;
  int* target;
};

/// Makes the mesh of one element, which is cold.
struct ua_mesh ua_mesh_make(int finest, int room);
void ua_mesh_free(struct ua_mesh* m);

static inline int ua_side(const struct ua_mesh* m, int level) { return m->side >> level; }

/// Returns whether a part of the element is in a ball. Lengths are in units of the cube.
bool ua_touches(const struct ua_mesh* m, const struct ua_element* e, const double centre[3], double radius);

/// Refines elements that the ball touches to the highest level, and makes the others as coarse as the rule of
/// one level allows. Returns true if the mesh has changed.
bool ua_adapt(struct ua_mesh* m, const struct ua_basis* b, const double centre[3], double radius);

/// The mortar points, which make the temperature continuous across elements. They are the corners of all
/// elements, and the nodes of those edges and faces that are the smallest at their place. An edge or a face
/// that contains smaller ones is divided: its nodes are projections of the points of these.
struct ua_mortars {
  int count;
  int room;
  int* lattice;  ///< the first point of the part whose middle is there
  uint32_t* divided;  ///< for each element: a bit for each divided part
  int (*where)[ua_parts];  ///< for each element and part: its first point, or its position in `list`
  int* list;  ///< points of divided edges (9) and faces (9 x 9)
  int list_count;
  int list_room;
  double* inside;  ///< for each point: 0 on the surface of the whole cube, otherwise 1
  double* share;  ///< for each point: 1 / the number of nodes that are averaged
};

struct ua_mortars ua_mortars_make(const struct ua_mesh* m, int room);
void ua_mortars_free(struct ua_mortars* t);

/// Adds to a variable to which other threads may also add.
static inline void ua_add(double* to, double value) {
#pragma omp atomic
  *to += value;
}

/// Returns whether a part of the surface is divided.
static inline bool ua_divided(const struct ua_mortars* t, int e, int part) {
  return (t->divided[e] >> part & 1) != 0;
}

/// Numbers the points of a new mesh and lists them, and finds `share`.
void ua_mortars_renew(struct ua_mortars* t, const struct ua_mesh* m, const struct ua_basis* b);

/// Sets the surface nodes of element e from the values at the points.
void ua_gather(const struct ua_mortars* t, const struct ua_basis* b, int e, const double* value, double* u);

/// The transpose: adds the surface nodes of element e to the points, atomically.
void ua_scatter(const struct ua_mortars* t, const struct ua_basis* b, int e, const double* u, double* value);

/// Adds those nodes of element e that are points to these points, atomically. `share` counts these nodes.
void ua_scatter_plain(const struct ua_mortars* t, const struct ua_basis* b, int e, const double* u,
                      double* value);

/// The contributions of an element to the assembled operator's diagonal, for all cases that can meet at a
/// point.
struct ua_columns {
  struct ua_scale node[ua_nodes];  ///< nodes that are points, and those that belong only to the element
  struct ua_scale corner[64];  ///< by the edges (1, 2, 4) and faces (8, 16, 32) at it that are divided
  struct ua_scale edge[3][ua_fine];  ///< points of a divided edge, by the number of its divided faces
  struct ua_scale face[ua_fine][ua_fine];  ///< points of a divided face
};

void ua_columns_make(struct ua_columns* c, const struct ua_basis* b);

/// Computes the assembled operator's diagonal at the points; `scale` is by level.
void ua_diagonal(const struct ua_columns* c, const struct ua_mortars* t, const struct ua_mesh* m,
                 const struct ua_basis* b, const struct ua_scale* scale, double* diagonal);

#endif

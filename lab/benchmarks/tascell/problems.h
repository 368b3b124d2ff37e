/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark programs in the Tascell language, declared for C; and the leaves that all systems share. */
#ifndef SUKIMA_BENCH_TASCELL_PROBLEMS_H
#define SUKIMA_BENCH_TASCELL_PROBLEMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same declarations are used in the programs in the language and in their callers. */
#ifdef __SUKIMA__
#define WORKER worker
#else
#define WORKER
#endif

enum { leaf_elements = 128, leaf_side = 64, sorted_elements = 4096, merged_elements = 8192 };
enum { shared_vertices = 256, grown_bodies = 1024, step_count = 4 };

/* ---- the programs ------------------------------------------------------------------------------------ */

WORKER int64_t tascell_fib(int64_t n);
WORKER int64_t tascell_queens(int n);
WORKER int64_t tascell_queens_array(int n);
WORKER int64_t tascell_pentomino(int pieces);
WORKER int64_t tascell_cmp(const uint32_t* a, size_t a_size, const uint32_t* b, size_t b_size);

struct force3 {
  double x, y, z;
};
WORKER struct force3 tascell_grav(int n);

/* A rectangle of a row-major matrix: kernels::view. */
struct rectangle {
  double* data;
  size_t stride, rows, columns;
};
/* c += a b, and LU factors that overwrite a matrix. */
WORKER void tascell_multiply(struct rectangle c, struct rectangle a, struct rectangle b);
WORKER void tascell_factorise(struct rectangle a);

/* The number of nodes of a kernels::uts_tree from this node on, which is kernels::uts_node. */
struct tree_node {
  uint32_t state[5];
  int height;
};
WORKER int64_t tascell_nodes(const void* tree, const struct tree_node* node);

/* Sorts n numbers with a buffer of the same length. */
WORKER void tascell_sort(uint32_t* a, uint32_t* buffer, size_t n);

/* Gives each vertex of a connected graph except 0 a neighbour as its parent. All but parent[0] are ~0 before.
 * The neighbours of v are neighbour[first[v]] … neighbour[first[v + 1] - 1]. */
WORKER void tascell_spanning_tree(const uint32_t* first, const uint32_t* neighbour, uint32_t* parent);

/* Moves the bodies of a kernels::nbody_problem through all steps. */
WORKER void tascell_nbody(void* problem);

/* The closed subgraphs that contain a kernels::growing_subgraph. */
struct subgraphs {
  int64_t count;
  uint64_t hash;
};
WORKER struct subgraphs tascell_itemsets(void* subgraph);

/* ---- the leaves: the functions of kernels/ ----------------------------------------------------------- */

int64_t leaf_pairs(const uint32_t* a, size_t a_size, const uint32_t* b, size_t b_size);
struct force3 leaf_line(int n, int x, int y);
void leaf_multiply(int sign, const struct rectangle* c, const struct rectangle* a, const struct rectangle* b);
void leaf_factorise(const struct rectangle* a);
void leaf_solve_lower(const struct rectangle* l, const struct rectangle* b);
void leaf_solve_upper(const struct rectangle* u, const struct rectangle* b);

int leaf_children(const void* tree, const struct tree_node* node);
struct tree_node leaf_child(const struct tree_node* parent, int number);

void leaf_sort(uint32_t* a, uint32_t* buffer, size_t n, int into_buffer);
void leaf_merge(const uint32_t* a, size_t a_size, const uint32_t* b, size_t b_size, uint32_t* to);

/* nbody_problem::cell, octants and nbody_sum. */
struct body_cell {
  uint32_t first, last, node;
  int level, list;
};
struct body_octants {
  int count;
  struct body_cell part[8];
};
struct body_sum {
  double energy, reach;
};
int leaf_blocks(const void* problem);
void leaf_set_keys(void* problem, int block);
struct body_cell leaf_root(void* problem);
struct body_octants leaf_divide(void* problem, const struct body_cell* cell);
void leaf_set_leaf(void* problem, const struct body_cell* cell);
void leaf_grow(void* problem, const struct body_cell* cell);
void leaf_finish(void* problem, const struct body_cell* cell);
struct body_sum leaf_move(void* problem, int block);
void leaf_end_step(void* problem, struct body_sum sum);

/* Returns a list of the vertices by which a subgraph can grow, which the caller frees; NULL if there are
 * none. */
int32_t* leaf_candidates(void* subgraph, int* count);
/* The size of a subgraph before it grows: growing_subgraph::size_before. */
struct subgraph_size {
  size_t members;
  uint64_t common;
};
struct subgraph_size leaf_size(const void* subgraph);
/* Excludes the candidates before number i, and adds that one. If it cannot, returns 0 and changes nothing. */
int leaf_add(void* subgraph, const int32_t* candidates, int i);
void leaf_remove(void* subgraph, struct subgraph_size before, const int32_t* candidates, int i);
struct subgraphs leaf_itself(const void* subgraph);
void* leaf_copy(const void* subgraph);
void leaf_delete(void* subgraph);

#ifdef __cplusplus
}
#endif

#endif

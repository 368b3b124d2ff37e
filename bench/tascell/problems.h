/* SPDX-License-Identifier: Apache-2.0 */
/* The benchmark programs in the Tascell language, as C calls them; and the leaves that all systems share. */
#ifndef SUKIMA_BENCH_TASCELL_PROBLEMS_H
#define SUKIMA_BENCH_TASCELL_PROBLEMS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same declarations serve the programs in the language and their callers. */
#ifdef __SUKIMA__
#define WORKER worker
#else
#define WORKER
#endif

enum { leaf_elements = 128, leaf_side = 64 };

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
/* c += a b, and LU factors in place of a matrix. */
WORKER void tascell_multiply(struct rectangle c, struct rectangle a, struct rectangle b);
WORKER void tascell_factorise(struct rectangle a);

/* The leaves: kernels/cmp.hpp, grav.hpp and matrix.hpp. */
int64_t leaf_pairs(const uint32_t* a, size_t a_size, const uint32_t* b, size_t b_size);
struct force3 leaf_line(int n, int x, int y);
void leaf_multiply(int sign, const struct rectangle* c, const struct rectangle* a, const struct rectangle* b);
void leaf_factorise(const struct rectangle* a);
void leaf_solve_lower(const struct rectangle* l, const struct rectangle* b);
void leaf_solve_upper(const struct rectangle* u, const struct rectangle* b);

#ifdef __cplusplus
}
#endif

#endif

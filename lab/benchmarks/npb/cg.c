// SPDX-License-Identifier: Apache-2.0
// Kernel CG: the smallest eigenvalue of a large sparse matrix by inverse iteration, with the conjugate
// gradient method. A parallel region for each conjugate gradient solution and each normalisation, with many
// barriers inside. Specification: RNR-94-007, section 2.2.
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "npb.h"

enum { solver_steps = 25, outer_steps = 15, most_nonzeros = 16 };
static const double condition = 0.1;

/// The matrix by rows.
struct matrix {
  int size;
  int* row;  ///< where each row begins, and the end
  int* column;  ///< of each element
  double* value;
};

/// A sparse random vector.
struct sparse_vector {
  int count;
  int place[most_nonzeros];
  double value[most_nonzeros];
};

struct element {
  int column;
  double value;
};

static struct sparse_vector random_vector(int size, int nonzeros, int power, uint64_t* state) {
  struct sparse_vector v = {0, {0}, {0}};
  while (v.count < nonzeros) {
    const double value = npb_random(state, npb_multiplier);
    const int place = (int)(power * npb_random(state, npb_multiplier));
    bool known = place >= size;
    for (int i = 0; i < v.count && !known; ++i) known = v.place[i] == place;
    if (known) continue;
    v.place[v.count] = place;
    v.value[v.count++] = value;
  }
  return v;
}

static void set_element(struct sparse_vector* v, int place, double value) {
  for (int i = 0; i < v->count; ++i) {
    if (v->place[i] != place) continue;
    v->value[i] = value;
    return;
  }
  v->place[v->count] = place;
  v->value[v->count++] = value;
}

static int by_column(const void* a, const void* b) {
  const int x = ((const struct element*)a)->column;
  const int y = ((const struct element*)b)->column;
  return (x > y) - (x < y);
}

/// Sorts the elements of a row and adds up elements of the same column; returns how many are left.
static int merge(struct element* row, int count) {
  qsort(row, (size_t)count, sizeof *row, by_column);
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    if (kept > 0 && row[kept - 1].column == row[i].column) {
      row[kept - 1].value += row[i].value;
    } else {
      row[kept++] = row[i];
    }
  }
  return kept;
}

/// The sum of the weighted outer products of random vectors, with rcond on the diagonal, less the shift.
static struct matrix make_matrix(int size, int nonzeros, double shift) {
  uint64_t state = UINT64_C(314159265);
  npb_random(&state, npb_multiplier);
  int power = 1;
  while (power < size) power *= 2;
  struct sparse_vector* const vectors = npb_allocate((uint64_t)size, sizeof *vectors);
  int* const room = npb_allocate((uint64_t)size + 1, sizeof *room);
  for (int i = 0; i < size; ++i) {
    vectors[i] = random_vector(size, nonzeros, power, &state);
    set_element(&vectors[i], i, 0.5);
    for (int e = 0; e < vectors[i].count; ++e) room[vectors[i].place[e] + 1] += vectors[i].count;
  }
  for (int i = 0; i < size; ++i) room[i + 1] += room[i];
  struct element* const all = npb_allocate((uint64_t)room[size], sizeof *all);
  int* const filled = npb_allocate((uint64_t)size, sizeof *filled);
  const double ratio = pow(condition, 1.0 / size);
  double weight = 1;
  for (int i = 0; i < size; ++i, weight *= ratio) {
    for (int r = 0; r < vectors[i].count; ++r) {
      const int row = vectors[i].place[r];
      const double scale = weight * vectors[i].value[r];
      for (int c = 0; c < vectors[i].count; ++c) {
        double value = vectors[i].value[c] * scale;
        if (row == i && vectors[i].place[c] == i) value += condition - shift;
        all[room[row] + filled[row]++] = (struct element){vectors[i].place[c], value};
      }
    }
  }
  struct matrix a = {size, npb_allocate((uint64_t)size + 1, sizeof(int)),
                     npb_allocate((uint64_t)room[size], sizeof(int)),
                     npb_allocate((uint64_t)room[size], sizeof(double))};
  int end = 0;
  for (int row = 0; row < size; ++row) {
    a.row[row] = end;
    const int kept = merge(all + room[row], filled[row]);
    for (int e = 0; e < kept; ++e, ++end) {
      a.column[end] = all[room[row] + e].column;
      a.value[end] = all[room[row] + e].value;
    }
  }
  a.row[size] = end;
  free(vectors), free(room), free(all), free(filled);
  return a;
}

/// The vectors of the method.
struct work {
  double *x, *z, *p, *q, *r;
};

/// z = A^-1 x, nearly: the specification's 25 steps. Sums are made by all threads together and are kept in
/// `shared`.
static void solve(const struct matrix* a, const struct work* work) {
  const int n = a->size;
  double rho = 0;
  double pq = 0;
  double rho_new = 0;
#pragma omp parallel
  {
#pragma omp for reduction(+ : rho)
    for (int i = 0; i < n; ++i) {
      work->q[i] = work->z[i] = 0;
      work->r[i] = work->p[i] = work->x[i];
      rho += work->r[i] * work->r[i];
    }
    for (int step = 0; step < solver_steps; ++step) {
#pragma omp single
      pq = rho_new = 0;
#pragma omp for reduction(+ : pq)
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int e = a->row[i]; e < a->row[i + 1]; ++e) sum += a->value[e] * work->p[a->column[e]];
        work->q[i] = sum;
        pq += work->p[i] * sum;
      }
      const double alpha = rho / pq;
#pragma omp for reduction(+ : rho_new)
      for (int i = 0; i < n; ++i) {
        work->z[i] += alpha * work->p[i];
        work->r[i] -= alpha * work->q[i];
        rho_new += work->r[i] * work->r[i];
      }
      const double beta = rho_new / rho;
#pragma omp for
      for (int i = 0; i < n; ++i) work->p[i] = work->r[i] + beta * work->p[i];
#pragma omp single
      rho = rho_new;
    }
  }
}

/// One step of the inverse iteration; gives the estimate of the eigenvalue.
static double iterate(const struct matrix* a, const struct work* w, double shift) {
  solve(a, w);
  double xz = 0;
  double zz = 0;
#pragma omp parallel for reduction(+ : xz, zz)
  for (int i = 0; i < a->size; ++i) {
    xz += w->x[i] * w->z[i];
    zz += w->z[i] * w->z[i];
  }
  const double scale = 1 / sqrt(zz);
#pragma omp parallel for
  for (int i = 0; i < a->size; ++i) w->x[i] = scale * w->z[i];
  return shift + 1 / xz;
}

struct npb_result npb_cg(char class_name) {
  const int size = class_name == 'S' ? 1400 : class_name == 'W' ? 7000 : 14000;
  const int nonzeros = class_name == 'S' ? 7 : class_name == 'W' ? 8 : 11;
  const double shift = class_name == 'S' ? 10 : class_name == 'W' ? 12 : 20;
  const double expected = class_name == 'S'   ? 8.5971775078648
                          : class_name == 'W' ? 10.362595087124
                                              : 17.130235054029;
  const struct matrix a = make_matrix(size, nonzeros, shift);
  struct work w;
  double** const vectors[] = {&w.x, &w.z, &w.p, &w.q, &w.r};
  for (int v = 0; v < 5; ++v) *vectors[v] = npb_allocate((uint64_t)size, sizeof(double));
  struct npb_result result = {0, 0, false};
  result.threads = npb_count_threads();
  // One step that is not timed, as specified.
  for (int i = 0; i < size; ++i) w.x[i] = 1;
  iterate(&a, &w, shift);
  for (int i = 0; i < size; ++i) w.x[i] = 1;
  double zeta = 0;
  const double begin = omp_get_wtime();
  for (int step = 0; step < outer_steps; ++step) zeta = iterate(&a, &w, shift);
  result.seconds = omp_get_wtime() - begin;
  result.verified = npb_close(zeta, expected, 1e-10);
  for (int v = 0; v < 5; ++v) free(*vectors[v]);
  free(a.row), free(a.column), free(a.value);
  return result;
}

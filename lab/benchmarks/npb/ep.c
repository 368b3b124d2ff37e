// SPDX-License-Identifier: Apache-2.0
// Kernel EP: pairs of normally distributed numbers by acceptance and rejection, counted by square annuli.
// One parallel region, no communication. Specification: RNR-94-007, section 2.1.
#include <math.h>
#include <omp.h>

#include "npb.h"

enum { batch_log = 16 };

struct tally {
  double sum_x, sum_y;
};

static struct tally count_batch(uint64_t batch) {
  struct tally t = {0, 0};
  uint64_t state = (UINT64_C(271828183) * npb_power(npb_multiplier, (UINT64_C(2) << batch_log) * batch)) &
                   ((UINT64_C(1) << 46) - 1);
  for (uint64_t pair = 0; pair < UINT64_C(1) << batch_log; ++pair) {
    const double x = 2 * npb_random(&state, npb_multiplier) - 1;
    const double y = 2 * npb_random(&state, npb_multiplier) - 1;
    const double square = x * x + y * y;
    if (square > 1) continue;
    const double factor = sqrt(-2 * log(square) / square);
    t.sum_x += x * factor;
    t.sum_y += y * factor;
  }
  return t;
}

struct npb_result npb_ep(char class_name) {
  const int log_pairs = class_name == 'S' ? 24 : class_name == 'W' ? 25 : 28;
  const int64_t batches = INT64_C(1) << (log_pairs - batch_log);
  struct npb_result result = {0, 0, false};
  double sum_x = 0;
  double sum_y = 0;
  const double begin = omp_get_wtime();
#pragma omp parallel reduction(+ : sum_x, sum_y)
  {
#pragma omp single nowait
    result.threads = omp_get_num_threads();
#pragma omp for
    for (int64_t batch = 0; batch < batches; ++batch) {
      const struct tally t = count_batch((uint64_t)batch);
      sum_x += t.sum_x;
      sum_y += t.sum_y;
    }
  }
  result.seconds = omp_get_wtime() - begin;
  static const double expected[3][2] = {{-3.247834652034740e3, -6.958407078382297e3},
                                        {-2.863319731645753e3, -6.320053679109499e3},
                                        {-4.295875165629892e3, -1.580732573678431e4}};
  const int row = class_name == 'S' ? 0 : class_name == 'W' ? 1 : 2;
  result.verified = npb_close(sum_x, expected[row][0], 1e-8) && npb_close(sum_y, expected[row][1], 1e-8);
  return result;
}

// SPDX-License-Identifier: Apache-2.0
// Common parts of the kernels. They are written from the specification of the NAS Parallel Benchmarks: D.
// Bailey et al., "The NAS Parallel Benchmarks", NASA RNR-94-007 (1994), with the problem classes W and A as
// in NAS-95-020. Their results are compared with the values that are published there.
#ifndef SUKIMA_BENCH_NPB_H
#define SUKIMA_BENCH_NPB_H

#include <stdbool.h>
#include <stdint.h>

/// Returns the next number of the specification's generator, x = a x mod 2^46, as a number between 0 and 1.
static inline double npb_random(uint64_t* x, uint64_t a) {
  *x = (*x * a) & ((UINT64_C(1) << 46) - 1);  // 2^46 divides 2^64, so the product may overflow
  return (double)*x * 0x1p-46;
}

/// Returns a^n mod 2^46, to begin in the middle of the sequence.
static inline uint64_t npb_power(uint64_t a, uint64_t n) {
  const uint64_t mask = (UINT64_C(1) << 46) - 1;
  uint64_t result = 1;
  for (; n != 0; n >>= 1, a = (a * a) & mask)
    if ((n & 1) != 0) result = (result * a) & mask;
  return result;
}

/// The multiplier of the specification, 5^13.
static const uint64_t npb_multiplier = UINT64_C(1220703125);

/// The result of a kernel.
struct npb_result {
  double seconds;  ///< of the part that the specification measures
  int threads;  ///< of its first parallel region
  bool verified;  ///< the published values were reached
};

/// Returns whether `value` is `expected` within a relative error.
bool npb_close(double value, double expected, double error);

/// The number of threads of a parallel region.
int npb_count_threads(void);

/// Allocates memory; ends the program with a message if there is none.
void* npb_allocate(uint64_t count, uint64_t size);

// The kernels. The class is 'S', 'W' or 'A', if the kernel has it.
struct npb_result npb_cg(char class_name);
struct npb_result npb_ep(char class_name);
struct npb_result npb_lu(char class_name);
struct npb_result npb_bt(char class_name);
struct npb_result npb_sp(char class_name);
struct npb_result npb_ua(char class_name);

#endif

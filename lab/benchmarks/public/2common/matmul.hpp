// SPDX-License-Identifier: Apache-2.0
// Replaces the header of that name of tzcnt/runtime-benchmarks.
#pragma once

/// Adds the product of two n × n parts of N × N matrices to a third one.
inline void matmul_small(int* a, int* b, int* c, int n, int N) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < n; ++j) c[i * N + j] += a[i * N + k] * b[k * N + j];
}

// SPDX-License-Identifier: Apache-2.0
// OpenMP starts its threads with its first parallel region; here only their number is set.
#include <omp.h>

#include "harness/harness.hpp"

void bench::with_system(unsigned workers, const std::function<void()>& body) {
  omp_set_dynamic(0);
  omp_set_num_threads(static_cast<int>(workers));
  body();
}

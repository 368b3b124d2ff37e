// SPDX-License-Identifier: Apache-2.0
// What programs ask about the workers.
#include "support.hpp"

#include <sukima/sukima.h>
#include <sukima/runtime.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>

extern "C" {

int sukima_worker_id(void) { return sukima::worker_id(); }

void sukima_weight_set(double weight) { sukima::set_weight(weight); }

int sukima_worker_count(void) {
  try {
    return static_cast<int>(sukima::default_runtime().workers());
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(2);
  }
}

int sukima_workers_set(int count) {
  if (count < 1 || count > 1024) return EINVAL;
  try {
    return sukima::detail::renew_default_runtime(static_cast<unsigned>(count)) ? 0 : EBUSY;
  } catch (const std::exception& e) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", e.what());
    std::_Exit(2);
  }
}

void sukima_statistics(FILE* file) {
  try {
    std::fputs(sukima::default_runtime().statistics().text().c_str(), file);
  } catch (const std::exception& e) {
    std::fprintf(file, "%s\n", e.what());
  }
}

}  // extern "C"

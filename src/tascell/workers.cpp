// SPDX-License-Identifier: Apache-2.0
// Functions that tell programs facts about the workers.
#include "support.hpp"

#include <sukima/sukima.h>
#include <sukima/runtime.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

extern "C" {

int sukima_worker_id(void) { return sukima::worker_id(); }

void sukima_weight_set(double weight) { sukima::set_weight(weight); }

int sukima_worker_count(void) {
  try {
    int count = 0;
    sukima::detail::use_default_runtime(
        [&count](const sukima::runtime& r) { count = static_cast<int>(r.workers()); });
    return count;
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
    std::string text;
    sukima::detail::use_default_runtime([&text](const sukima::runtime& r) { text = r.statistics().text(); });
    std::fputs(text.c_str(), file);
  } catch (const std::exception& e) {
    std::fprintf(file, "%s\n", e.what());
  }
}

}  // extern "C"

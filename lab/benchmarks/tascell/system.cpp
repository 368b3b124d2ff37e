// SPDX-License-Identifier: Apache-2.0
// The programs in the Tascell language enter the default runtime, which gets a number of workers here.
#include "harness/harness.hpp"
#include "problems.h"

#include <sukima/sukima.h>

void bench::with_system(unsigned workers, const std::function<void()>& body) {
  if (sukima_workers_set(static_cast<int>(workers)) != 0)
    throw bench::bad_argument("the number of workers must be between 1 and 1024");
  body();
}

void bench::warm_up() { tascell_fib(25); }

// SPDX-License-Identifier: Apache-2.0
// The sequential program has nothing to start; it ignores the number of workers.
#include "harness/harness.hpp"

void bench::with_system(unsigned, const std::function<void()>& body) { body(); }

void bench::warm_up() {}

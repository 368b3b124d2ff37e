// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber has nothing to start: each thread schedules the fibers that it has made.
#include "harness/harness.hpp"

#include <boost/fiber/fiber.hpp>

void bench::with_system(unsigned, const std::function<void()>& body) { body(); }

void bench::warm_up() {
  for (int i = 0; i < 100; ++i) boost::fibers::fiber([] {}).join();
}

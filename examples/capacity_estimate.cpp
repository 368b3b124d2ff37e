// SPDX-License-Identifier: Apache-2.0
// What would one thread get here, and what as many as may run at once? The number comes with an interval and
// with what it rests on.
#include <chrono>
#include <cstdio>
#include <thread>

#include <sukima/capacity.hpp>

int main() {
  sukima::capacity::estimator estimator;
  for (int i = 0; i < 8; i++) {
    estimator.sample();  // ten times a second
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  for (const double threads : {1.0, 0.0}) {  // 0: as many as may run at once
    const sukima::capacity::estimate answer = estimator.usable(threads);
    std::printf("%g threads get %.2f CPUs (%.2f to %.2f, %s)\n", answer.threads, answer.usable, answer.low,
                answer.high, sukima_capacity_basis_name(answer.basis));
  }
  std::printf("now: %.2f CPUs\n", estimator.load().now);
}

// SPDX-License-Identifier: Apache-2.0
// Exceptions leave forks and loops; what runs beside them is aborted first.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>

static void check(int order) {
  if (order == 4711) throw std::runtime_error("order " + std::to_string(order) + " has no address");
}

int main() {
  try {
    sukima::parallel_for(0, 10'000, check);
  } catch (const std::runtime_error& e) {
    std::printf("%s\n", e.what());
  }
}

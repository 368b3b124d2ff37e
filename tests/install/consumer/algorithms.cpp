// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of the standard library on Sukima's workers.
#include <cstdio>
#include <execution>
#include <numeric>
#include <vector>

int main() {
  std::vector<long> numbers(100);
  std::iota(numbers.begin(), numbers.end(), 1L);
  std::printf("%ld\n", std::reduce(std::execution::par, numbers.begin(), numbers.end(), 0L));
}

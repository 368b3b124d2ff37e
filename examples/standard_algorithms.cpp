// SPDX-License-Identifier: Apache-2.0
// The parallel algorithms of the standard library on Sukima's workers: the folder include/sukima/pstl comes
// first in the include path, nothing else is different.
#include <algorithm>
#include <execution>
#include <numeric>

#include <cstdio>
#include <vector>

int main() {
  std::vector<int> numbers(1'000'000);
  std::iota(numbers.rbegin(), numbers.rend(), 1);
  std::sort(std::execution::par, numbers.begin(), numbers.end());
  const long sum = std::reduce(std::execution::par_unseq, numbers.begin(), numbers.end(), 0L);
  std::printf("%d … %d, sum %ld\n", numbers.front(), numbers.back(), sum);
}

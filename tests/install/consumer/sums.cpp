// SPDX-License-Identifier: Apache-2.0
// A user's C++ program: prints the sum of 1 to 100.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <functional>

int main() {
  const int sum = sukima::parallel_reduce(1, 101, 0, [](int i) { return i; }, std::plus{});
  std::printf("%d\n", sum);
}

// SPDX-License-Identifier: Apache-2.0
// Compiled with _GLIBCXX_DEBUG, which changes the layout of containers. Prints 4950.
#include <sukima/sukima.hpp>

#include <atomic>
#include <iostream>
#include <vector>

int main() {
  std::vector<int> numbers(100);
  for (int i = 0; i < 100; ++i) numbers[static_cast<std::size_t>(i)] = i;
  std::atomic<int> sum = 0;
  sukima::parallel_for(numbers, [&](int i) { sum += i; }, sukima::on([](int) { return sukima::here(); }));
  sukima::runtime many({.workers = 1000, .elastic = true});
  for (const sukima::decision& d : many.decisions())
    if (d.setting != "workers") return 1;
  std::cout << sum << '\n';
}

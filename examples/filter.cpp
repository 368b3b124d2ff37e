// SPDX-License-Identifier: Apache-2.0
// parallel_filter, parallel_partition, parallel_remove_if and parallel_unique: what is kept of a vector.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

struct reading {
  std::string sensor;
  double value;
};

int main() {
  std::vector<int> numbers(1'000'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  // A new vector, in the same order …
  const std::vector<int> thirds = sukima::parallel_filter(numbers, [](int x) { return x % 3 == 0; });
  // … or in place: the multiples of five first, in any order.
  const auto others = sukima::parallel_partition(numbers, [](int x) { return x % 5 == 0; });
  std::printf("%zu multiples of three, %td of five\n", thirds.size(), others - numbers.begin());

  std::vector<reading> readings{{"north", 3.5}, {"south", -1.0}, {"east", 2.0}, {"west", 7.5}};
  // Of a vector that is given away the elements are moved.
  std::vector<reading> high =
      sukima::parallel_filter(std::move(readings), [](double v) { return v > 1.0; }, &reading::value);
  high.erase(sukima::parallel_remove_if(high, [](double v) { return v > 5.0; }, &reading::value), high.end());
  for (const reading& r : high) std::printf("%s ", r.sensor.c_str());

  std::vector<int> days{1, 1, 2, 3, 3, 3, 5};
  days.erase(sukima::parallel_unique(days), days.end());
  std::printf("%zu days\n", days.size());
}

// SPDX-License-Identifier: Apache-2.0
// parallel_sort and parallel_stable_sort: comparators, projections.
#include <sukima/sukima.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

struct person {
  std::string name;
  int age;
};

int main() {
  std::vector<std::uint_fast32_t> numbers(1'000'000);
  std::mt19937 random(1);
  for (auto& x : numbers) x = random();
  sukima::parallel_sort(numbers);                           // upward
  sukima::parallel_sort(numbers, std::ranges::greater{});  // downward

  std::vector<person> people{{"Ada", 36}, {"Alan", 41}, {"Emmy", 53}, {"Kurt", 71}, {"Grace", 41}};
  sukima::parallel_stable_sort(people, {}, &person::age);  // people of one age keep their order
  for (const person& p : people) std::printf("%s ", p.name.c_str());
  std::printf("%s\n", numbers.front() > numbers.back() ? "downward" : "upward");
}

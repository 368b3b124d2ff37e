// SPDX-License-Identifier: Apache-2.0
// parallel_sort, parallel_stable_sort and parallel_nth_element: comparators, projections.
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
  const bool is_downward = numbers.front() > numbers.back();

  std::vector<person> people{{"Ada", 36}, {"Alan", 41}, {"Emmy", 53}, {"Kurt", 71}, {"Grace", 41}};
  sukima::parallel_stable_sort(people, {}, &person::age);  // people of one age keep their order

  const auto median = numbers.begin() + 500'000;
  sukima::parallel_nth_element(numbers, median);  // no element before it is greater
  for (const person& p : people) std::printf("%s ", p.name.c_str());
  std::printf("%s, then %s\n", is_downward ? "downward" : "upward",
              numbers.front() <= *median && *median <= numbers.back() ? "halves" : "disorder");
}

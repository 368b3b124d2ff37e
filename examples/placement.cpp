// SPDX-License-Identifier: Apache-2.0
// Which CPUs are near to each other, where this thread runs, and where a page of memory lies.
#include <cstdio>
#include <vector>

#include <sukima/place.hpp>

int main() {
  using sukima::place;
  using sukima::place_level;

  for (const place cache : sukima::places(place_level::ll_cache)) {
    std::printf("%s in %s:", cache.text().c_str(), cache.around(place_level::numa_domain).text().c_str());
    for (const place core : sukima::places(place_level::core))
      if (cache.contains(core)) std::printf(" %s", core.text().c_str());
    std::puts("");
  }

  const std::vector<double> table(1'000'000, 1.0);
  const place memory = sukima::place_of(table.data());
  std::printf("this thread runs on %s, its table is in %s\n", sukima::here().text().c_str(),
              memory.is_any() ? "any place" : memory.text().c_str());
  // A page in any place is near to every thread.
  std::printf("near: %s\n", memory.contains(sukima::here()) ? "yes" : "no");
}

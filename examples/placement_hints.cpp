// SPDX-License-Identifier: Apache-2.0
// Hints where to compute: slices of a table, each to be worked at by the cores that have it in their caches.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <sukima/sukima.hpp>

namespace {

using sukima::context;
using sukima::place;

struct slice {
  place home;
  std::vector<std::uint32_t> cells;
};

void smooth(slice& s) {
  for (std::size_t i = 1; i < s.cells.size(); ++i) s.cells[i] = (s.cells[i] + s.cells[i - 1]) / 2;
}

std::uint64_t sum(context c, std::vector<slice>& slices, std::size_t from, std::size_t to) {
  if (to - from == 1) {
    std::uint64_t total = 0;
    for (const std::uint32_t cell : slices[from].cells) total += cell;
    return total;
  }
  const std::size_t middle = from + (to - from) / 2;
  auto [a, b] = sukima::fork2(
      c, [&](context below) { return sum(below, slices, from, middle); },
      [&](context below) { return sum(below, slices, middle, to); }, sukima::on(slices[middle].home));
  return a + b;
}

}  // namespace

int main() {
  const std::vector<place> cores = sukima::places(sukima::place_level::core);
  std::vector<slice> slices;
  for (std::size_t i = 0; i < 32; ++i)
    slices.push_back({cores[i % cores.size()], std::vector<std::uint32_t>(8192, 1000)});

  const std::uint64_t total = sukima::run([&](context c) {
    // A loop: its iterations are grouped by the place of their slice.
    for (int pass = 0; pass < 10; ++pass)
      sukima::parallel_for(c, slices, smooth, sukima::on([](const slice& s) { return s.home; }));

    // A call: what it forks inherits the place.
    sukima::on(c, slices[5].home, [&] { smooth(slices[5]); });

    // A fork: the branch that may be given away.
    return sum(c, slices, 0, slices.size());
  });
  std::printf("%llu\n", static_cast<unsigned long long>(total));
}

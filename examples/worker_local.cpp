// SPDX-License-Identifier: Apache-2.0
// worker_local: a histogram for each worker, added up at the end.
#include <sukima/sukima.hpp>

#include <array>
#include <cstdio>

using histogram = std::array<long, 10>;

int main() {
  sukima::worker_local<histogram> counts([] { return histogram{}; });
  sukima::parallel_for(0, 1'000'000, [&](int i) {
    // The reference is good until this code forks, joins or waits; here it does not.
    histogram& mine = counts.local();
    ++mine[static_cast<std::size_t>(i * 7L % 10)];
  });
  const histogram all = counts.combine([](histogram a, const histogram& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  });
  for (const long n : all) std::printf("%ld ", n);
  std::puts("");
}

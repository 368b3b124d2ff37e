// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx: called only where the CPU has it.
#include "early_vectors.hpp"

#include <sukima/sukima.hpp>

#include <thread>
#include <vector>

namespace early_vectors {

namespace {

using sukima::context;
using four_doubles [[gnu::vector_size(32)]] = double;

}  // namespace

bool are_kept() {
  sukima::settings s;
  s.workers = 2;
  s.elastic = false;
  sukima::runtime two(s);
  bool right = true;
  for (int round = 0; round < 5; ++round) {
    const std::vector<four_doubles> ones(1024, four_doubles{1, 1, 1, 1});
    const four_doubles* const v = ones.data();
    constexpr int count = 2'000'000;
    std::thread changes([&] { two.limit_workers(1 + static_cast<unsigned>(round) % 2); });
    const four_doubles sum = two.run([&](context c) {
      return sukima::parallel_reduce(
          c, 0, count, four_doubles{}, [v](context, int i) { return v[i % 1024]; },
          [](four_doubles a, four_doubles b) { return a + b; });
    });
    changes.join();
    for (int i = 0; i < 4; ++i) right = right && sum[i] == count;
  }
  return right;
}

}  // namespace early_vectors

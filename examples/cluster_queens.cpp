// SPDX-License-Identifier: Apache-2.0
// The n-queens problem on several nodes, of which all but one may die:
// sukima cluster run -n 4 --hope -- ./cluster_queens 14
#include <sukima/cluster.hpp>

#include <cstdio>
#include <cstdlib>
#include <functional>

unsigned long queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right);

unsigned long queen_at(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right,
                       unsigned column) {
  const unsigned bit = 1u << column;
  if (((taken | left | right) & bit) != 0) return 0;
  return queens(c, size, taken | bit, (left | bit) << 1, (right | bit) >> 1);
}

unsigned long queens(sukima::context c, unsigned size, unsigned taken, unsigned left, unsigned right) {
  if (taken == (1u << size) - 1) return 1;
  return sukima::parallel_reduce(c, 0u, size, 0ul, sukima::call<queen_at>(size, taken, left, right),
                                 std::plus{});
}

int main(int argc, char** argv) {
  const unsigned most = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 8;
  for (unsigned size = 4; size <= most; ++size)
    std::printf("%u: %lu\n", size, sukima::cluster::run(sukima::call<queens>(size, 0u, 0u, 0u)));
}

// SPDX-License-Identifier: Apache-2.0
// set_bits: the n-queens problem on three words. The free columns of a row are the set bits of a word; they
// are tried lowest first, and no list of them is made.
#include <sukima/sukima.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>

namespace {

struct board {
  std::uint32_t all;  // the columns
  std::uint32_t columns = 0, left = 0, right = 0;  // attacked in the next row
  bool complete() const { return columns == all; }
  std::uint32_t free() const { return all & ~(columns | left | right); }
  board with(std::uint32_t queen) const {
    return {all, columns | queen, (left | queen) << 1, (right | queen) >> 1};
  }
};

long solutions(sukima::context c, board b) {
  if (b.complete()) return 1;
  return sukima::parallel_reduce(
      c, sukima::set_bits(b.free()), 0L,
      [b](sukima::context below, std::uint32_t queen) { return solutions(below, b.with(queen)); },
      std::plus{});
}

}  // namespace

int main() {
  const long found = sukima::run([](sukima::context c) { return solutions(c, board{(1u << 10) - 1}); });
  std::printf("%ld solutions\n", found);
}

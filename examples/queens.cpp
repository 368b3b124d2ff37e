// SPDX-License-Identifier: Apache-2.0
// search: all solutions of the n-queens problem, on one board a worker. A board is copied only when a piece
// of the
// search is given away; on its own way a worker places and removes queens.
#include <sukima/sukima.hpp>

#include <cstddef>
#include <cstdio>
#include <ranges>
#include <vector>

class board {
 public:
  explicit board(std::size_t n) : size(n), column(n), rising(2 * n), falling(2 * n) {}
  bool complete() const { return row == size; }
  auto columns() const { return std::views::iota(std::size_t{0}, size); }
  bool place(std::size_t x) {
    if (column[x] || rising[row + x] || falling[row + size - x]) return false;
    column[x] = rising[row + x] = falling[row + size - x] = true;
    ++row;
    return true;
  }
  void remove(std::size_t x) {
    --row;
    column[x] = rising[row + x] = falling[row + size - x] = false;
  }

 private:
  std::size_t size;
  std::size_t row = 0;
  std::vector<char> column, rising, falling;
};

static long solutions(sukima::context c, board& b) {
  if (b.complete()) return 1;
  return sukima::search(
      c, b, b.columns(), [](board& mine, std::size_t x) { return mine.place(x); },
      [](board& mine, std::size_t x) { mine.remove(x); },
      [](sukima::context below, board& mine, std::size_t) { return solutions(below, mine); }, std::plus{});
}

int main() {
  board b(9);
  std::printf("%ld solutions\n", sukima::run([&](sukima::context c) { return solutions(c, b); }));
}

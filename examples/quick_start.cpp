// SPDX-License-Identifier: Apache-2.0
// The first program: forks, a loop, and a search over one board for each worker.
#include <sukima/sukima.hpp>

#include <cstdio>
#include <functional>
#include <ranges>
#include <vector>

// Two calls that may run at the same time. No cut-off: a fork that no worker takes costs about a nanosecond.
long fib(sukima::context c, long n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [=](sukima::context below) { return fib(below, n - 1); },
      [=](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

// Queens on one board: it is changed and changed back, and copied only when another worker takes a part.
struct board {
  std::vector<int> column_of_row;
  int n;

  bool place(int column) {
    const int row = static_cast<int>(column_of_row.size());
    for (int r = 0; r < row; ++r) {
      const int distance = column_of_row[static_cast<std::size_t>(r)] - column;
      if (distance == 0 || distance == row - r || distance == r - row) return false;
    }
    column_of_row.push_back(column);
    return true;
  }
  void remove() { column_of_row.pop_back(); }
};

long solutions(sukima::context c, board& b) {
  if (static_cast<int>(b.column_of_row.size()) == b.n) return 1;
  const auto place = [](board& w, int column) { return w.place(column); };  // false: not possible
  const auto remove = [](board& w, int) { w.remove(); };
  const auto deeper = [](sukima::context below, board& w, int) { return solutions(below, w); };
  return sukima::search(c, b, std::views::iota(0, b.n), place, remove, deeper, std::plus{});
}

int main() {
  const long f = sukima::run([](sukima::context c) { return fib(c, 27); });
  std::printf("fib(27) = %ld\n", f);

  board empty{{}, 8};
  const long count = sukima::run([&](sukima::context c) { return solutions(c, empty); });
  std::printf("8 queens: %ld solutions\n", count);

  // Without a context it works, too: the runtime starts at the first call.
  std::vector<double> x(10'000, 1.0), y(x.size(), 2.0);
  sukima::parallel_for(std::size_t{0}, y.size(), [&](std::size_t i) { y[i] += 3 * x[i]; });
  std::printf("y[0] = %g\n", y[0]);
}

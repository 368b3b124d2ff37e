// SPDX-License-Identifier: Apache-2.0
// fib, nqueens and nqueens-array once more, with calls that take no context: what looking it up costs.
#include "in_runtime.hpp"
#include "kernels/nqueens.hpp"
#include "kernels/nqueens_array.hpp"

namespace {

std::int64_t fib(std::int64_t n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

std::int64_t solutions(kernels::queens q) {
  if (q.complete()) return 1;
  return sukima::parallel_reduce(
      sukima::set_bits(q.free()), std::int64_t{0}, [q](std::uint32_t bit) { return solutions(q.with(bit)); },
      std::plus{});
}

using kernels::queens_board;

std::int64_t solutions(queens_board& board, int row) {
  if (row == board.n) return 1;
  return sukima::search(
      board, std::views::iota(0, board.n),
      [row](queens_board& b, int column) { return b.place_if_free(row, column); },
      [row](queens_board& b, int column) { b.remove(row, column); },
      [row](queens_board& b, int) { return solutions(b, row + 1); }, std::plus{});
}

void measure_fib(bench::run& run) {
  time_in_runtime(run, [n = std::int64_t{run.size_between(0, 60)}] { return fib(n); });
}

void measure_nqueens(bench::run& run) {
  time_in_runtime(run, [empty = kernels::queens::empty(run.size_between(1, kernels::most_queens))] {
    return solutions(empty);
  });
}

void measure_nqueens_array(bench::run& run) {
  queens_board board{run.size_between(1, queens_board::most)};
  time_in_runtime(run, [&board] { return solutions(board, 0); });
}

const bench::registration registered[]{{"fib-without-context", measure_fib},
                                       {"nqueens-without-context", measure_nqueens},
                                       {"nqueens-array-without-context", measure_nqueens_array}};

}  // namespace

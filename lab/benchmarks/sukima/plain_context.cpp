// SPDX-License-Identifier: Apache-2.0
// fib, nqueens-array and empty once more, by functions that take a plain context and never run as clones:
// what each fork, each choice and each entry costs.
#include "harness/batches.hpp"
#include "in_runtime.hpp"
#include "kernels/nqueens_array.hpp"
#include "kernels/small.hpp"

namespace {

std::int64_t fib(sukima::context c, std::int64_t n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(
      c, [n](sukima::context below) { return fib(below, n - 1); },
      [n](sukima::context below) { return fib(below, n - 2); });
  return a + b;
}

using kernels::queens_board;

std::int64_t solutions(sukima::context c, queens_board& board, int row) {
  if (row == board.n) return 1;
  return sukima::search(
      c, board, std::views::iota(0, board.n),
      [row](queens_board& b, int column) { return b.place_if_free(row, column); },
      [row](queens_board& b, int column) { b.remove(row, column); },
      [row](sukima::context below, queens_board& b, int) { return solutions(below, b, row + 1); },
      std::plus{});
}

void measure_fib(bench::run& run) {
  const std::int64_t n = run.size_between(0, 60);
  time_in_runtime(run, [n](sukima::context c) { return fib(c, n); });
}

void measure_nqueens_array(bench::run& run) {
  queens_board board{run.size_between(1, queens_board::most)};
  time_in_runtime(run, [&board](sukima::context c) { return solutions(c, board, 0); });
}

void measure_empty(bench::run& run) {
  constexpr std::size_t batch = 50;
  const int calls = run.size_between(batch, 100'000'000);
  bench::time_median(run, static_cast<std::size_t>(calls), batch, [] {
    system_runtime().run([](sukima::context c) {
      sukima::fork2(
          c, [](sukima::context) { kernels::nothing(); }, [](sukima::context) { kernels::nothing(); });
    });
  });
  run.result("ok");
}

const bench::registration registered[]{{"fib-plain-context", measure_fib},
                                       {"nqueens-array-plain-context", measure_nqueens_array},
                                       {"empty-plain-context", measure_empty}};

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Programs for several nodes: sukima cluster run -n 4 -- bench-cluster PROGRAM SIZE
// --list prints their names and default sizes.
//
// fib forks calls; nqueens-array and pentomino search with callables without captures; uts and subgraphs add
// up calls in loops. Each prints its result, and on stderr the time, the tasks that it gave and
// received, and the node with its CPU time, as `sukima bench --nodes` reads it; under `--hope`
// before that the fate of its units.
#include "kernels/nqueens_array.hpp"
#include "kernels/pentomino.hpp"
#include "kernels/uts.hpp"

#include <sukima/cluster.hpp>
#include <sukima/ranges.hpp>

#include <sys/resource.h>

#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

namespace programs {

using sukima::call;

std::int64_t fib(sukima::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = sukima::fork2(c, call<fib>(n - 1), call<fib>(n - 2));
  return a + b;
}

struct queens {
  kernels::queens_board board;
  int row = 0;
};
}  // namespace programs
template <> inline constexpr bool sukima::holds_no_pointers<programs::queens> = true;
namespace programs {

std::int64_t solutions(sukima::context c, queens& q) {
  if (q.row == q.board.n) return 1;
  return sukima::search(
      c, q, std::views::iota(0, q.board.n),
      [](queens& w, int column) {
        if (!w.board.place_if_free(w.row, column)) return false;
        ++w.row;
        return true;
      },
      [](queens& w, int column) {
        w.board.remove(--w.row, column);
        w.board.column[static_cast<unsigned>(w.row)] = 0;  // as it was: tasks are named by all bytes of it
      },
      [](sukima::context below, queens& w, int) { return solutions(below, w); }, std::plus{});
}
std::int64_t count_queens(sukima::context c, int n) {
  queens q{kernels::queens_board(n)};
  return solutions(c, q);
}

/// The choices are numbers, which mean the same in each process: 8 * (place in the order - used) + form.
struct puzzle {
  kernels::pentomino_board board;
  int used = 0;
  int cell = 0;  ///< the first free one
  std::array<int, kernels::pentomino_board::most_pieces> filled{};  ///< the first free cell before each piece
  static constexpr int forms = 8;

  bool put(int choice) {
    const int chosen = used + choice / forms;
    const auto& piece = board.forms(chosen);
    if (choice % forms >= piece.forms) return false;
    const auto& how = piece.form[static_cast<unsigned>(choice % forms)];
    if ((board.window(cell) & how.mask) != 0) return false;
    board.place(cell, used, chosen, how);
    filled[static_cast<unsigned>(used++)] = cell;
    if (!board.complete()) cell = board.first_free(cell);
    return true;
  }
  void take(int choice) {
    cell = std::exchange(filled[static_cast<unsigned>(--used)], 0);  // tasks are named by all bytes of this
    const auto& how = board.forms(used).form[static_cast<unsigned>(choice % forms)];
    board.remove(cell, used, used + choice / forms, how);
  }
};
}  // namespace programs
template <> inline constexpr bool sukima::holds_no_pointers<programs::puzzle> = true;
namespace programs {
std::int64_t fillings(sukima::context c, puzzle& p) {
  if (p.board.complete()) return 1;
  if (p.board.hopeless(p.cell)) return 0;
  return sukima::search(
      c, p, std::views::iota(0, puzzle::forms * (p.board.n - p.used)),
      [](puzzle& w, int choice) { return w.put(choice); }, [](puzzle& w, int choice) { w.take(choice); },
      [](sukima::context below, puzzle& w, int) { return fillings(below, w); }, std::plus{});
}
std::int64_t count_fillings(sukima::context c, int pieces) {
  puzzle p{kernels::pentomino_board(pieces)};
  return fillings(c, p);
}

std::int64_t below_child(sukima::context c, const kernels::uts_tree& tree, const kernels::uts_node& parent,
                         int i) {
  const kernels::uts_node node = kernels::uts_child(parent, i);
  return 1 + sukima::parallel_reduce(c, 0, kernels::uts_children(tree, node), std::int64_t{0},
                                     call<below_child>(tree, node), std::plus{});
}
std::int64_t tree_nodes(sukima::context c, int number) {
  const kernels::uts_tree tree = kernels::published_tree(number);
  const kernels::uts_node root = kernels::uts_root(tree);
  return 1 + sukima::parallel_reduce(c, 0, kernels::uts_children(tree, root), std::int64_t{0},
                                     call<below_child>(tree, root), std::plus{});
}

/// Counts the connected sets of vertices of a graph that have at least `least` common items. To count each
/// set once, the search adds each neighbour of a set in turn, and excludes the neighbours added before.
struct graph {
  static constexpr int least = 14;
  int vertices = 0;
  std::array<std::uint64_t, 64> neighbours{};
  std::array<std::uint32_t, 64> items{};
};
/// Equal on all nodes, because the main of each node makes it.
graph network;

std::uint64_t bit(int v) { return std::uint64_t{1} << v; }

/// Joins each vertex to earlier ones, and gives it almost the items of one of them, as in networks of
/// proteins.
graph make_graph(int vertices) {
  graph g;
  g.vertices = vertices;
  std::uint64_t state = 20140701;
  const auto draw = [&state] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1DULL;
  };
  g.items[0] = ~std::uint32_t{0};
  for (int v = 1; v < vertices; ++v) {
    int first = 0;
    for (int edge = 0; edge < 3; ++edge) {
      const int other = static_cast<int>(draw() % static_cast<unsigned>(v));
      if (edge == 0) first = other;
      g.neighbours[static_cast<unsigned>(v)] |= bit(other);
      g.neighbours[static_cast<unsigned>(other)] |= bit(v);
    }
    // NOLINTNEXTLINE(misc-redundant-expression): four draws, so one bit of 16 is lost
    const std::uint64_t lost = draw() & draw() & draw() & draw();
    g.items[static_cast<unsigned>(v)] =
        g.items[static_cast<unsigned>(first)] & ~static_cast<std::uint32_t>(lost);
  }
  return g;
}

struct connected {
  std::uint64_t members = 0;
  std::uint64_t excluded = 0;  ///< may not be added below
  std::uint32_t common = ~std::uint32_t{0};
};
std::int64_t with_candidate(sukima::context c, const connected& set, std::uint64_t candidates,
                            std::uint64_t added) {
  const auto v = static_cast<unsigned>(std::countr_zero(added));
  connected next{set.members | added, set.excluded | (candidates & (added - 1)),
                 set.common & network.items[v]};
  if (std::popcount(next.common) < graph::least) return 0;
  std::uint64_t around = 0;
  for (std::uint64_t m = next.members; m != 0; m &= m - 1)
    around |= network.neighbours[static_cast<unsigned>(std::countr_zero(m))];
  around &= ~(next.members | next.excluded);
  return 1 + sukima::parallel_reduce(c, sukima::set_bits(around), std::int64_t{0},
                                     call<with_candidate>(next, around), std::plus{});
}
std::int64_t subgraphs(sukima::context c) {
  const std::uint64_t all = network.vertices == 64 ? ~std::uint64_t{0} : bit(network.vertices) - 1;
  return sukima::parallel_reduce(c, sukima::set_bits(all), std::int64_t{0},
                                 call<with_candidate>(connected{}, all), std::plus{});
}

/// CPU seconds of all threads since the start of the process.
double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

int usage() {
  std::fprintf(stderr,
               "bench-cluster: give a program and its size: fib 0..90, nqueens-array 1..20, "
               "pentomino 12..20, uts 1|2|3|5|11|13|101|103, subgraphs 1..64\n");
  return 2;
}

/// \returns false for an unknown program or an impossible size
bool run(std::string_view name, int size, std::int64_t& result) {
  const auto between = [size](int least, int most) { return size >= least && size <= most; };
  if (name == "fib" && between(0, 90))
    result = sukima::cluster::run(call<fib>(size));
  else if (name == "nqueens-array" && between(1, kernels::queens_board::most))
    result = sukima::cluster::run(call<count_queens>(size));
  else if (name == "pentomino" && between(12, kernels::pentomino_board::most_pieces))
    result = sukima::cluster::run(call<count_fillings>(size));
  else if (name == "uts" && kernels::published_tree(size).seed != 0)
    result = sukima::cluster::run(call<tree_nodes>(size));
  else if (name == "subgraphs" && between(1, 64)) {
    network = make_graph(size);
    result = sukima::cluster::run(call<subgraphs>());
  } else {
    return false;
  }
  return true;
}

}  // namespace programs

static_assert(sukima::can_travel<programs::queens> && sukima::can_travel<programs::puzzle>);

int main(int argc, char** argv) {
  int size = 0;
  std::int64_t result = 0;
  if (argc == 2 && std::strcmp(argv[1], "--list") == 0) {
    std::puts("fib 44\nnqueens-array 15\npentomino 13\nuts 11\nsubgraphs 46");
    return 0;
  }
  if (argc != 3) return programs::usage();
  const std::string_view text(argv[2]);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc{} || end != text.data() + text.size()) return programs::usage();
  const auto begin = std::chrono::steady_clock::now();
  if (!programs::run(argv[1], size, result)) return programs::usage();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("%lld\n", static_cast<long long>(result));
  const sukima::cluster::traffic sent = sukima::cluster::statistics();
  if (const char* const hope = std::getenv("SUKIMA_CLUSTER_HOPE"); hope != nullptr && *hope == '1')
    std::fprintf(stderr,
                 "node %u: %llu units published, %llu omitted, %llu cut, %llu yielded, %llu notes sent\n",
                 sukima::cluster::this_node(), static_cast<unsigned long long>(sent.published),
                 static_cast<unsigned long long>(sent.omitted), static_cast<unsigned long long>(sent.cut),
                 static_cast<unsigned long long>(sent.yielded), static_cast<unsigned long long>(sent.notes));
  std::fprintf(stderr, "%.6f s, %llu tasks given, %llu received; node %u: %.6f s of CPU\n", time.count(),
               static_cast<unsigned long long>(sent.given), static_cast<unsigned long long>(sent.received),
               sukima::cluster::this_node(), programs::cpu_seconds());
}

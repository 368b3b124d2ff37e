// SPDX-License-Identifier: Apache-2.0
// Parses the only argument of the programs of this folder.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "kernels/nqueens.hpp"
#include "kernels/uts.hpp"

/// Returns the empty board for that number of queens. For a wrong argument it prints a sentence and ends the
/// process with status 2.
inline kernels::queens board_of(int count, char** words) {
  const int size = count == 2 ? std::atoi(words[1]) : 0;
  if (size >= 1 && size <= kernels::most_queens) return kernels::queens::empty(size);
  std::fprintf(stderr, "%s: give a number of queens from 1 to %d\n", words[0], kernels::most_queens);
  std::exit(2);
}

/// Returns the published tree of that number. For a wrong argument it ends the process in the same way.
inline kernels::uts_tree tree_of(int count, char** words) {
  const kernels::uts_tree tree = kernels::published_tree(count == 2 ? std::atoi(words[1]) : 0);
  if (tree.seed != 0) return tree;
  std::fprintf(stderr, "%s: give the number of a tree: 1, 2, 3, 5, 11, 13, 101 or 103\n", words[0]);
  std::exit(2);
}

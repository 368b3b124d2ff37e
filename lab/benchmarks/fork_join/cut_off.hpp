// SPDX-License-Identifier: Apache-2.0
// The cut-off of a search: none, as users prefer, or the depth of a tuned program.
#pragma once

/// The search forks at every node.
struct no_cut_off {
  static constexpr bool reached(int) { return false; }
};

/// The nodes of the first `depth` levels fork. Plain sequential code computes the levels below.
struct cut_off {
  int depth;
  [[nodiscard]] bool reached(int level) const { return level >= depth; }
};

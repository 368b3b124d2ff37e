// SPDX-License-Identifier: Apache-2.0
// Where a search stops forking: nowhere, as its user would like it, or below the depth that a tuned program
// was given.
#pragma once

/// The search forks at every node.
struct no_cut_off {
  static constexpr bool reached(int) { return false; }
};

/// The nodes of `depth` levels fork, those below are plain sequential code; 0: nothing forks.
struct cut_off {
  int depth;
  [[nodiscard]] bool reached(int level) const { return level >= depth; }
};

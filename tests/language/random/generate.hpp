// SPDX-License-Identifier: Apache-2.0
// Generates random programs.
#pragma once

#include "program.h"

#include <cstdint>
#include <deque>

namespace language_test {

struct program {
  std::deque<node> nodes;
  node* root = nullptr;
  bool leaves_early = false;  ///< something in it throws or jumps out of a construct
};

/// A program of about `size` nodes whose result does not depend on the schedule.
///
/// If throws of different tags met in one construct, the exit taken could depend on timing. So each part of a
/// program throws at most one tag that it does not catch itself. Loops that may stop early contain no throw,
/// because iterations that the erasure does not reach may have begun.
program generate(std::uint64_t seed, int size);

}  // namespace language_test

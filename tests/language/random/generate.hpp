// SPDX-License-Identifier: Apache-2.0
// Makes a random program.
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

/// A program of about so many nodes whose result does not depend on who runs what.
///
/// Where throws of different tags could meet in one construct, the exit that is taken may depend on timing.
/// So inside of each part of a program only one tag is thrown that is not caught in it; and loops that may
/// stop early contain no throw, because iterations that the erasure does not reach may have begun.
program generate(std::uint64_t seed, int size);

}  // namespace language_test

// SPDX-License-Identifier: Apache-2.0
// The order of the runs of a round.
#pragma once

#include <cstddef>
#include <random>
#include <utility>
#include <vector>

namespace sukima::lab {

/// Shuffles. Unlike std::shuffle, the same generator gives the same order with every compiler.
template <class Thing>
void shuffle(std::vector<Thing>& all, std::mt19937_64& generator) {
  for (std::size_t left = all.size(); left > 1; --left) std::swap(all[left - 1], all[generator() % left]);
}

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// Which number of workers the CPU use predicts.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "shared/record.hpp"

namespace sukima::lab {

/// The position of the count that the CPU use predicts by the rule of `sukima host` (Takayama and Kourai,
/// figure 13): where the use stops growing, or falling; the first where it stays, turns several times, or is
/// too noisy to say. \param counts the use at each count in rounds, the smallest count first; not empty
/// \returns nothing if fewer than `fewest_rounds` rounds have a use above 0 at all counts. O(counts · rounds)
std::optional<std::size_t> choose_by_use(const std::vector<const rounds*>& counts);

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// Predicts the best number of workers from the CPU use.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "shared/record.hpp"

namespace sukima::lab {

/// Returns the position of the predicted count, by the rule of `sukima host` (Takayama and Kourai, figure
/// 13): the count at which the use stops growing or falling. It is the first count if the use is constant,
/// turns several times, or is too noisy. O(counts · rounds)
/// \param counts the use at each count in rounds, the smallest count first; not empty
/// \returns nothing if fewer than `fewest_rounds` rounds have a use above 0 at all counts
std::optional<std::size_t> choose_by_use(const std::vector<const rounds*>& counts);

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// The rule of figure 13 on recorded runs; see use_rule.hpp.
#include "report/use_rule.hpp"

#include <algorithm>
#include <cmath>
#include <host/shared/sweep.hpp>

#include "shared/verdict.hpp"

namespace sukima::lab {
std::optional<std::size_t> choose_by_use(const std::vector<const rounds*>& counts) {
  host::sweep curve(1, static_cast<unsigned>(counts.size()));
  for (const auto& [round, unused] : *counts.front()) {
    const auto known = [at = round](const rounds* one) {
      const auto found = one->find(at);
      return found != one->end() && found->second > 0;
    };
    if (!std::ranges::all_of(counts, known)) continue;
    for (std::size_t i = 0; i < counts.size(); ++i) curve.add(std::log(counts[curve.next() - 1]->at(round)));
  }
  if (curve.rounds() < fewest_rounds) return std::nullopt;
  return curve.shape().count - 1;
}

}  // namespace sukima::lab

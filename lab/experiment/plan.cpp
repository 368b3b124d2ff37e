// SPDX-License-Identifier: Apache-2.0
// The order of the runs; see record.hpp.
#include <base/shared/assert.hpp>

#include <algorithm>
#include <random>
#include <tuple>

#include "shared/record.hpp"
#include "shared/shuffle.hpp"

namespace sukima::lab {
namespace {

/// Whether no run is planned twice. O(n log n)
[[maybe_unused]] bool are_different(const std::vector<planned_run>& runs) {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t, unsigned>> all;
  for (const planned_run& one : runs)
    all.emplace_back(one.what.program, one.what.setting, one.what.environment, one.round);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end();
}

}  // namespace

std::vector<planned_run> plan_runs(const experiment& what, const run_choice& choice) {
  std::vector<std::size_t> environments;
  for (std::size_t e = 0; e < what.environments.size(); ++e)
    if (choice.takes(what.environments[e])) environments.push_back(e);
  std::vector<cell> inside;
  for (std::size_t p = 0; p < what.programs.size(); ++p) {
    for (std::size_t s = 0; s < what.settings.size(); ++s)
      if (choice.takes(what.programs[p]) && choice.takes(what.settings[s])) inside.push_back({p, s, 0});
  }
  const unsigned repetitions =
      choice.repetitions.value_or(choice.quick ? what.quick_repetitions : what.repetitions);
  std::mt19937_64 generator(1);
  std::vector<planned_run> runs;
  for (unsigned round = 0; round < repetitions; ++round) {
    shuffle(environments, generator);
    for (const std::size_t environment : environments) {
      shuffle(inside, generator);
      for (cell one : inside) {
        one.environment = environment;
        runs.push_back({one, round});
      }
    }
  }
  SUKIMA_ASSERT(runs.size() == repetitions * environments.size() * inside.size(),
                "each round has each cell of each environment");
  SUKIMA_ASSERT(are_different(runs), "each run is planned once");
  return runs;
}

}  // namespace sukima::lab

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
    all.emplace_back(one.cell.program, one.cell.setting, one.cell.environment, one.round);
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end();
}

}  // namespace

std::vector<planned_run> plan_runs(const experiment& experiment, const run_choice& choice) {
  std::vector<std::size_t> environments;
  for (std::size_t e = 0; e < experiment.environments.size(); ++e)
    if (choice.takes(experiment.environments[e])) environments.push_back(e);
  std::vector<cell> inside;
  for (std::size_t p = 0; p < experiment.programs.size(); ++p) {
    for (std::size_t s = 0; s < experiment.settings.size(); ++s)
      if (choice.takes(experiment.programs[p]) && choice.takes(experiment.settings[s]))
        inside.push_back({p, s, 0});
  }
  const unsigned repetitions =
      choice.repetitions.value_or(choice.quick ? experiment.quick_repetitions : experiment.repetitions);
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

// SPDX-License-Identifier: Apache-2.0
// Compares the default wait policy with the others, for each way in which the laboratory's machines lack CPU.
#include "experiments.hpp"
#include "policy_comparison.hpp"

#include <algorithm>

namespace sukima::simulation {

findings wait_policies() {
  constexpr double bound = 1.03;
  findings found{{"search, machines"}, {}, {}, {}};
  for (const std::string& policy : compared_policies) found.columns.push_back('`' + policy + '`');
  found.columns.push_back("default / best");
  std::size_t near = 0;
  std::size_t cells = 0;
  double worst = 0;
  std::string worst_name;
  for (const policy_cell& c : policy_cells()) {
    const std::vector<double> times = times_of(c);
    const double ratio = behind_best(times);
    std::vector<std::string> row{c.name};
    for (const double time : times) row.push_back(digits(time));
    row.push_back(digits(ratio));
    found.rows.push_back(row);
    ++cells;
    if (ratio <= bound) ++near;
    if (ratio > worst) {
      worst = ratio;
      worst_name = c.name;
    }
  }
  found.claims.push_back({"not a figure", "The default wait policy is within 3 % of the best in each cell.",
                          "not in a paper",
                          "in " + std::to_string(near) + " of " + std::to_string(cells) +
                              " cells; the worst is " + digits(worst) + " (" + worst_name + ')',
                          near == cells});
  found.notes.push_back("Milliseconds for each machine of 16 virtual CPUs, by wait policy.");
  return found;
}

}  // namespace sukima::simulation

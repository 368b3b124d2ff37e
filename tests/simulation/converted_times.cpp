// SPDX-License-Identifier: Apache-2.0
#include "converted_times.hpp"

#include "experiments.hpp"
#include "overcommit.hpp"

#include <utility>

namespace sukima::simulation {

namespace {

constexpr unsigned numbers_of_machines[] = {1, 2, 4, 8, 16};

}  // namespace

double converted_time(unsigned machines, const char* policy, const pause_loop_exits& exits,
                      sibling_rule siblings) {
  cell c;
  c.machines = machines;
  c.setup.pcpus = 16;
  c.setup.slack = 4'000;
  c.setup.exits = exits;
  c.setup.hypervisor.siblings = siblings;
  c.runtime = fixed_workers(policy, "request", c.vcpus);
  return static_cast<double>(simulate(c).time) * 1e-6 / machines;
}

series over_machines(const char* policy, const pause_loop_exits& exits, sibling_rule siblings) {
  series all;
  for (const unsigned machines : numbers_of_machines)
    all[machines] = converted_time(machines, policy, exits, siblings);
  return all;
}

series relative(const series& times, const series& to) {
  series all;
  for (const auto& [machines, time] : times)
    if (machines > 1) all[machines] = time / to.at(machines);
  return all;
}

bool all_above(const series& ratios, double bound) {
  for (const auto& [machines, ratio] : ratios)
    if (ratio <= bound) return false;
  return true;
}

std::vector<std::string> row_of(std::string name, const series& times) {
  std::vector<std::string> cells{std::move(name)};
  for (const auto& [machines, time] : times) cells.push_back(digits(time));
  return cells;
}

std::string text_of(const series& times) {
  std::string text;
  for (const auto& [machines, time] : times)
    text += (text.empty() ? "" : ", ") + digits(time) + " ms with " + std::to_string(machines);
  return text;
}

std::string ratios_of(const series& ratios) {
  std::string text;
  for (const auto& [machines, ratio] : ratios)
    text += (text.empty() ? "" : ", ") + digits(ratio) + " with " + std::to_string(machines);
  return text + " machines";
}

}  // namespace sukima::simulation

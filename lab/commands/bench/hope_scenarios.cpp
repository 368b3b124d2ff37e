// SPDX-License-Identifier: Apache-2.0
// Scenarios under hierarchical omission; see hope_scenarios.hpp.
#include "hope_scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

#include <cli/shared/console.hpp>
#include "bench/catalogue.hpp"
#include "bench/request.hpp"

namespace sukima::cli::bench {
namespace {

constexpr std::string_view killing = "kill-";

/// The K of "kill-K"; nothing for another word.
std::optional<int> deaths_in(std::string_view word) {
  if (!word.starts_with(killing)) return std::nullopt;
  word.remove_prefix(killing.size());
  int deaths = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), deaths);
  if (error != std::errc() || end != word.data() + word.size() || deaths < 1) return std::nullopt;
  return deaths;
}

hope_scenario parse_one(const std::string& word, int nodes) {
  hope_scenario scenario{word, word == "alone" ? 1 : nodes};
  if (const auto deaths = deaths_in(word)) {
    scenario.deaths = *deaths;
  } else if (word != "none" && word != "alone") {
    throw process::usage_error(
        fmt::format("unknown scenario '{}' of --hope: choose none, alone, or kill-K to kill K nodes", word));
  }
  const int least = word == "alone" ? 1 : std::max(2, scenario.deaths + 1);
  if (nodes < least)
    throw process::usage_error(fmt::format(
        "the scenario '{}' needs {} nodes or more: give --nodes {}, or leave it out", word, least, least));
  return scenario;
}

}  // namespace

std::vector<hope_scenario> parse_hope_scenarios(const std::vector<std::string>& words, int nodes) {
  std::vector<std::string> chosen = words;
  if (chosen.empty()) {
    chosen = {"none", "alone", "kill-1"};
    if (nodes > 2) chosen.push_back(fmt::format("{}{}", killing, nodes - 1));
  }
  std::vector<hope_scenario> scenarios;
  for (const std::string& word : chosen)
    if (std::ranges::count(scenarios, word, &hope_scenario::name) == 0)
      scenarios.push_back(parse_one(word, nodes));
  return scenarios;
}

double node_cpus::of(int nodes) const { return std::min(nodes * each, machine); }

std::vector<task> hope_tasks(const task& one, int nodes, bool has_quota,
                             const std::vector<hope_scenario>& scenarios) {
  std::vector<task> tasks;
  const auto add = [&](const std::string& name, int count) -> task& {
    tasks.push_back(one);
    tasks.back().scenario = name;
    tasks.back().nodes = count;
    tasks.back().hope = false;
    return tasks.back();
  };
  const auto has = [&](auto condition) { return std::ranges::any_of(scenarios, condition); };
  const bool has_deaths = has([](const hope_scenario& s) { return s.deaths != 0; });
  task& sequential = add(sequential_row, 0);
  sequential.system = sequential_system;
  sequential.workers = 1;
  if (has_deaths || has([](const hope_scenario& s) { return s.nodes == 1; })) {
    if (has_quota)
      add(one_node_row, 1);
    else if (one.workers != 1)
      add(one_process_row, 0);
  }
  if (has([](const hope_scenario& s) { return s.nodes != 1; })) add(stealing_row, nodes);
  if (has_deaths && !has([](const hope_scenario& s) { return s.name == "none"; }))
    add("none", nodes).hope = true;
  for (const hope_scenario& s : scenarios) {
    task& t = add(s.name, s.nodes);
    t.hope = true;
    t.deaths = s.deaths;
  }
  return tasks;
}

std::vector<planned_death> draw_deaths(std::uint64_t seed, int nodes, int deaths, double seconds) {
  std::mt19937_64 generator(seed);
  std::vector<int> drawn(static_cast<std::size_t>(nodes));
  std::iota(drawn.begin(), drawn.end(), 0);
  std::vector<planned_death> plan;
  for (int i = 0; i < deaths; ++i) {
    // The distributions and shuffles of the library may differ. A seed must mean the same everywhere.
    const std::size_t at =
        static_cast<std::size_t>(i) + generator() % (drawn.size() - static_cast<std::size_t>(i));
    std::swap(drawn[static_cast<std::size_t>(i)], drawn[at]);
    const double fraction = static_cast<double>(generator() >> 11) * 0x1p-53;
    plan.push_back({drawn[static_cast<std::size_t>(i)], fraction * seconds});
  }
  return plan;
}

double allowed_time::rate(int living) const {
  if (living == 1) return 1 / of_one;
  const double span = cpus.of(nodes) - cpus.of(1);
  const double share = span > 0 ? (cpus.of(living) - cpus.of(1)) / span : 1;
  return 1 / of_one + share * (1 / of_all - 1 / of_one);
}

double allowed_time::with(const std::vector<double>& deaths) const {
  double left = 1;
  double now = 0;
  int living = nodes;
  for (const double death : deaths) {
    const double done = rate(living) * (death - now);
    if (done >= left) break;
    left -= done;
    now = death;
    --living;
  }
  return now + left / rate(living);
}

}  // namespace sukima::cli::bench

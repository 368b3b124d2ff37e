// SPDX-License-Identifier: Apache-2.0
#include "experiments.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace sukima::simulation {

namespace {

std::string row_text(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += ' ' + cell + " |";
  return text + '\n';
}

const char* verdict_of(const claim& c) { return c.holds ? "holds" : "does not hold"; }

}  // namespace

const std::vector<experiment>& experiments() {
  static const std::vector<experiment> all{
      {"waiting", "Yoda et al., figures 3 to 5: busy-waiting and a condition variable in 1 to 16 machines",
       waiting_in_machines},
      {"pausing", "Yoda et al., figures 7 and 8: the pause instruction and pause-loop exits",
       pausing_in_machines},
      {"siblings", "Yoda et al., figure 5, and two kernels, with co-scheduling and with balance scheduling",
       sibling_rules},
      {"sharing", "Takayama and Kourai, figures 2, 3: machines that share CPUs, and the static rule",
       sharing_cpus},
      {"limits", "Takayama and Kourai, figures 4, 5: a cap, and the static rule", limited_cpus},
      {"fewer", "Takayama and Kourai, figures 6, 7: fewer CPUs, and the static rule", fewer_cpus},
      {"counts", "Takayama and Kourai, figures 8 to 13, 15 to 17: the best number of virtual CPUs",
       best_counts},
      {"threads", "Takayama and Kourai, figures 18 to 20: fewer threads instead of fewer virtual CPUs",
       numbers_of_threads},
      {"affinity", "Kourai's slides: conflicts between the affinities of virtual CPUs and of nodes on Xen",
       affinity_conflicts},
      {"policies", "the default wait policy against the others, wherever simulated machines lack CPU",
       wait_policies},
      {"measured", "the cells of docs/results.md on two CPUs, predicted beside measured", measured_cells},
  };
  return all;
}

std::string list_text() {
  std::string text;
  for (const experiment& e : experiments()) text += std::string(e.name) + ": " + e.about + '\n';
  return text;
}

std::string list_json() {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const experiment& e : experiments()) all.push_back({{"name", e.name}, {"about", e.about}});
  return nlohmann::ordered_json{{"experiments", all}}.dump(2) + '\n';
}

std::string digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", number);
  return text;
}

std::string text_of(const experiment& e, const findings& found) {
  std::string text = std::string("simulated: ") + e.about + "\n\n" + row_text(found.columns) +
                     row_text(std::vector<std::string>(found.columns.size(), "---"));
  for (const auto& row : found.rows) text += row_text(row);
  if (!found.claims.empty()) text += '\n';
  for (const claim& c : found.claims)
    text += std::string("- simulated: ") + verdict_of(c) + ". " + c.text + " (" + c.figure +
            ")\n  - The paper has: " + c.paper + "\n  - " + c.numbers + '\n';
  for (const std::string& note : found.notes) text += '\n' + note + '\n';
  return text;
}

std::string json_of(const experiment& e, const findings& found) {
  nlohmann::ordered_json all{{"simulated", true}, {"experiment", e.name}, {"about", e.about}};
  all["columns"] = found.columns;
  all["rows"] = found.rows;
  all["claims"] = nlohmann::ordered_json::array();
  for (const claim& c : found.claims)
    all["claims"].push_back({{"figure", c.figure},
                             {"text", c.text},
                             {"paper", c.paper},
                             {"verdict", verdict_of(c)},
                             {"numbers", c.numbers}});
  all["notes"] = found.notes;
  return all.dump(2) + '\n';
}

}  // namespace sukima::simulation

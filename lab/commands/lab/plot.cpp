// SPDX-License-Identifier: Apache-2.0
// Plots; see plot.hpp.
#include "lab/plot.hpp"

#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>

namespace sukima::cli::lab {

namespace fs = std::filesystem;

sukima::lab::drawing_script find_plotter() { return sukima::lab::drawing_script("plot-lab.py"); }

std::vector<fs::path> draw(const nlohmann::ordered_json& report, const fs::path& folder) {
  constexpr std::chrono::seconds limit{300};
  std::istringstream lines(find_plotter().run({folder.string()}, report.dump(), limit));
  std::vector<fs::path> files;
  for (std::string line; std::getline(lines, line);) files.emplace_back(line);
  return files;
}

}  // namespace sukima::cli::lab

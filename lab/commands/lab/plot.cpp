// SPDX-License-Identifier: Apache-2.0
// Plots; see plot.hpp.
#include "lab/plot.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include <cli/shared/console.hpp>
#include <process/shared/child.hpp>
#include <process/shared/installed.hpp>

namespace sukima::cli::lab {

namespace fs = std::filesystem;

plotter find_plotter() {
  plotter found;
  found.script = process::shared_data() / "plot-lab.py";
  if (access(found.script.c_str(), R_OK) != 0)
    throw process::usage_error(
        fmt::format("--plot needs '{}', which is not there: install sukima again, or leave --plot out",
                    found.script.string()));
  found.python = process::find_python_that_draws("--plot");
  return found;
}

std::vector<fs::path> draw(const nlohmann::ordered_json& report, const fs::path& folder) {
  constexpr std::chrono::seconds limit{300};
  const plotter with = find_plotter();
  process::child_request request;
  request.arguments = {with.python.string(), with.script.string(), folder.string()};
  request.environment = {{"MPLBACKEND", "Agg"}};
  request.input = report.dump();
  request.limit = limit;
  const process::child_result result = process::run_child(request);
  if (const std::string failure = process::describe_failure(result, limit); !failure.empty())
    throw std::runtime_error(
        fmt::format("the plot failed: {} {}: {}", with.script.string(), failure, result.errors));
  std::vector<fs::path> files;
  std::istringstream lines(result.output);
  for (std::string line; std::getline(lines, line);) files.emplace_back(line);
  return files;
}

}  // namespace sukima::cli::lab

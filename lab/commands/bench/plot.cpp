// SPDX-License-Identifier: Apache-2.0
// Plots by the installed Python script; see report.hpp.
#include <fmt/format.h>

#include <utility>

#include <base/shared/child.hpp>
#include <base/shared/errors.hpp>
#include <cli/shared/console.hpp>
#include "bench/report.hpp"

namespace sukima::cli::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds python_limit{120};

}  // namespace

plotter::plotter(fs::path prefix) : prefix_(std::move(prefix)) {
  if (prefix_.filename().empty()) {
    throw process::usage_error(fmt::format(
        "--plot is '{}', which ends without a name: give the two files' common beginning", prefix_.string()));
  }
  for (const char* ending : {".png", ".svg"}) {
    fs::path file = prefix_;
    file += ending;
    [[maybe_unused]] const output_file writable(file);
  }
  script_.emplace("plot-bench.py");
}

std::vector<fs::path> plotter::draw(std::span<const summary> figures,
                                    const lab::machine_facts& machine) const {
  std::string input;
  for (const summary& s : figures) input += json_line(s) + "\n";
  script_->run({prefix_.string(), "--footer", lab::one_line(machine)}, std::move(input), python_limit);
  fs::path png = prefix_;
  fs::path svg = prefix_;
  return {png += ".png", svg += ".svg"};
}

}  // namespace sukima::cli::bench

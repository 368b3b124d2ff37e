// SPDX-License-Identifier: Apache-2.0
// Plots by the installed Python script; see report.hpp.
#include <fmt/format.h>
#include <unistd.h>

#include <stdexcept>

#include <cli/shared/console.hpp>
#include <process/shared/child.hpp>
#include "bench/programs.hpp"
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
  script_ = process::shared_data() / "plot-bench.py";
  if (access(script_.c_str(), R_OK) != 0) {
    throw process::usage_error(
        fmt::format("--plot needs '{}', which is not there: install sukima again, or leave --plot out",
                    script_.string()));
  }
  python_ = process::find_python_that_draws("--plot");
}

std::vector<fs::path> plotter::draw(std::span<const summary> figures, const machine_facts& machine) const {
  std::string input;
  for (const summary& s : figures) input += json_line(s) + "\n";
  const process::child_result result = process::run_child(
      {.arguments = {python_.string(), script_.string(), prefix_.string(), "--footer", one_line(machine)},
       .environment = {{"MPLBACKEND", "Agg"}},
       .input = input,
       .limit = python_limit});
  if (const std::string failure = process::describe_failure(result, python_limit); !failure.empty()) {
    throw std::runtime_error(
        fmt::format("the plot failed: {} {}: {}", script_.string(), failure, result.errors));
  }
  fs::path png = prefix_;
  fs::path svg = prefix_;
  return {png += ".png", svg += ".svg"};
}

}  // namespace sukima::cli::bench

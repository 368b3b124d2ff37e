// SPDX-License-Identifier: Apache-2.0
// The program sukima-truth: compares the estimates of src/capacity with what programs really get.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "truth/control_groups.hpp"
#include "truth/score.hpp"
#include "truth/stage.hpp"

namespace {

using namespace sukima::truth;

constexpr int exit_missed = 1;
constexpr int exit_usage = 2;
constexpr int exit_skipped = 77;

struct request {
  bool quick = false;
  bool only_report = false;
  bool list = false;
  bool verbose = false;
  bool shield = false;
  double seconds = 0;
  std::string file;
  std::string filter;
};

volatile std::sig_atomic_t interrupted = 0;

void complain(const std::string& text) { fmt::print(stderr, "sukima-truth: {}\n", text); }

std::vector<cell> wanted_cells(const request& request) {
  std::vector<cell> cells = request.quick ? quick_cells() : all_cells();
  std::erase_if(cells, [&](const cell& one) { return one.name().find(request.filter) == std::string::npos; });
  return cells;
}

void print_cell(const cell_result& result, bool disturbed) {
  std::string tree_text;
  for (std::size_t i = 0; i < asked_threads.size(); i++) {
    tree_text += fmt::format(" {:5.2f}", result.tree[i].usable);
  }
  if (disturbed) {
    fmt::print("{:<34} does not count: other processes used {:.2f} CPUs\n", result.name, result.foreign);
    return;
  }
  std::string blind_text;
  for (std::size_t i = 0; i < asked_threads.size(); i++) {
    blind_text += fmt::format(" {:5.2f}", result.blind[i].usable);
  }
  if (result.experiment_estimate > 0) {
    fmt::print("{:<34} got {:5.2f}   experiment estimated {:5.2f}, got {:5.2f}\n", result.name, result.got,
               result.experiment_estimate, result.experiment_got);
  } else if (!result.changes.empty()) {
    std::string text;
    for (const after_change& one : result.changes)
      text += fmt::format("  {:.2f}/{:.2f}", one.estimated_now, one.got);
    fmt::print("{:<34} got {:5.2f}   estimated/got after changes{}\n", result.name, result.got, text);
  } else {
    fmt::print("{:<34} got {:5.2f}   usable(1,2,3,4,8) tree{}   blind{}\n", result.name, result.got,
               tree_text, blind_text);
  }
  std::fflush(stdout);
}

/// Runs a cell, and repeats it if other processes used the machine.
cell_result run_undisturbed(const cell& one, control_groups& groups, const timing& times) {
  const int attempts = groups.shielded() ? 1 : 3;
  cell_result result = run_cell(one, groups, times);
  for (int i = 1; i < attempts && is_disturbed(result, one) && interrupted == 0; i++) {
    result = run_cell(one, groups, times);
  }
  return result;
}

void run_cells(const request& request, std::vector<cell_result>& results) {
  using clock = std::chrono::steady_clock;
  std::set<std::string> done;
  for (const cell_result& result : results) done.insert(result.name);
  std::ofstream out;
  if (!request.file.empty()) out = append_results(request.file);
  timing times;
  if (request.quick)
    times = {.idle_seconds = 0.5, .settle_seconds = 0.4, .truth_seconds = 0.8, .phase_seconds = 1.1};
  control_groups groups(request.shield);
  const auto start = clock::now();
  int left = 0;
  for (const cell& one : wanted_cells(request)) {
    if (done.contains(one.name())) continue;
    const std::chrono::duration<double> spent = clock::now() - start;
    if (interrupted != 0 || (request.seconds > 0 && spent.count() > request.seconds)) {
      left++;
      continue;
    }
    const cell_result result = run_undisturbed(one, groups, times);
    print_cell(result, is_disturbed(result, one));
    results.push_back(result);
    // The next call of the program tries a disturbed cell again.
    const bool keep = out.is_open() && !is_disturbed(result, one);
    if (keep) out << nlohmann::json(result).dump() << '\n' << std::flush;
  }
  if (left != 0) fmt::print("{} cells are left; start again with the same file to go on\n", left);
}

int print_figures(const request& request, const std::vector<cell_result>& results) {
  int code = 0;
  const auto disturbed = std::ranges::count_if(
      results, [](const cell_result& one) { return one.foreign > most_foreign && !one.shielded; });
  if (disturbed != 0) {
    fmt::print("{} of {} cells do not count: other processes used the machine\n", disturbed, results.size());
  }
  if (2 * static_cast<std::size_t>(disturbed) > results.size()) {
    throw no_groups("other processes use the machine: measure on an idle one, or with --shield");
  }
  for (const figure& one : score(results)) {
    const bool reached = one.reached();
    if (!reached) code = exit_missed;
    fmt::print("{} {:<58} {:<22} {:5.1f} % of {:4} (wanted {:3.0f} %), worst {:.0f} %\n",
               reached ? "  " : "- ", one.name, one.demand, one.share() * 100, one.cases, one.target * 100,
               one.worst * 100);
    if (!request.verbose) continue;
    for (const std::string& miss : one.misses) fmt::print("      {}\n", miss);
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  request request;
  CLI::App program(
      "Compares the estimates of sukima::capacity with what programs really get: cell by cell, it runs\n"
      "programs beside hogs in control groups that it makes and removes, and prints the share of estimates\n"
      "that were right. Needs root, and a machine that is otherwise idle, or --shield: then cells in the "
      "root\n"
      "group and figures of blind estimates count only where no other process disturbed them.",
      "sukima-truth");
  program.add_flag("--quick", request.quick,
                   "run 30 cells, in a minute and a half; without it all cells, in about twelve");
  program.add_option("--file", request.file, "keep the results in FILE, and continue where it ends")
      ->option_text("FILE");
  program.add_option("--seconds", request.seconds, "begin no cell after this many seconds")->option_text("N");
  program.add_option("--cells", request.filter, "only cells whose name contains TEXT")->option_text("TEXT");
  program.add_flag("--shield", request.shield,
                   "measure on a busy machine: give the cells' groups 100 times the weight of all others");
  program.add_flag("--list", request.list, "print the names of the cells and exit");
  program.add_flag("--report", request.only_report, "run nothing, print the figures of FILE");
  program.add_flag("--misses", request.verbose, "print the cases of each figure that do not hold");
  program.footer(
      "Exit codes: 0 all figures are reached, 1 some are not, 2 wrong use, 77 nothing can be measured here.\n"
      "Examples:\n  sukima-truth --quick\n  sukima-truth --file cells.json --seconds 110\n"
      "  sukima-truth --file cells.json --report --misses");
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return program.exit(problem) == 0 ? 0 : exit_usage;
  }
  if (request.only_report && request.file.empty()) {
    complain("--report needs --file FILE with the results to report");
    return exit_usage;
  }
  if (!(request.seconds >= 0)) {  // or it is not a number
    complain("--seconds: give a number of seconds, 0 or more");
    return exit_usage;
  }
  if (!request.only_report && wanted_cells(request).empty()) {
    complain(fmt::format("no cell has the name '{}': see --list", request.filter));
    return exit_usage;
  }
  if (request.list) {
    for (const cell& one : wanted_cells(request)) fmt::print("{}\n", one.name());
    return 0;
  }
  const auto note = [](int) { interrupted = 1; };
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
  try {
    std::vector<cell_result> results;
    if (!request.file.empty()) results = read_results(request.file);
    if (request.only_report && results.empty())
      throw std::runtime_error(fmt::format("the file {} has no results to report", request.file));
    if (!request.only_report) run_cells(request, results);
    return print_figures(request, results);
  } catch (const no_groups& reason) {
    complain(fmt::format("skipped: {}", reason.what()));
    return exit_skipped;
  } catch (const std::exception& error) {
    complain(error.what());
    return exit_usage;
  }
}

// SPDX-License-Identifier: Apache-2.0
// `sukima lab`: its options, and how a request is carried out.
#include "lab/command.hpp"

#include <capacity/shared/output_file.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>
#include <base/shared/clock.hpp>
#include <base/shared/start_program.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include <cli/shared/console.hpp>
#include <cli/shared/ranges.hpp>
#include <cli/shared/version.hpp>
#include "lab/files.hpp"
#include "lab/plot.hpp"
#include "shared/count_text.hpp"
#include "shared/cpus.hpp"
#include "shared/environment.hpp"
#include "shared/machine.hpp"
#include "shared/report.hpp"

namespace sukima::cli::lab {
namespace {

namespace fs = std::filesystem;
namespace parts = sukima::lab;

constexpr const char* footer = R"(Examples:
  sukima lab list                                  which experiments are there?
  sukima lab run wait-machine --quick              run one: few repetitions, small sizes
  sukima lab run wait-vms --folder results         store its runs there, or go on where it was interrupted
  sukima lab run ./my-experiment.json --dry-run    what would be run?
  sukima lab run wait-vms --dry-run --cpus 16      and on a machine with 16 CPUs?
  sukima lab simulate sharing                      a paper's figures, on simulated machines of 16 CPUs
  sukima lab all --quick                           all experiments, in about 20 minutes
  sukima lab report --folder results --plot        tables, verdicts, and plots beside the runs
  sukima lab report --folder results --html page.html   the same as one page

docs/lab.md describes the files.)";

struct lab_options {
  std::string action;
  std::vector<std::string> names;
  std::string folder, html;
  std::optional<unsigned> repetitions, cpus;
  bool quick = false, dry_run = false, plot = false, json = false;
};

int list(const lab_options& options) {
  if (!options.names.empty() || !options.folder.empty() || options.quick || options.dry_run || options.plot ||
      options.repetitions || options.cpus || !options.html.empty())
    throw process::usage_error("sukima lab list takes no names and no options but --json");
  const std::vector<parts::experiment> all = all_experiments();
  fmt::print("{}", options.json ? parts::list_json(all).dump(2) + "\n" : parts::list_text(all));
  return process::exit_success;
}

/// Becomes the program that simulates.
int simulate(const lab_options& options) {
  if (options.names.size() > 1 || !options.folder.empty() || options.quick || options.dry_run ||
      options.plot || options.repetitions || options.cpus || !options.html.empty())
    throw process::usage_error(
        "sukima lab simulate takes one experiment, or none for their list, and --json");
  std::vector<std::string> words{find_simulation().string()};
  if (options.names.empty())
    words.emplace_back("--list");
  else
    words.insert(words.end(), {"--experiment", options.names.front()});
  if (options.json) words.emplace_back("--json");
  execv(words.front().c_str(), process::pointers_to(words).data());
  throw std::system_error(errno, std::generic_category(), words.front());
}

void write_report(const fs::path& folder, const lab_options& options) {
  const parts::recorded_runs runs = parts::read_folder(folder);
  const std::string text = parts::report_text(runs);
  const nlohmann::ordered_json figures = parts::report_json(runs);
  fmt::print("{}", options.json ? figures.dump(2) + "\n" : text);
  parts::write_text(folder / "report.md", text);
  if (!options.html.empty()) parts::write_text(options.html, parts::report_html(runs));
  if (!options.plot) return;
  for (const fs::path& file : draw(figures, folder)) print_message(fmt::format("Drawn: {}\n", file.string()));
}

/// Checks the outputs before the runs, because afterwards is too late.
void check_outputs(const lab_options& options) {
  if (options.plot) find_plotter();
  if (options.html.empty()) return;
  if (options.html == "-") throw process::usage_error("--html -: give the name of a file");
  if (const int error = cap_output_check(options.html.c_str()); error != 0)
    throw process::usage_error(
        fmt::format("--html {}: {}", options.html, std::generic_category().message(error)));
}

int report(const lab_options& options) {
  if (options.folder.empty())
    throw process::usage_error("sukima lab report needs the folder of the runs: --folder FOLDER");
  if (!options.names.empty() || options.quick || options.dry_run || options.repetitions || options.cpus)
    throw process::usage_error(
        "sukima lab report takes only --folder, --plot, --html and --json: what was run is in the folder");
  check_outputs(options);
  write_report(options.folder, options);
  return process::exit_success;
}

parts::run_request request_for(const lab_options& options, std::vector<parts::experiment> experiments) {
  parts::run_request request;
  request.experiments = std::move(experiments);
  request.folder = options.folder;
  if (options.folder.empty())
    request.folder = fmt::format("sukima-lab-{:%Y%m%d-%H%M%S}", whole_wall_seconds());
  request.facts.machine = parts::describe_machine();
  request.facts.versions["sukima"] = sukima_version;
  request.facts.bed.cpus = options.cpus.value_or(static_cast<unsigned>(parts::usable_cpus()));
  if (options.cpus) request.facts.machine.emplace_back("cpus of the lab", std::to_string(*options.cpus));
  // Other programs disturb the runs. The report has the load at the start.
  if (double load = 0; getloadavg(&load, 1) == 1)
    request.facts.machine.emplace_back("load before the runs", fmt::format("{:.2f}", load));
  if (const std::string text = parts::variables_text(environ); !text.empty())
    request.facts.machine.emplace_back(parts::variables_fact, text);
  request.facts.choice = {options.quick, options.repetitions, request.facts.bed.cpus};
  request.find = find_program_file;
  return request;
}

/// Binds this process and its children to some of its CPUs.
void use_cpus(unsigned count) {
  if (const auto usable = static_cast<unsigned>(parts::usable_cpus()); count > usable)
    throw process::usage_error(
        fmt::format("--cpus {}: {} can be used here; more are for --dry-run only", count, usable));
  cpu_set_t chosen;
  CPU_ZERO(&chosen);
  for (const unsigned cpu : parts::first_cpus(count)) CPU_SET(cpu, &chosen);
  if (sched_setaffinity(0, sizeof chosen, &chosen) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_setaffinity");
}

/// The progress line.
std::string position_text(const parts::run_position& at) {
  const parts::experiment& experiment = *at.experiment;
  std::string text =
      fmt::format("{} of {}: {}, {} with {} in {}", at.done + 1, at.total, experiment.name,
                  experiment.programs[at.of.program].name, experiment.settings[at.of.setting].name,
                  experiment.environments[at.of.environment].name);
  text += fmt::format("; about {} left", parts::duration_text(at.seconds_left));
  return text;
}

/// Adds a program for guests, in which all programs share a folder.
void add_for_guests(std::vector<fs::path>& files, const fs::path& file) {
  const auto same = std::ranges::find(files, file.filename(), &fs::path::filename);
  if (same == files.end())
    files.push_back(file);
  else if (*same != file)
    throw process::usage_error(fmt::format(
        "'{}' and '{}' have the same file name, and a virtual machine has one of them only: give one of "
        "them another name",
        same->string(), file.string()));
}

/// The programs for guests. Finds all programs before the first run, to detect missing ones, and records
/// their fingerprints, because a folder has runs of a single build.
std::vector<fs::path> programs_of(const std::vector<parts::experiment>& experiments,
                                  std::map<std::string, std::string>& versions) {
  std::vector<fs::path> files;
  // If several programs have the same name, those after the first are recorded with their folders.
  std::map<std::string, fs::path> first_of;
  const auto note = [&](const fs::path& file) {
    const std::string name = file.filename().string();
    const bool is_first = first_of.emplace(name, file).first->second == file;
    versions.emplace("program " + (is_first ? name : file.string()), fingerprint(file));
  };
  for (const parts::experiment& experiment : experiments) {
    const bool has_guests = std::ranges::find(experiment.environments, parts::environment_kind::vms,
                                              &parts::environment::kind) != experiment.environments.end();
    for (const parts::program& one : experiment.programs) {
      const fs::path file = find_program_file(one);
      note(file);
      if (has_guests) add_for_guests(files, file);
    }
    // Guests do not have the starting program, but it must exist.
    for (const parts::setting& how : experiment.settings)
      if (const auto starter = parts::starter_of(how)) note(find_program_file(*starter));
  }
  return files;
}

int run_all(const lab_options& options, parts::run_request& request) {
  progress_line line;
  parts::environment_settings settings;
  settings.cpus = request.facts.bed.cpus;
  settings.scripts = script_folder();
  settings.cache = cache_folder();
  settings.programs = programs_of(request.experiments, request.facts.versions);
  request.observe = [&](const parts::run_position& at) { line.show(position_text(at)); };
  request.make_stage = parts::environments_of_this_machine(
      settings, [&](const std::string& accelerator, const std::map<std::string, std::string>& versions) {
        parts::learn(request.facts, accelerator, versions);
      });
  check_outputs(options);
  if (line.enabled() || options.folder.empty())
    print_message(
        fmt::format("Runs are stored in {}; the same command{} continues there.\n", request.folder.string(),
                    options.folder.empty() ? fmt::format(" with --folder {}", request.folder.string()) : ""));
  parts::run_summary summary;
  try {
    summary = parts::run_experiments(request);
  } catch (const std::system_error& error) {
    const int reason = error.code().value();
    const bool is_full = reason == ENOSPC || reason == EDQUOT || reason == EFBIG;
    throw std::runtime_error(fmt::format("{}: {}run the same command with --folder {} to continue",
                                         error.what(), is_full ? "give it room, and " : "",
                                         request.folder.string()));
  } catch (const process::usage_error& error) {  // such as no room for temporary files
    throw process::usage_error(
        fmt::format("{}; then continue with --folder {}", error.what(), request.folder.string()));
  }
  line.clear();
  write_report(request.folder, options);
  print_message(fmt::format("{}, {} failed, {} left out; stored in {}\n",
                            parts::count_text(summary.ran, "run"), summary.failed, summary.left_out,
                            request.folder.string()));
  return summary.failed > 0 ? process::exit_failure : process::exit_success;
}

int run(const lab_options& options) {
  std::vector<parts::experiment> experiments;
  if (options.action == "all") {
    if (!options.names.empty())
      throw process::usage_error("sukima lab all runs all experiments: leave out the names, or say run");
    experiments = all_experiments();
  } else {
    if (options.names.empty())
      throw process::usage_error("sukima lab run needs the names of experiments: see sukima lab list");
    experiments = find_experiments(options.names);
  }
  if (options.dry_run && options.json)
    throw process::usage_error(
        "sukima lab prints what would be run as text only: leave out --json or --dry-run");
  if (options.dry_run && (options.plot || !options.html.empty()))
    throw process::usage_error("--dry-run leaves nothing to draw: leave out --plot and --html, or --dry-run");
  parts::run_request request = request_for(options, std::move(experiments));
  if (!options.dry_run) {
    if (options.cpus) use_cpus(*options.cpus);
    return run_all(options, request);
  }
  const std::optional<parts::recorded_runs> begun = parts::earlier_runs(request);
  fmt::print("{}",
             parts::plan_text(request.experiments, request.facts.choice,
                              begun ? begun->records : std::vector<parts::record>(), request.facts.bed.cpus));
  return process::exit_success;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<lab_options>();
  command.footer(footer);
  command.add_option("ACTION", options->action, "What to do: list, run, all, report or simulate")
      ->required()
      ->check(one_of({"list", "run", "all", "report", "simulate"}));
  command.add_option("NAME", options->names,
                     "Experiments to run: names of the list, or files; of simulate: one of its own list");
  command.add_option("--folder", options->folder, "Where the runs are stored (default: a new folder here)")
      ->type_name("FOLDER");
  command.add_option("--repetitions", options->repetitions, "Rounds, instead of the experiment's number")
      ->type_name("COUNT")
      ->transform(number_range(1U, 1000U));
  command
      .add_option("--cpus", options->cpus,
                  "Use this many CPUs (default: all); with --dry-run also more than there are")
      ->type_name("COUNT")
      ->transform(number_range(1U, 1024U));
  command.add_flag("--quick", options->quick, "Few repetitions, small sizes, and only the main cells");
  command.add_flag("--dry-run", options->dry_run, "Print what would be run");
  command.add_flag("--plot", options->plot, "Draw PNG and SVG files in the folder");
  command.add_option("--html", options->html, "Write the report as one page of HTML, with its plots")
      ->type_name("FILE");
  command.add_flag("--json", options->json, "Print JSON: an array for list, otherwise one object");
  command.callback([options, &code] {
    try {
      if (options->action == "list")
        code = list(*options);
      else if (options->action == "simulate")
        code = simulate(*options);
      else
        code = options->action == "report" ? report(*options) : run(*options);
    } catch (const parts::experiment_error& error) {
      throw process::usage_error(error.what());
    }
  });
}

}  // namespace sukima::cli::lab

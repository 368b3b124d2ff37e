// SPDX-License-Identifier: Apache-2.0
// The options of `sukima bench --nodes`, its rounds and its table; see nodes.hpp.
#include "nodes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <sstream>
#include <system_error>

#include <cli/shared/console.hpp>
#include <cli/shared/ranges.hpp>
#include "bench/catalogue.hpp"
#include "bench/hope_figures.hpp"
#include "bench/hope_run.hpp"
#include "bench/report.hpp"
#include "shared/find_program.hpp"
#include "shared/machine.hpp"

namespace sukima::cli::bench {
namespace {

constexpr const char* program_name = "bench-cluster";
constexpr const char* one_process = "one process";
constexpr std::uint64_t most_seed = std::uint64_t{1} << 53;  // a number of JSON is exact so far

using clock = std::chrono::steady_clock;

/// The benchmarks that a program lists, with their default sizes.
std::map<std::string, std::int64_t> list_of(const std::filesystem::path& program) {
  constexpr std::chrono::seconds limit{60};
  const process::child_result result = process::run_child(
      {.arguments = {program.string(), "--list"}, .environment = {}, .input = {}, .limit = limit});
  if (const auto failure = failure_of(result, limit))
    throw process::usage_error(fmt::format("'{} --list' {}", program.string(), failure->reason));
  std::map<std::string, std::int64_t> listed;
  std::istringstream lines(result.output);
  std::string name;
  for (std::int64_t size = 0; lines >> name >> size;) listed.emplace(name, size);
  return listed;
}

/// A request with --nodes, checked.
struct node_request {
  explicit node_request(const bench_options& options) {
    const auto found = lab::find_executable(lab::program_directories(), program_name);
    if (!found)
      throw process::usage_error(fmt::format(
          "--nodes needs the program {}: build it, or set SUKIMA_BENCH_DIR to its directory", program_name));
    program = *found;
    sizes = list_of(program);
    std::vector<std::string> names;
    for (const auto& [name, its_size] : sizes) names.push_back(name);
    if (options.benchmarks.empty())
      throw process::usage_error(
          fmt::format("no benchmark was named; give 'all' or some of {}", join_words(names, " and ")));
    const bool all = options.benchmarks == std::vector<std::string>{"all"};
    benchmarks = all ? names : parse_choices("benchmark", options.benchmarks, names);
    // Under hierarchical omission, equal calls are one unit, so that hardly any work would be left.
    if (all && options.hope) std::erase(benchmarks, "fib");
    size = parse_size(options.size);
    nodes = parse_counts("--nodes", options.nodes, most_nodes);
    transport = parse_choices("transport", {options.transport}, node_transports()).front();
    const std::vector<int> counts = parse_workers(options.workers);
    if (counts.size() > 1)
      throw process::usage_error("--workers has several numbers: with --nodes give one, that of each node");
    if (!counts.empty()) workers = counts.front();
    around = options.quota ? fmt::format("{}, {:g} CPUs each", transport, *options.quota) : transport;
    if (!options.hope) return;
    if (transport != "tcp")
      throw process::usage_error(
          "--hope needs --transport tcp: under an MPI the loss of one node ends all of them");
    if (nodes.size() != 1) throw process::usage_error("--nodes has several numbers: with --hope give one");
    scenarios = parse_hope_scenarios(options.scenarios, nodes.front());
  }
  int workers_of(int count) const { return workers.value_or(std::max(1, lab::usable_cpus() / count)); }

  std::filesystem::path program;
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::string> benchmarks;
  std::optional<std::int64_t> size;
  std::vector<int> nodes;
  std::string transport;
  std::optional<int> workers;  ///< of each node
  std::string around;          ///< instead of a scenario
  std::vector<hope_scenario> scenarios;  ///< empty: nodes steal
};

/// The part of the machine that each node has.
node_cpus cpus_of(const node_request& request, std::optional<double> quota) {
  const double workers = request.workers_of(request.nodes.front());
  return {.each = std::min(workers, quota.value_or(workers)),
          .machine = static_cast<double>(lab::usable_cpus())};
}

/// One process with a worker for each CPU, and each number of nodes, which share the CPUs; or the rows of the
/// scenarios under hierarchical omission.
std::vector<task> tasks_of(const node_request& request, const std::string& benchmark, bool has_quota) {
  const int cpus = lab::usable_cpus();
  task one;
  one.benchmark = benchmark;
  one.size = request.size.value_or(request.sizes.at(benchmark));
  one.system = own_system;
  one.program = request.program;
  if (!request.scenarios.empty()) {
    one.workers = request.workers_of(request.nodes.front());
    return hope_tasks(one, request.nodes.front(), has_quota, request.scenarios);
  }
  one.workers = cpus;
  one.scenario = request.around;
  std::vector<task> tasks{one};
  for (const int nodes : request.nodes) {
    tasks.push_back(one);
    tasks.back().nodes = nodes;
    tasks.back().workers = request.workers_of(nodes);
  }
  return tasks;
}

/// The median of a row's time over that of another one in the same round. \pre neither has failed
interval paired_ratio(const row& numerator, const row& denominator) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < numerator.samples.size(); ++round)
    ratios.push_back(numerator.samples[round].measured.seconds / denominator.samples[round].measured.seconds);
  return bootstrap_median(ratios);
}

/// The figures of the rows that did not fail, with their ratios to one process.
std::vector<summary> figures_of(const std::vector<row>& rows) {
  std::vector<summary> figures = summarise(rows);
  if (rows.front().failure) return figures;
  for (summary& s : figures) {
    s.ratio = s.seconds.median / figures.front().seconds.median;
    s.cpu_ratio = s.cpu_seconds / figures.front().cpu_seconds;
    if (s.task.nodes == 0) continue;
    const auto r =
        std::ranges::find_if(rows, [&](const row& other) { return other.task.nodes == s.task.nodes; });
    s.paired.emplace(one_process, paired_ratio(*r, rows.front()));
  }
  return figures;
}

std::string shares_of(const summary& s) {
  std::string text;
  for (int node = 0; node < s.task.nodes; ++node) {
    const auto share = s.more.find(fmt::format("share_{}", node));
    if (share != s.more.end()) text += fmt::format("{}{:.0f}", text.empty() ? "" : " ", 100 * share->second);
  }
  return text;
}

std::string node_table(const std::vector<summary>& figures, bool colour) {
  const task& task = figures.front().task;
  std::string text =
      fmt::format("{}, size {}, {}\n", styled(task.benchmark, "1", colour), *task.size, task.scenario);
  text += styled(
      fmt::format("{:<12}{:>8}{:>10}  {:<19}{:>14}  {:<16}{:>9}{:>9}  {}", "nodes", "workers", "median s",
                  "[q1 - q3]", "/ one process", "[95 %]", "CPU s", "CPU /", "% of the CPU time of each node"),
      "2", colour);
  for (const summary& s : figures) {
    const auto paired = s.paired.find(one_process);
    const std::string interval =
        paired == s.paired.end() ? ""
                                 : fmt::format("[{:.3f}, {:.3f}]", paired->second.low, paired->second.high);
    std::string line =
        fmt::format("{:<12}{:>8}{:>10.3f}  {:<19}{:>14}  {:<16}{:>9.3f}{:>9}  {}",
                    s.task.nodes == 0 ? one_process : std::to_string(s.task.nodes), s.task.workers,
                    s.seconds.median, fmt::format("[{:.3f} - {:.3f}]", s.seconds.q1, s.seconds.q3),
                    s.ratio ? fmt::format("{:.3f}", *s.ratio) : "-", interval, s.cpu_seconds,
                    s.cpu_ratio ? fmt::format("{:.2f}", *s.cpu_ratio) : "-", shares_of(s));
    line.erase(line.find_last_not_of(' ') + 1);
    text += "\n" + line;
  }
  return text + "\n";
}

/// Runs the tasks of one benchmark in rounds, and reports failures on stderr.
std::vector<row> measure(const std::vector<task>& tasks, const bench_options& options, hope_runner& runner,
                         bool& failed) {
  progress_line progress;
  const auto visible_from = clock::now() + std::chrono::seconds(2);
  std::vector<row> rows = run_rounds(
      tasks, {.repetitions = options.repetitions},
      [&](const task& t) -> outcome {
        try {
          return runner.run(t, time_limit_of(t, options.time_limit));
        } catch (const std::system_error& error) {
          return run_failure{fmt::format("cannot be started: {}", error.what())};
        }
      },
      [&](const task& t, std::size_t done, std::size_t total) {
        if (clock::now() >= visible_from)
          progress.show(fmt::format("run {} of {}: {}", done + 1, total, describe(t)));
      });
  progress.clear();
  check_results(rows);
  for (const row& r : rows) {
    if (!r.failure) continue;
    complain(fmt::format("{}: {}", describe(r.task), *r.failure));
    failed = true;
  }
  return rows;
}

/// "uts, size 11, 4 nodes of 1 worker on 2 CPUs, tcp, seed 7"
std::string hope_heading(const node_request& request, const task& task, std::uint64_t seed, bool colour) {
  const int nodes = request.nodes.front();
  const int workers = request.workers_of(nodes);
  return fmt::format("{}, size {}, {} node{} of {} worker{} on {} CPU{}, {}, seed {}",
                     styled(task.benchmark, "1", colour), *task.size, nodes, nodes == 1 ? "" : "s", workers,
                     workers == 1 ? "" : "s", lab::usable_cpus(), lab::usable_cpus() == 1 ? "" : "s",
                     request.around, seed);
}

}  // namespace

void add_node_options(CLI::App& command, bench_options& options) {
  command
      .add_option("--nodes", options.nodes,
                  "Numbers of nodes of a cluster, beside one process; --workers: of each node")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--transport", options.transport,
                  "Transport between the nodes: " + join_words(node_transports()) + " [tcp]")
      ->type_name("NAME");
  command.add_option("--quota", options.quota, "Give each node a control group with this many CPUs")
      ->type_name("CPUS")
      ->transform(number_range(0.01, 4096.0).description(""));
  command.add_flag(
      "--hope", options.hope,
      "Let nodes omit tasks that others have computed; --scenario: none, alone, kill-K [all of these]");
  command.add_option("--seed", options.seed, "Seed of the nodes and moments of kill-K [random, and printed]")
      ->type_name("N")
      ->transform(number_range(std::uint64_t{0}, most_seed).description(""));
}

void check_node_options(const CLI::App& command) {
  const bool with_nodes = command.count("--nodes") != 0;
  const bool with_hope = command.count("--hope") != 0;
  for (const char* name : {"--peers", "--compiler", "--external", "--peer-time", "--worst"})
    if (with_nodes && command.count(name) != 0)
      throw process::usage_error(fmt::format("{} has no meaning with --nodes: leave one of them out", name));
  if (with_nodes && !with_hope && command.count("--scenario") != 0)
    throw process::usage_error("--scenario has no meaning with --nodes without --hope: give --hope, too");
  for (const char* name : {"--transport", "--quota", "--hope"})
    if (!with_nodes && command.count(name) != 0)
      throw process::usage_error(fmt::format("{} is for --nodes: give numbers of nodes, too", name));
  if (!with_hope && command.count("--seed") != 0)
    throw process::usage_error("--seed is for the deaths of --hope: give --hope, too, or leave it out");
}

int run_on_nodes(const bench_options& options) {
  const node_request request(options);
  const lab::machine_facts machine = lab::describe_machine();
  std::optional<output_file> csv;
  std::optional<plotter> plot;
  if (options.csv) csv.emplace(*options.csv);
  if (options.plot) plot.emplace(*options.plot);
  const node_stage stage(request.transport, options.quota);
  const bool is_hope = !request.scenarios.empty();
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device{}();
  hope_runner runner(stage, seed);
  const bool colour = use_colour(STDOUT_FILENO);
  if (!options.json) fmt::print("{}\n", styled(lab::one_line(machine), "2", colour));
  std::vector<summary> all;
  bool failed = false;
  for (const std::string& benchmark : request.benchmarks) {
    const std::vector<task> tasks = tasks_of(request, benchmark, options.quota.has_value());
    const std::vector<row> rows = measure(tasks, options, runner, failed);
    std::vector<summary> figures =
        is_hope ? hope_figures(rows, cpus_of(request, options.quota)) : figures_of(rows);
    for (summary& s : figures) {
      if (is_hope) s.more["seed"] = static_cast<double>(seed);
      if (options.json) fmt::print("{}\n", json_line(s));
    }
    if (!options.json && !figures.empty())
      fmt::print("\n{}", is_hope
                             ? hope_table(figures, hope_heading(request, tasks.front(), seed, colour), colour)
                             : node_table(figures, colour));
    std::fflush(stdout);
    all.insert(all.end(), figures.begin(), figures.end());
  }
  if (csv && !all.empty()) csv->write(csv_text(all, machine));
  if (plot && !all.empty())
    for (const auto& file : plot->draw(all, machine))
      print_message(fmt::format("sukima bench: drew {}\n", file.string()));
  return failed ? process::exit_failure : process::exit_success;
}

}  // namespace sukima::cli::bench

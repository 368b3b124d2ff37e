// SPDX-License-Identifier: Apache-2.0
// `sukima bench`: its options, and how a request is carried out.
#include "bench/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include <base/shared/child.hpp>
#include <cli/shared/console.hpp>
#include <cli/shared/ranges.hpp>
#include "bench/catalogue.hpp"
#include "bench/compiler_note.hpp"
#include "bench/depth_search.hpp"
#include "bench/nodes.hpp"
#include "bench/plan.hpp"
#include "bench/report.hpp"
#include "bench/request.hpp"
#include "bench/scenario_stage.hpp"
#include "bench/session.hpp"
#include "shared/machine.hpp"

namespace sukima::cli::bench {
namespace {

using clock = std::chrono::steady_clock;

/// A slow peer gets this many seconds per requested repetition: the maximum of ordinary runs.
constexpr double peer_seconds_for_each_repetition = 1;

/// Runs tasks. Shows a progress line after two seconds.
class bench_runner {
 public:
  bench_runner(std::optional<double> time_limit, int cpus)
      : stage_(find_hog(lab::program_directories()), cpus), time_limit_(time_limit) {}

  /// The obstacle to a scenario; empty if there is none.
  std::string obstacle(const scenario_entry& scenario) { return stage_.obstacle(scenario.around); }

  /// Text of the progress line for the following runs.
  void announce(std::string text) {
    text_ = std::move(text);
    if (clock::now() >= visible_from()) progress_.show(text_);
  }

  outcome run(const task& task) {
    const auto prepare = [this](const bench::task& t) {
      process::child_request request = request_for(t);
      request.limit = time_limit_of(t, time_limit_);
      if (progress_.enabled() && clock::now() < visible_from()) {
        request.notice_at = visible_from();
        request.notice = [this](pid_t) {
          progress_.show(text_);
          return std::nullopt;
        };
      }
      return request;
    };
    try {
      return stage_.run(task, prepare);
    } catch (const std::system_error& error) {
      return run_failure{fmt::format("cannot be started: {}", error.what())};
    }
  }

  void finish() { progress_.clear(); }
  double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

 private:
  clock::time_point visible_from() const { return start_ + std::chrono::seconds(2); }

  scenario_stage stage_;
  std::optional<double> time_limit_;
  clock::time_point start_ = clock::now();
  progress_line progress_;
  std::string text_;
};

/// The compilers that made the programs, with their versions.
std::string compilers_of(const std::vector<installed_system>& installed) {
  std::set<std::string> compilers;
  for (const installed_system& system : installed) {
    for (const program& p : system.programs) {
      const std::string version = compiler_version(p.file, p.compiler);
      if (!version.empty()) compilers.insert(fmt::format("{} {}", p.compiler, version));
    }
  }
  return join_words(compilers, ", ");
}

/// One call of `sukima bench`.
class bench_session {
 public:
  bench_session(const bench_options& options, const std::vector<installed_system>& installed)
      : options_(options), installed_(installed), cpus_(lab::usable_cpus()) {
    request_ = parse_request(options, installed, cpus_, missing_);
    const std::string compilers = compilers_of(installed);
    if (!compilers.empty()) machine_.emplace_back("compilers", compilers);
    if (options.csv) csv_.emplace(*options.csv);
    if (options.plot) plotter_.emplace(*options.plot);
  }

  int run() {
    if (!missing_.empty())
      note(fmt::format("left out, because not installed: {}", join_words(missing_, " and ")));
    if (!options_.json) fmt::print("{}\n", styled(lab::one_line(machine_), "2", use_colour(STDOUT_FILENO)));
    leave_out_impossible_scenarios();
    const std::vector<benchmark_scenarios> wanted = scenarios_by_benchmark(request_);
    for (const auto& [benchmark, scenarios] : wanted) measure(benchmark, scenarios);
    if (csv_ && !figures_.empty()) csv_->write(csv_text(figures_, machine_));
    if (plotter_ && !figures_.empty()) {
      for (const auto& file : plotter_->draw(figures_, machine_)) note(fmt::format("drew {}", file.string()));
    }
    return failed_ ? process::exit_failure : process::exit_success;
  }

 private:
  void note(const std::string& text) {
    runner_.finish();
    print_message(fmt::format("sukima bench: {}\n", text));
  }

  void fail(const task& task, const std::string& reason) {
    runner_.finish();
    complain(fmt::format("{}: {}", describe(task), reason));
    failed_ = true;
  }

  /// Keeps only the fastest program of each contender, with the smallest number of workers, where noise is
  /// least. Peers that exceed the time limit are left out, with a line in `notes`.
  void choose_programs(std::vector<contender>& contenders, const std::string& benchmark,
                       std::vector<std::string>& notes) {
    const auto [fewest, most] = std::ranges::minmax(request_.workers);
    for (contender& c : contenders) {
      if (c.programs.size() < 2 || is_tuned(c)) continue;
      std::vector<task> candidates;
      candidates.reserve(c.programs.size());
      for (const program& by : c.programs) {
        candidates.push_back(task_for(request_, benchmark, c.system, by, fewest, "alone"));
      }
      std::optional<std::string> stopped;
      runner_.announce(fmt::format("{}: choosing the compiler for {}", benchmark, c.system));
      const auto fastest = choose_fastest(
          candidates, [&](const task& t) { return runner_.run(t); },
          [&](std::size_t i, const run_failure& failure) {
            if (!failure.stopped_after || !is_by_peer(candidates[i]))
              return fail(candidates[i], failure.reason);
            stopped = note_on_stopped(candidates[i], *failure.stopped_after, most > fewest);
          });
      if (!fastest && stopped) notes.push_back(*stopped);
      c.programs = fastest ? std::vector<program>{c.programs[*fastest]} : std::vector<program>{};
    }
  }

  /// Finds the cut-off depths of the tuned programs: for each number of workers that will be measured, alone
  /// on the machine.
  void tune_programs(std::vector<contender>& contenders, const std::string& benchmark,
                     const std::vector<std::string>& scenarios) {
    const std::set<int> workers = measured_workers(request_, scenarios, cpus_);
    for (contender& c : contenders) {
      if (!is_tuned(c)) continue;
      choose_depths(
          c, workers, request_.compiler == compiler_choice::best,
          [&](const program& by, int count) {
            return task_for(request_, benchmark, c.system, by, count, "alone");
          },
          [&](const task& t) {
            runner_.announce(fmt::format("searching for the best depth: {}", describe(t)));
            return runner_.run(t);
          },
          [&](const task& t, const run_failure& failure) { fail(t, failure.reason); });
    }
  }

  /// Prints one line for each obstacle to a scenario.
  void leave_out_impossible_scenarios() {
    std::map<std::string, std::vector<std::string>> impossible;
    for (const std::string& name : request_.scenarios) {
      const std::string obstacle = runner_.obstacle(*find_scenario(name));
      if (!obstacle.empty()) impossible[obstacle].push_back(name);
    }
    for (const auto& [obstacle, names] : impossible) {
      note(fmt::format("{}; left out: {}", obstacle, join_words(names, " and ")));
      for (const std::string& name : names) std::erase(request_.scenarios, name);
    }
  }

  void measure(const std::string& benchmark, const std::vector<std::string>& scenarios) {
    std::vector<std::string> absent;
    std::vector<contender> contenders = contenders_for(request_, installed_, benchmark, absent);
    if (!absent.empty()) note(fmt::format("{} has no program by {}", benchmark, join_words(absent, " and ")));
    std::vector<std::string> notes;
    if (request_.compiler == compiler_choice::best) choose_programs(contenders, benchmark, notes);
    tune_programs(contenders, benchmark, scenarios);

    const round_settings settings{
        .repetitions = options_.repetitions,
        .peer_seconds = options_.peer_time.value_or(peer_seconds_for_each_repetition * options_.repetitions),
        .seed = 1};
    const double before = runner_.elapsed();
    std::vector<row> rows = run_rounds(
        plan_tasks(request_, scenarios, contenders, benchmark, cpus_), settings,
        [&](const task& t) { return runner_.run(t); },
        [&](const task& t, std::size_t done, std::size_t total) {
          const double left = (runner_.elapsed() - before) /
                              static_cast<double>(std::max<std::size_t>(done, 1)) *
                              static_cast<double>(total - done);
          const std::string time = done == 0 ? "" : fmt::format(", about {:.0f} s left", left);
          runner_.announce(fmt::format("run {} of {}{}: {}", done + 1, total, time, describe(t)));
        });
    runner_.finish();
    check_results(rows);
    for (const row& r : rows) {
      if (r.failure) fail(r.task, *r.failure);
    }
    std::ranges::move(notes_on_stopped(rows), std::back_inserter(notes));
    const std::vector<summary> figures = summarise(rows);
    report(figures, notes);
    std::vector<std::string> faults = faults_of_sequential(rows);
    if (options_.worst) std::ranges::move(outliers(figures, *options_.worst), std::back_inserter(faults));
    for (const std::string& fault : faults) {
      complain(fault);
      failed_ = true;
    }
  }

  /// Prints the figures, and the peers that were stopped at their time limits.
  void report(const std::vector<summary>& figures, const std::vector<std::string>& stopped) {
    if (options_.json) {
      for (const summary& s : figures) fmt::print("{}\n", json_line(s));
      for (const std::string& text : stopped) note(text);
    } else {
      if (!figures.empty()) {
        fmt::print("\n{}", table_text(figures, {.colour = use_colour(STDOUT_FILENO),
                                                .slowest = options_.worst.has_value(),
                                                .paired = options_.verbose}));
      }
      for (const summary& s : figures) {
        if (s.repetitions < options_.repetitions) {
          fmt::print("  {}: {} of {} repetitions (see --peer-time)\n", describe(s.task), s.repetitions,
                     options_.repetitions);
        }
      }
      for (const std::string& text : stopped) fmt::print("  {}\n", text);
    }
    std::fflush(stdout);
    figures_.insert(figures_.end(), figures.begin(), figures.end());
  }

  const bench_options& options_;
  const std::vector<installed_system>& installed_;
  int cpus_;
  std::vector<std::string> missing_;
  bench_request request_;
  lab::machine_facts machine_ = lab::describe_machine();
  std::optional<output_file> csv_;
  std::optional<plotter> plotter_;
  bench_runner runner_{options_.time_limit, cpus_};
  std::vector<summary> figures_;
  bool failed_ = false;
};

void print_list(const std::vector<installed_system>& installed) {
  const std::vector<std::string> available = available_benchmarks(installed);
  fmt::print("benchmarks (with the default size):\n");
  for (const std::string& name : available) {
    const auto known = std::ranges::find(known_benchmarks(), name, &benchmark_entry::name);
    if (known == known_benchmarks().end()) {
      fmt::print("  {}\n", name);
    } else {
      fmt::print("  {:<22} {:>10}  {}\n", name, known->default_size, known->about);
    }
  }
  fmt::print("systems:\n");
  for (const installed_system& system : installed) {
    fmt::print("  {:<19} {}{}\n", system.name, find_system(system.name)->about,
               system.programs.empty() ? " (not installed)" : "");
  }
  fmt::print("scenarios:\n");
  for (const scenario_entry& scenario : scenarios())
    fmt::print("  {:<14} {}\n", scenario.name, scenario.about);
}

int run_bench(const bench_options& options) {
  const std::vector<installed_system> installed = find_programs(lab::program_directories());
  if (options.list) {
    print_list(installed);
    return process::exit_success;
  }
  if (!options.nodes.empty()) return run_on_nodes(options);
  return bench_session(options, installed).run();
}

constexpr char footer[] =
    R"(Examples:
  sukima bench fib                              all peers, with 1 worker and with one per CPU
  sukima bench pentomino grav --scenario alone,overworked --plot result
  sukima bench nqueens --scenario hogs,quota-half,together --peers tbb,rayon
  sukima bench nqueens sort --scenario alone,hogs,quota --repetitions 50 --worst 1.5 --peers none
  sukima bench nqueens --workers 1,2,4 --peers tbb,rayon --repetitions 25 --verbose
  sukima bench fib --json --compiler both > fib.jsonl
  sukima bench uts --nodes 1,2,4 --quota 0.5    nodes of a cluster, each with half a CPU
  sukima bench uts --nodes 4 --hope --scenario alone,kill-1,kill-3
  sukima bench fib --size 42 --external lace='./fib-lace -w {workers} {size}'

A command given with --external prints its seconds as the last number on stdout. It runs for each number of
workers; {size}, {workers} and {benchmark} are replaced, and SUKIMA_WORKERS is set.

Environment:
  SUKIMA_BENCH_DIR   directories of the benchmark programs, instead of the usual ones
  SUKIMA_CPUS        number of CPUs to assume, instead of the CPUs available
  SUKIMA_PYTHON      the Python that draws plots
  NO_COLOR           no colours
Exit code: 0 success, also if a peer was too slow; 1 a run failed or its result is wrong (the other rows are
printed), or the sequential program is not the best possible: with five repetitions or more, Sukima with one
worker certainly takes less than 0.97 of its time; or a repetition took longer than --worst allows; 2 wrong
request)";

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<bench_options>();
  command.footer(footer);
  command.add_option("NAME", options->benchmarks, "Benchmarks to run, or 'all'");
  command.add_option("--workers", options->workers, "Numbers of workers [1 and the number of usable CPUs]")
      ->type_name("N,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--peers", options->peers, "Peers to measure: all, none, or some of them [all]")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--scenario", options->scenarios,
                  "Scenarios: " + join_words(scenario_names(), ", ") + " [alone]")
      ->type_name("LIST")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--repetitions", options->repetitions, "Rounds; each runs everything once [5]")
      ->type_name("N")
      ->transform(number_range(1, 100'000).description(""));
  command.add_option("--size", options->size, "Problem size [the benchmark's default]")->type_name("N");
  command
      .add_option("--compiler", options->compiler,
                  "Which program of a system built by two compilers: best, gcc, clang, both [best]")
      ->type_name("WHICH");
  command.add_option("--external", options->externals, "Another system: a command that prints its seconds")
      ->type_name("NAME='COMMAND'")
      ->allow_extra_args(false);
  command
      .add_option("--time-limit", options->time_limit,
                  "Seconds after which a run is killed [60; peers 10]; a peer is then left out")
      ->type_name("S")
      ->transform(number_range(0.01, 1e6).description(""));
  command
      .add_option("--peer-time", options->peer_time,
                  "Seconds after which a slow peer is not repeated; 0: no limit [1 a repetition]")
      ->type_name("S")
      ->transform(number_range(0.0, 1e9).description(""));
  command
      .add_option("--worst", options->worst,
                  "Fail if a repetition of Sukima takes over F times the row's median")
      ->type_name("F")
      ->transform(number_range(1.0, 1e6).description(""));
  add_node_options(command, *options);
  command.add_flag("--json", options->json, "Print one JSON object per line instead of tables");
  command.add_option("--csv", options->csv, "Also write comma-separated values to this file")
      ->type_name("FILE");
  command.add_option("--plot", options->plot, "Also draw PREFIX.png and PREFIX.svg")->type_name("PREFIX");
  command.add_flag("-v,--verbose", options->verbose,
                   "Also print paired ratios of Sukima to each peer, with intervals");
  command.add_flag("--list", options->list, "List benchmarks, systems and scenarios, and exit");
  command.callback([options, &command, &code] {
    for (const CLI::Option* const one : command.get_options())
      if (options->list && one->count() != 0 && one->get_name() != "--list")
        throw process::usage_error(
            fmt::format("--list prints everything that there is: leave out {}", one->get_name()));
    check_node_options(command);
    code = run_bench(*options);
  });
}

}  // namespace sukima::cli::bench

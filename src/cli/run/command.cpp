// SPDX-License-Identifier: Apache-2.0
// `sukima run`: its options, and how a program is started.

#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include <base/shared/program.hpp>
#include "capacity/topology.hpp"
#include "run/decision_log.hpp"
#include "run/plan.hpp"
#include "run/report.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/ranges.hpp"
#include "shared/reports.hpp"

namespace sukima::cli::run {
namespace {

constexpr const char* footer = R"(Examples:
  sukima run -- ./solver 12                 with as many threads as fit the CPU available
  sukima run --report -- ./solver 12        the same, with a report of the decisions at the end
  sukima run --max 4 --reserve 0.5 -- make  at most four threads, and half a CPU for others
  sukima run --dry-run                      only print the variables

Variables that you have set win. docs/run.md lists the variables and the rules.)";

/// The options as the user gave them.
struct command_options {
  run_options run;
  std::string rounding, resize = "never", output;
  bool no_preload = false, dry_run = false, report = false, json = false;
};

/// Converts and checks the options that the parser has left as text.
void complete(command_options& options) {
  static const std::map<std::string, sukima_capacity_rounding> roundings{
      {"floor", SUKIMA_CAPACITY_FLOOR},
      {"ceil", SUKIMA_CAPACITY_CEILING},
      {"nearest", SUKIMA_CAPACITY_NEAREST}};
  static const std::map<std::string, preload_resize> rules{{"never", preload_resize_never},
                                                           {"unless-asked", preload_resize_unless_asked},
                                                           {"always", preload_resize_always}};
  if (!options.rounding.empty()) options.run.policy.rounding = roundings.at(options.rounding);
  options.run.resize = rules.at(options.resize);
  options.run.preload = !options.no_preload;
  const thread_policy& policy = options.run.policy;
  if (policy.maximum && *policy.maximum < policy.minimum)
    throw process::usage_error(
        fmt::format("--min {} is more than --max {}: give a smaller --min", policy.minimum, *policy.maximum));
  if (policy.threads && options.run.resize != preload_resize_never)
    throw process::usage_error(
        "--threads gives the number of threads, which --resize would change: leave out one of them");
  if (options.no_preload && options.run.resize != preload_resize_never)
    throw process::usage_error(
        "--no-preload leaves out the library that --resize needs: leave out one of them");
  if (options.dry_run && (options.report || options.json))
    throw process::usage_error(
        "--dry-run runs nothing, so there is nothing to report: leave out --report and --json");
  if (!options.output.empty() && !options.report && !options.json)
    throw process::usage_error("--output names the file of a report: give --report or --json, too");
}

/// Replaces this process with the program.
void become(const std::vector<std::string>& program, const run_plan& plan) {
  std::vector<std::string> arguments = program;
  std::vector<std::string> environment = process::environment_with(changed_variables(plan, ""));
  const std::vector<char*> environment_pointers = process::pointers_to(environment);
  execvpe(arguments[0].c_str(), process::pointers_to(arguments).data(), environment_pointers.data());
  throw process::start_error(program[0], errno);
}

std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

int run_and_report(const command_options& options, const std::vector<std::string>& program, run_plan plan) {
  expect_writable(options.output, "the report cannot be written to", "--output");
  run_record record;
  record.program = program;
  record.plan = std::move(plan);
  {
    const decision_log log;
    const std::uint64_t start = now();
    record.end =
        process::run_program(program, process::environment_with(changed_variables(record.plan, log.path())));
    record.seconds = static_cast<double>(now() - start) * 1e-9;
    record.decisions = read_log(log.content(), start);
  }
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  record.cpu_seconds = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  reports written;
  const std::string report =
      options.json ? json_of(record).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                   : text_of(record);
  if (options.output.empty())
    written.print(report, "the report cannot be written");
  else
    written.write_file(options.output, report, "the report cannot be written to");
  if (record.end.signal != 0) {
    process::end_by(record.end.signal);
    return 128 + record.end.signal;  // the signal did not end this process
  }
  return written.code_after(record.end.exit_code);
}

int carry_out(command_options& options, const std::optional<std::vector<std::string>>& program) {
  complete(options);
  if (!options.dry_run && (!program || program->empty()))
    throw process::usage_error("no program was given: sukima run [OPTION...] -- PROGRAM [ARGUMENT...]");
  if (program && program->empty())
    throw process::usage_error("no program was given after --: sukima run -- PROGRAM [ARGUMENT...]");
  run_plan plan = make_plan(options.run, program ? program->front() : "");
  if (options.dry_run) {
    fmt::print("{}", plan_text(plan));
    return process::exit_success;
  }
  if (!plan.pinned.empty()) pin_to(choose_cpus(read_topology(), allowed_cpus(), plan.decision.threads));
  if (options.report || options.json) return run_and_report(options, *program, std::move(plan));
  become(*program, plan);
  return process::exit_failure;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments program) {
  auto options = std::make_shared<command_options>();
  command.footer(footer);
  constexpr unsigned most = SUKIMA_CAPACITY_MAX_CPUS;
  const CLI::Validator counts = number_range(1U, most);
  thread_policy& policy = options->run.policy;
  command.add_option("--threads", policy.threads, "Use this number of threads, whatever the CPU available")
      ->type_name("N")
      ->transform(counts);
  command.add_option("--min", policy.minimum, "Use at least this many threads (default: 1)")
      ->type_name("N")
      ->transform(counts);
  command.add_option("--max", policy.maximum, "Use at most this many threads")
      ->type_name("N")
      ->transform(counts);
  command.add_option("--reserve", policy.reserve, "Leave this many CPUs to others, such as 0.5")
      ->type_name("CPUS")
      ->transform(number_range(0.0, static_cast<double>(most)));
  command.add_option("--round", options->rounding, "How to round the number of CPUs: floor, ceil or nearest")
      ->type_name("HOW")
      ->check(one_of({"floor", "ceil", "nearest"}));
  command
      .add_option(
          "--resize", options->resize,
          "Whether OpenMP's number of threads may change between regions, against its guarantee: never "
          "(default), unless-asked (until the program asks for the number), or always")
      ->type_name("WHEN")
      ->check(one_of({"never", "unless-asked", "always"}));
  command.add_flag("--pin", options->run.pin, "Also pin the program to that many CPUs");
  command.add_flag("--no-preload", options->no_preload,
                   "Only set variables; load no library into the program");
  command.add_flag("--dry-run", options->dry_run, "Print the variables; run nothing");
  command.add_flag("--report", options->report,
                   "Report the decisions on stderr at the end, with times and reasons");
  command.add_flag("--json", options->json, "Write the report as one JSON object");
  command.add_option("--output", options->output, "Write the report to this file")->type_name("FILE");
  command.callback([options, &code, program = std::move(program)] { code = carry_out(*options, program); });
}

}  // namespace sukima::cli::run

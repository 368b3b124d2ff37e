// SPDX-License-Identifier: Apache-2.0
// `sukima objects`: its options, and how a request is carried out.

#include <fmt/format.h>
#include <calibrate/shared/message_costs.hpp>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include "capacity/meter.hpp"
#include "capacity/profile.hpp"
#include "objects/files.hpp"
#include "objects/programs.hpp"
#include "objects/report.hpp"
#include "objects/validation.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/ranges.hpp"
#include "shared/reports.hpp"

namespace sukima::cli::objects {
namespace {

constexpr const char* footer = R"(Examples:
  sukima objects calibrate                         measure what messages cost here
  sukima objects record --output program.json -- ./program 100
                                                   run a program for 2 s, and describe it
  sukima objects plan program.json                 which model is fastest here, with which groups?
  sukima objects plan program.json --cpus 1.5      and with 1.5 CPUs?
  sukima objects plan program.json --load          and beside the programs that run now?
  sukima objects plan program.json --model paper   by the paper's formula instead of a simulation
  sukima objects plan program.json --output plan   also store the plan
  sukima objects validate -- ./program 100         run it under each model: were the predictions right?

docs/objects-planning.md describes the file.)";

struct objects_options {
  std::string action, file, output, decides = "simulation";
  std::optional<double> cpus;
  std::optional<double> seconds;
  bool json = false, quick = false, load = false;
};

void refuse_seconds(const objects_options& options) {
  if (options.seconds)
    throw process::usage_error("--seconds is for a recording: sukima objects record --seconds 1 -- PROGRAM");
}

void refuse_load(const objects_options& options) {
  if (options.load)
    throw process::usage_error("--load is for a plan or a validation: sukima objects plan --load FILE");
}

/// Returns the costs of messages in the profile. If one of these lines is malformed, returns none: new
/// measurements replace all of them.
model::cost_table known_costs(const std::string& profile) {
  try {
    return model::parse_costs(profile);
  } catch (const model::costs_error&) {
    return {};
  }
}

model::cost_table measure_with_progress() {
  warn_of_others();
  progress_line progress;
  return measure_message_costs([&progress](const std::string& step, std::size_t done, std::size_t total) {
    progress.show(fmt::format("{} ({} of {})", step, done, total));
  });
}

int calibrate(const objects_options& options) {
  refuse_seconds(options);
  refuse_load(options);
  if (!options.file.empty() || options.cpus || !options.output.empty())
    throw process::usage_error(
        "sukima objects calibrate measures this machine: leave out FILE, --cpus and --output");
  const std::string path = profile_path();
  try {
    const std::string profile = read_profile(path);
    expect_writable(path, "the costs cannot be written to", "SUKIMA_PROFILE");
    // Costs that this run does not measure, such as those for another number of CPUs, stay in the profile.
    model::cost_table costs = known_costs(profile);
    costs.merge(measure_with_progress());
    replace_file(path, model::profile_with_costs(profile, costs));
    fmt::print("{}", options.json ? text_of(costs_json(costs)) : costs_report(costs));
    if (!options.json) fmt::print("Written to {}.\n", path);
  } catch (const model::costs_error& error) {
    throw process::usage_error(error.what());
  }
  return process::exit_success;
}

/// Sets the CPUs that the user gave, or those that the limits allow, because a plan is used longer than the
/// present neighbours run. With --load, those that the neighbours leave.
void set_cpus(const objects_options& options, planned& planning) {
  if (options.cpus) {
    if (options.load)
      throw process::usage_error("--cpus gives the number that --load would measure: leave out one of them");
    if (!std::isfinite(*options.cpus)) throw process::usage_error("--cpus must be a number of CPUs");
    planning.cpus = *options.cpus;
    planning.cpus_reason = "as given";
    return;
  }
  constexpr double load_seconds = 1;
  capacity_meter meter;
  if (options.load) meter.measure(load_seconds);
  const capacity_report report = meter.explain();
  sukima_capacity_estimate usable = meter.usable();
  if (!options.load) usable.usable = report->facts.usable;
  planning.cpus = usable.usable;
  planning.cpus_reason = reason_for(*report, usable);
}

void store(const planned& planning, const std::string& path) {
  const model::candidate& chosen = planning.plan.ranking[planning.plan.chosen];
  replace_file(path,
               model::plan_text(planning.program, chosen, planning.cpus, sukima_capacity_machine(nullptr)));
}

int make_plan(const objects_options& options) {
  refuse_seconds(options);
  if (options.file.empty())
    throw process::usage_error("sukima objects plan needs the file with the description");
  expect_writable(options.output, "the plan cannot be written to", "--output");
  planned planning;
  try {
    planning.program = model::parse_description(read_file(options.file, "the description"));
    model::plan_request request;
    request.where.costs = read_costs();
    set_cpus(options, planning);
    request.where.cpus = planning.cpus;
    planning.by_paper = request.by_paper = options.decides == "paper";
    planning.plan = quiet_plan(planning.program, request);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", options.file, error.what()));
  } catch (const model::costs_error& error) {
    throw process::usage_error(error.what());
  }
  if (!options.output.empty()) store(planning, options.output);
  fmt::print("{}", options.json ? text_of(plan_json(planning)) : plan_report(planning));
  return process::exit_success;
}

int record(const objects_options& options, const program_arguments& program) {
  if (!program || program->empty())
    throw process::usage_error("no program was given: sukima objects record -- PROGRAM ARGUMENT...");
  refuse_load(options);
  if (!options.file.empty() || options.cpus)
    throw process::usage_error("sukima objects record runs a program after --: leave out FILE and --cpus");
  expect_writable(options.output, "the description cannot be written to", "--output");
  constexpr double most_seconds = 2;
  const model::description seen = record_program(*program, options.seconds.value_or(most_seconds));
  if (!options.output.empty()) replace_file(options.output, model::description_text(seen));
  if (options.json)
    fmt::print("{}", text_of(recording_json(seen)));
  else if (options.output.empty())
    fmt::print("{}", model::description_text(seen));
  if (options.output.empty() || options.json)
    print_message(recording_report(seen));
  else
    fmt::print("{}", recording_report(seen));
  return process::exit_success;
}

int validate(const objects_options& options, const program_arguments& program) {
  if (!program || program->empty())
    throw process::usage_error("no program was given: sukima objects validate -- PROGRAM ARGUMENT...");
  if (!options.file.empty() || options.cpus || !options.output.empty())
    throw process::usage_error(
        "sukima objects validate runs a program after -- on all usable CPUs: leave out FILE, --cpus "
        "and --output");
  constexpr double most_seconds = 60;
  planned planning;
  set_cpus(options, planning);
  try {
    const validation result =
        validate_program(*program, options.seconds.value_or(most_seconds), options.quick ? 1 : 5,
                         {.where = {.cpus = planning.cpus, .costs = read_costs()}});
    fmt::print("{}", options.json ? text_of(validation_json(result)) : validation_report(result));
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("'{}': {}", program->front(), error.what()));
  } catch (const model::costs_error& error) {
    throw process::usage_error(error.what());
  }
  return process::exit_success;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments program) {
  auto options = std::make_shared<objects_options>();
  command.footer(footer);
  command.add_option("ACTION", options->action, "What to do: record, plan, validate or calibrate")
      ->required()
      ->check(one_of({"record", "plan", "validate", "calibrate"}));
  command.add_option("FILE", options->file, "The description of the program; - reads standard input");
  command
      .add_option("--cpus", options->cpus,
                  "Plan for this number of CPUs (default: those that the limits allow)")
      ->type_name("CPUS")
      ->transform(number_range(0.1, 1024.0));
  command.add_option("--model", options->decides, "What decides: simulation (the default) or paper")
      ->type_name("MODEL")
      ->check(one_of({"simulation", "paper"}));
  command.add_option("--output", options->output, "Store the plan, or what was recorded, in this file")
      ->type_name("FILE");
  command
      .add_option("--seconds", options->seconds, "Record for at most this time (default: 2; validate: 60)")
      ->type_name("SECONDS")
      ->transform(number_range(0.01, 3600.0));
  command.add_flag("--load", options->load,
                   "Plan for the CPUs that other programs leave now, within the limits");
  command.add_flag("--quick", options->quick, "Validate with one run under each model, not five");
  command.add_flag("--json", options->json, "Print one JSON object");
  command.callback([options, &command, &code, program = std::move(program)] {
    if (command.count("--model") != 0 && options->action != "plan")
      throw process::usage_error("--model is for a plan: sukima objects plan --model MODEL FILE");
    if (options->quick && options->action != "validate")
      throw process::usage_error("--quick is for a validation: sukima objects validate --quick -- PROGRAM");
    if (options->action == "record" || options->action == "validate") {
      code = options->action == "record" ? record(*options, program) : validate(*options, program);
      return;
    }
    if (program)
      throw process::usage_error(
          "only sukima objects record and validate run a program: leave out -- and what follows");
    code = options->action == "plan" ? make_plan(*options) : calibrate(*options);
  });
}

}  // namespace sukima::cli::objects

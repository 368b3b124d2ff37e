// SPDX-License-Identifier: Apache-2.0
// `sukima probe`: its options, and how a request is carried out.

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "capacity/decision.hpp"
#include "capacity/profile.hpp"
#include "probe/answer.hpp"
#include "probe/recording.hpp"
#include "probe/watch.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/ranges.hpp"

namespace sukima::cli::probe {
namespace {

/// Exit codes of this command besides those of all commands.
enum probe_code : int {
  exit_too_few = 3,   ///< --at-least: there are fewer CPUs
  exit_warnings = 4,  ///< --strict: there are warnings
};

constexpr const char* footer = R"(Examples:
  sukima probe                              how many CPUs can I use, and why?
  sukima probe --runtimes                   and how many do Go, Java, Python, OpenMP, ... see?
  make -j $(sukima probe --threads)         a number for a script
  sukima probe --at-least 2 || exit         only where there are two CPUs
  sukima probe --watch --pid 1234           watch another process
  sukima probe --record FOLDER              for a bug report: store the files behind the answer
  sukima probe --root FOLDER                answer from such a folder on another machine
  sukima probe --steal                      in a virtual machine without reported steal time

Exit codes: 0 success, 1 failed, 2 wrong command line, 3 fewer than --at-least, 4 warnings with --strict.)";

struct probe_options {
  pid_t process = 0;
  bool json = false, prometheus = false, threads_only = false, runtimes = false, strict = false,
       watch = false, pairs = false;
  bool steal = false;
  std::string root, record;
  std::optional<double> at_least, interval;
  std::optional<unsigned> count;
};

void refuse_contradictions(const probe_options& options) {
  if (!options.watch && (options.interval || options.count))
    throw process::usage_error("--interval and --count need --watch: add it");
  if (options.watch && (options.runtimes || options.at_least || options.strict || options.threads_only))
    throw process::usage_error(
        "--watch repeats the measurement: leave out --runtimes, --at-least, --strict and --threads");
  if (options.runtimes && options.process != 0)
    throw process::usage_error("--runtimes runs programs as children of this process: leave out --pid");
  if (options.steal && (options.watch || options.threads_only))
    throw process::usage_error("--steal keeps all CPUs busy for a second: leave out --watch and --threads");
  if (options.pairs && (options.watch || options.runtimes || options.threads_only || options.at_least ||
                        options.strict || options.steal))
    throw process::usage_error("--pairs prints only the pairs: leave out all options but --pid and --json");
  const bool is_special = options.watch || options.runtimes || options.pairs || options.steal;
  if (!options.root.empty() && (is_special || !options.record.empty()))
    throw process::usage_error(
        "--root answers from files: leave out --watch, --runtimes, --pairs, --steal and --record");
  if (!options.record.empty() && is_special)
    throw process::usage_error(
        "--record stores one measurement: leave out --watch, --runtimes, --pairs and --steal");
  if (options.prometheus && (options.json || options.watch || options.pairs || options.threads_only ||
                             options.runtimes || options.steal))
    throw process::usage_error(
        "--prometheus prints metrics: leave out --json, --watch, --pairs, --threads, --runtimes and --steal");
  if (options.threads_only && (options.json || options.runtimes))
    throw process::usage_error("--threads prints one number: leave out --json and --runtimes");
}

/// The curve ends at this number of threads.
constexpr unsigned longest_curve = 256;
/// Equal to the length of the estimate's long window, and to the longest period of a quota.
constexpr double measuring_seconds = 0.5, longest_period_seconds = 1;
/// Long enough for several turns of the hypervisor's scheduler.
constexpr double steal_seconds = 1;

/// Returns the load. If nothing was measured, as in a plain copy of /proc and /sys, all rates are unknown.
sukima_capacity_load measured_load(const capacity_meter& meter) {
  sukima_capacity_load load = meter.load();
  if (load.seconds > 0) return load;
  for (double* const rate : {&load.now, &load.others, &load.stolen, &load.throttled, &load.pressure})
    *rate = std::numeric_limits<double>::quiet_NaN();
  return load;
}

/// The answer of a meter that has measured.
answer answer_of(const capacity_meter& meter) {
  answer found;
  found.report = meter.explain();
  found.load = measured_load(meter);
  found.estimate = meter.usable();
  const sukima_capacity_facts& facts = found.report->facts;
  const auto usable = [&meter](unsigned threads) { return meter.usable(threads).usable; };
  for (unsigned k = 1; k <= std::min(facts.cap, longest_curve); ++k) found.curve.push_back(usable(k));
  found.threads = decide({}, {facts.cap, facts.usable, usable, {}}).threads;
  return found;
}

void find_warnings(answer& found, surroundings place) {
  place.usable = found.estimate.usable;
  place.threads = found.threads;
  found.warnings = warnings_for(place);
}

/// Returns what is known of a recorded process: only the limits, not its variables or the machine's cores.
surroundings recorded_surroundings(const sukima_capacity_facts& facts) {
  surroundings place;
  place.facts = facts;
  return place;
}

answer answer_from_files(const probe_options& options) {
  const recorded_tree tree(options.root);
  const meter_place place = tree.place(options.process);
  capacity_meter meter(place);
  tree.replay(meter);
  answer found = answer_of(meter);
  found.places = read_places(place);
  found.root = place.root;
  find_warnings(found, recorded_surroundings(found.report->facts));
  return found;
}

answer record_answer(const probe_options& options) {
  recording record(options.record, options.process);
  capacity_meter meter(record.place());
  record.measure(meter);
  answer found = answer_of(meter);
  found.places = read_places(record.place());  // reads files that the recording must hold
  found.root = record.place().root;
  find_warnings(found, recorded_surroundings(found.report->facts));
  record.store(meter);
  return found;
}

/// A process gets its quota at the beginning of each period, so a measurement shorter than a period would be
/// arbitrary.
double measuring_time(const capacity_meter& meter) {
  const double period = 1e-6 * static_cast<double>(meter.facts().quota_period_us);
  return std::clamp(period, measuring_seconds, longest_period_seconds);
}

answer find_answer(const probe_options& options) {
  if (!options.root.empty()) return answer_from_files(options);
  if (!options.record.empty()) return record_answer(options);
  capacity_meter meter(options.process);
  std::map<unsigned, double> steal;
  if (options.threads_only) {
    meter.measure_quickly();
  } else {
    if (options.steal) steal = meter.probe_steal(allowed_cpus(options.process), steal_seconds);
    meter.measure(measuring_time(meter));
  }
  answer found = answer_of(meter);
  if (!is_there(options.process))
    throw std::runtime_error(fmt::format(
        "process {} has ended while it was measured: there is no answer for it", options.process));
  found.steal = std::move(steal);
  if (options.threads_only && !options.strict) return found;
  found.places = read_places({.process = options.process});
  find_warnings(found, surroundings_of(options.process, found.report->facts));
  if (options.runtimes) found.runtimes = ask_runtimes();
  return found;
}

/// Prints which CPUs slow each other down, from the profile or from a new measurement.
int probe_pairs(const probe_options& options) {
  const std::set<unsigned> among = allowed_cpus(options.process);
  profile_file known(sukima_capacity_profile_read(nullptr, nullptr, 0));
  sukima::calibration measured;
  sukima_capacity_profile profile{};
  const bool holds = known && sukima_capacity_profile_check(known.get()) == SUKIMA_CAPACITY_PROFILE_VALID;
  if (holds) {
    profile = *known;
  } else {
    sukima::calibration_plan plan;
    plan.cpus.assign(among.begin(), among.end());
    measured = measure_profile(std::move(plan));
    profile = measured.profile();
  }
  if (options.json) {
    fmt::print("{}\n",
               nlohmann::json{
                   {"schema", json_schema}, {"measured_now", !holds}, {"pairs", pairs_json(profile, among)}}
                   .dump(2));
  } else {
    fmt::print("{}{}", pairs_text(profile, among),
               holds ? "From the profile of sukima calibrate.\n"
                     : "Measured now; sukima calibrate stores such figures.\n");
  }
  if (std::fflush(stdout) != 0) throw std::runtime_error("the answer cannot be written to standard output");
  return process::exit_success;
}

int probe_once(const probe_options& options) {
  const answer found = find_answer(options);
  if (options.threads_only) {
    fmt::print("{}\n", found.threads);
  } else if (options.prometheus) {
    fmt::print("{}", metrics_of(found));
  } else if (options.json) {
    fmt::print("{}\n", json_of(found).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print("{}", text_of(found, use_colour(STDOUT_FILENO)));
  }
  if (std::fflush(stdout) != 0) throw std::runtime_error("the answer cannot be written to standard output");
  if (options.at_least && found.estimate.usable < *options.at_least - 1e-9) return exit_too_few;
  if (options.strict && !found.warnings.empty()) return exit_warnings;
  return process::exit_success;
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<probe_options>();
  command.footer(footer);
  command.add_option("--pid", options->process, "Examine this process")
      ->type_name("PID")
      ->transform(number_range(1, std::numeric_limits<pid_t>::max()));
  command.add_flag("--json", options->json, "Print one JSON object");
  command.add_flag("--prometheus", options->prometheus, "Print metrics for Prometheus");
  command.add_flag("--threads", options->threads_only, "Print only how many threads to start");
  command.add_flag("--runtimes", options->runtimes,
                   "Also ask the installed runtimes for their number of CPUs");
  command.add_flag("--steal", options->steal, "Also measure unreported steal time: 1 s on every CPU");
  command.add_flag("--pairs", options->pairs, "Print which pairs of CPUs slow each other down");
  command.add_option("--root", options->root, "Answer from the files of a recorded tree")
      ->type_name("FOLDER");
  command.add_option("--record", options->record, "Also store the files behind the answer")
      ->type_name("FOLDER");
  command.add_option("--at-least", options->at_least, "Exit with 3 if fewer CPUs can be used")
      ->type_name("CPUS")
      ->transform(number_range(0.0, static_cast<double>(SUKIMA_CAPACITY_MAX_CPUS)));
  command.add_flag("--strict", options->strict, "Exit with 4 if there are warnings");
  command.add_flag("--watch", options->watch, "Repeat the measurement, with a chart on a terminal");
  command
      .add_option("--interval", options->interval, "Seconds between two measurements of --watch (default: 1)")
      ->type_name("SECONDS")
      ->transform(number_range(0.05, 3600.0));
  command.add_option("--count", options->count, "End --watch after this many measurements")
      ->type_name("N")
      ->transform(number_range(1U, 1'000'000'000U));
  command.callback([options, &code] {
    refuse_contradictions(*options);
    if (options->pairs) {
      code = probe_pairs(*options);
      return;
    }
    if (!options->watch) {
      code = probe_once(*options);
      return;
    }
    code = watch({options->process, options->interval.value_or(1), options->count, options->json});
  });
}

}  // namespace sukima::cli::probe

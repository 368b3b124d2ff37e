// SPDX-License-Identifier: Apache-2.0
// `sukima host`: its options, and how a request is carried out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <host/shared/act.hpp>
#include <memory>
#include <optional>

#include "host/act.hpp"
#include "host/help.hpp"
#include "host/input.hpp"
#include "host/live.hpp"
#include "host/machines.hpp"
#include "host/report.hpp"
#include "host/status.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/ranges.hpp"

namespace sukima::cli::host {
namespace {

constexpr const char* default_config = "/etc/sukima/host.json";

struct host_options {
  std::string action, first, second, method = "exact", weight_of, since;
  bool json = false;
  live_options live;
  std::optional<unsigned> count;
  std::optional<double> interval;
  std::vector<std::string> others;
  act_options acting;
  std::string metrics;
  bool no_times = false;
};

/// Returns the name of an option that makes the command read this host; empty: none was given.
std::string live_option(const host_options& options) {
  if (!options.live.connect.empty()) return "--connect";
  if (!options.live.domstats.empty()) return "--domstats";
  if (!options.live.qmp.empty()) return "--qmp";
  if (!options.live.cgroups.empty()) return "--cgroup";
  if (!options.live.root.empty()) return "--root";
  return options.interval ? "--interval" : "";
}

/// Refuses the options of other actions, which would otherwise have no effect. \throws process::usage_error
void refuse_options_of_others(const CLI::App& command, const std::string& action) {
  for (const CLI::Option* one : command.get_options()) {
    if (one->count() == 0 || one->get_lnames().empty() || one == command.get_help_ptr()) continue;
    const std::string name = "--" + one->get_lnames().front();
    const std::vector<std::string> actions = actions_with(name);
    if (std::ranges::find(actions, action) == actions.end())
      throw process::usage_error(
          fmt::format("{} is for sukima host {}; leave it out", name, join_words(actions, " and ")));
  }
}

/// Refuses wrong options of this action before any file is read.
void check(const host_options& options, const std::string& file) {
  const std::string live = live_option(options);
  if (!file.empty() && !live.empty())
    throw process::usage_error(
        fmt::format("{} is for a running host; leave out either it or '{}'", live, file));
  if (!options.since.empty() && file.empty())
    throw process::usage_error(
        "--since is for an explanation of a file: sukima host explain VM FILE --since EARLIER");
  const bool reads_again = options.action == "watch" || options.action == "record";
  if (options.interval && !options.live.domstats.empty() && !reads_again)
    throw process::usage_error(
        fmt::format("--interval has no effect, because sukima host {} reads --domstats once: leave it out",
                    options.action));
}

model::description read_host(const std::string& path) {
  const std::string text = read_input(path, fmt::format("the description '{}'", path), "give another file");
  try {
    return model::parse_description(text);
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", path, error.what()));
  }
}

std::optional<model::weight_owner> owner_of(const host_options& options) {
  if (options.weight_of.empty()) return std::nullopt;
  return options.weight_of == "vm" ? model::weight_owner::vm : model::weight_owner::vcpu;
}

/// Returns the description for the command: the one in the file, or that of this host after an interval.
model::description described(const host_options& options, const std::string& file,
                             std::optional<model::description>& since) {
  if (!file.empty()) {
    if (!options.since.empty()) since = read_host(options.since);
    return read_host(file);
  }
  live_host host(options.live);
  host.measure();
  for (const std::string& note : host.take_notes()) complain(note);
  if (host.seen().host().vms.empty()) throw process::usage_error(host.reason_for_none());
  // Counters that were read only once count from the start of the machine.
  if (options.live.domstats.empty()) since = host.first();
  return host.seen().host();
}

int estimate(const host_options& options) {
  if (!options.second.empty())
    throw process::usage_error(
        fmt::format("'{}' is one argument too many: sukima host estimate FILE", options.second));
  check(options, options.first);
  estimated estimate;
  std::optional<model::description> since;
  estimate.host = described(options, options.first, since);
  for (const auto method : {model::estimate_method::partition, model::estimate_method::formula})
    if (options.method == name_of(method)) estimate.method = method;
  try {
    estimate.shares = model::estimate_shares(estimate.host, {estimate.method, owner_of(options)});
    if (estimate.method == model::estimate_method::exact) {
      const model::estimator exact(estimate.host, owner_of(options));
      for (std::size_t j = 0; j < estimate.host.vms.size(); ++j) estimate.counts.push_back(exact.counts(j));
    }
  } catch (const model::description_error& error) {
    throw process::usage_error(
        fmt::format("{}: {}", options.first.empty() ? "this host" : options.first, error.what()));
  }
  fmt::print("{}", options.json ? estimate_json(estimate).dump(2) + "\n" : estimate_report(estimate));
  return process::exit_success;
}

/// Runs the actions that use the journal.
int change(host_options& options) {
  for (const std::string& argument : {options.first, options.second})
    if (!argument.empty()) options.acting.arguments.push_back(argument);
  options.acting.arguments.insert(options.acting.arguments.end(), options.others.begin(),
                                  options.others.end());
  const bool lasts = options.action == "optimise";
  // The user of a command that ends at once knows the time; a program that reads JSON may not know it.
  options.acting.format = {options.json, lasts ? !options.no_times : options.json};
  options.acting.metrics = options.metrics;
  options.acting.connect = options.live.connect;
  if (!options.acting.connect.empty() && !options.acting.config.empty())
    throw process::usage_error(
        "--connect finds the machines, and --config names them; leave one of the two out");
  if (options.acting.config.empty()) options.acting.config = default_config;
  if (options.action == "optimise") return optimise(options.acting);
  if (options.action == "status") return status(options.acting);
  return options.action == "act" ? set_value(options.acting) : revert(options.acting);
}

int explain(const host_options& options) {
  if (options.first.empty())
    throw process::usage_error("an explanation needs a virtual machine: sukima host explain VM [FILE]");
  if (!options.others.empty())
    throw process::usage_error(
        fmt::format("'{}' is one argument too many: sukima host explain VM [FILE]", options.others.front()));
  check(options, options.second);
  std::optional<model::description> since;
  const model::description host = described(options, options.second, since);
  const std::string where = options.second.empty() ? "this host" : options.second;
  const auto found = std::ranges::find(host.vms, options.first, &model::vm::name);
  if (found == host.vms.end())
    throw process::usage_error(fmt::format("{} has no virtual machine '{}'; sukima host {} lists them", where,
                                           options.first,
                                           options.second.empty() ? "list" : "estimate " + options.second));
  try {
    const model::explanation explanation =
        model::explain(host, static_cast<std::size_t>(found - host.vms.begin()), owner_of(options),
                       since ? &*since : nullptr);
    fmt::print("{}", options.json ? explanation_json(found->name, explanation).dump(2) + "\n"
                                  : explanation_report(found->name, explanation));
  } catch (const model::description_error& error) {
    throw process::usage_error(fmt::format("{}: {}", where, error.what()));
  }
  return process::exit_success;
}

/// Runs list, watch and record.
int show(const host_options& options) {
  const bool records = options.action == "record";
  if (records && options.first.empty())
    throw process::usage_error("a recording needs a file: sukima host record FILE");
  const std::string& surplus = records ? options.second : options.first;
  if (!surplus.empty())
    throw process::usage_error(
        fmt::format("'{}' is one argument too many: sukima host {}", surplus, options.action));
  check(options, "");
  live_host host(options.live);
  const machine_options how{
      owner_of(options), {options.json, !options.no_times}, options.count, options.metrics};
  if (options.action == "list") return list(host, how);
  return records ? record(host, options.first, how) : watch(host, how);
}

void add_live_options(CLI::App& command, host_options& options) {
  command
      .add_option(
          "--connect", options.live.connect,
          "Read the domains of this libvirt, such as qemu:///system; optimise follows those whose guests "
          "have the port org.sukima.guest.0")
      ->type_name("URI");
  command
      .add_option("--qmp", options.live.qmp, "Read the machine of this QMP socket of QEMU; can be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);  // the next argument is the virtual machine, or the file
  command
      .add_option(
          "--cgroup", options.live.cgroups,
          "Read this control group, from the root of its hierarchy; with * for several; can be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false);
  command
      .add_option("--domstats", options.live.domstats,
                  "Read what virsh domstats printed; - reads standard input")
      ->type_name("FILE");
  command
      .add_option("--root", options.live.root,
                  "Read a recorded machine: a prefix for all paths in /proc and /sys")
      ->type_name("FOLDER");
  command.add_option("--interval", options.interval, "Seconds between two readings (default 1)")
      ->type_name("SECONDS")
      ->transform(number_range(0.1, 3600.0));
  command.add_option("--count", options.count, "For watch and record: end after this number of readings")
      ->type_name("N")
      ->transform(number_range(1U, 1000000U));
}

void add_acting_options(CLI::App& command, host_options& options) {
  command
      .add_option("--config", options.acting.config,
                  fmt::format("For optimise and act: the description of the machines that may be acted on "
                              "(default {})",
                              default_config))
      ->type_name("FILE");
  command
      .add_option("--journal", options.acting.journal,
                  "For optimise, act, status and revert: the file in which acts are recorded")
      ->default_val(model::default_journal)
      ->type_name("FILE");
  command.add_option("--by", options.acting.by, "For optimise: judge by progress or by CPU use")
      ->default_val("progress")
      ->type_name("WHAT")
      ->check(one_of({"progress", "use"}));
  command.add_flag("--dry-run", options.acting.dry_run,
                   "For optimise and act: do everything except the acts");
}

/// \param options  the help's formatter reads its member `action`
int show_help(const CLI::App& command, host_options& options) {
  options.action = options.first == "optimize" ? "optimise" : options.first;
  const auto names = action_names();
  if (!options.first.empty() && std::ranges::find(names, options.action) == names.end())
    throw process::usage_error(
        fmt::format("there is no action '{}': choose {}", options.first, join_words(names)));
  fmt::print("{}", command.help("sukima"));
  return process::exit_success;
}

int carry_out(const CLI::App& command, host_options& options) {
  const std::string& action = options.action;
  if (action == "help") return show_help(command, options);
  refuse_options_of_others(command, action);
  if (options.interval) options.live.interval = *options.interval;
  if (action == "estimate") return estimate(options);
  if (action == "explain") return explain(options);
  if (action == "optimise" || action == "act" || action == "status" || action == "revert")
    return change(options);
  return show(options);
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments /*program*/) {
  auto options = std::make_shared<host_options>();
  command.formatter(help_formatter(options->action));
  command.footer(
      fmt::format("Examples:\n{}\nWithout FILE, estimate and explain look at this host. sukima host help "
                  "ACTION describes one "
                  "action, and docs/host-reference.md the file.",
                  all_examples()));
  command
      .add_option("ACTION", options->action,
                  "What to do: list, watch, record FILE, estimate [FILE], explain VM [FILE], "
                  "optimise [VM...], act VM KIND VALUE, status [VM...], revert [VM...], or help [ACTION]")
      ->required()
      ->transform([](std::string action) { return action == "optimize" ? "optimise" : action; })
      ->check(one_of(action_names()));
  command.add_option("VM", options->first, "The virtual machine to explain; leave it out for the others");
  command.add_option("FILE", options->second, "The description of a host; - is standard input or output");
  command.add_option("MORE", options->others, "More virtual machines to optimise, or the value of an act");
  command.add_option("--method", options->method, "How: exact (the default), partition or formula")
      ->type_name("METHOD")
      ->check(one_of({"exact", "partition", "formula"}));
  command
      .add_option("--weight-of", options->weight_of,
                  "Owner of each weight, instead of the owner in FILE: vcpu or vm")
      ->type_name("OWNER")
      ->check(one_of({"vcpu", "vm"}));
  command.add_option("--since", options->since, "For explain: compare with this earlier description")
      ->type_name("EARLIER");
  command.add_flag("--json", options->json, "Print one JSON object, or one a line");
  command
      .add_option("--metrics", options->metrics,
                  "For watch and optimise: serve metrics for Prometheus at this port of 127.0.0.1 or at "
                  "ADDRESS:PORT, or write them to a file")
      ->type_name("PORT|FILE");
  command.add_flag("--no-times", options->no_times,
                   "For watch and optimise: print lines without their times");
  add_live_options(command, *options);
  add_acting_options(command, *options);
  command.callback([options, &command, &code] { code = carry_out(command, *options); });
}

}  // namespace sukima::cli::host

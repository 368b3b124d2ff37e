// SPDX-License-Identifier: Apache-2.0
// `sukima host`: its options, and how a request is carried out.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <host/shared/act.hpp>
#include <iterator>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "host/act.hpp"
#include "host/report.hpp"

namespace sukima::cli::host {
namespace {

constexpr const char* footer = R"(Examples:
  sukima host estimate host.json                  how many CPUs can each virtual machine use?
  sukima host estimate host.json --weight-of vm   and if the weight were the VM's, not each vCPU's?
  sukima host estimate host.json --method partition
                                                  by the partition of a graph, as the paper
  sukima host estimate - --json < host.json       from standard input, as JSON
  sukima host explain db host.json                why does the VM 'db' not get what it should?
  sukima host explain db now.json --since before.json
                                                  and between two descriptions?
  sukima host optimise --dry-run                  what would be tried of all in /etc/sukima/host.json?
  sukima host optimise --config host.json db      find the best number of threads of 'db', until Ctrl-C
  sukima host act db cap 1.5                      limit its control group to 1.5 CPUs
  sukima host revert                              undo what was set

docs/host.md describes the file.)";

struct host_options {
  std::string action, first, second, method = "exact", weight_of, since;
  bool json = false;
  std::vector<std::string> others;
  act_options acting;
};

model::description read_host(const std::string& path) {
  std::ifstream in(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  if (!in) throw usage_error(fmt::format("the description '{}' cannot be read; give another file", path));
  try {
    return model::parse_description(text);
  } catch (const model::description_error& error) {
    throw usage_error(fmt::format("{}: {}", path, error.what()));
  }
}

std::optional<model::weight_owner> owner_of(const host_options& options) {
  if (options.weight_of.empty()) return std::nullopt;
  return options.weight_of == "vm" ? model::weight_owner::vm : model::weight_owner::vcpu;
}

int estimate(const host_options& options) {
  if (options.first.empty())
    throw usage_error("an estimate needs the description of a host: sukima host estimate FILE");
  if (!options.second.empty())
    throw usage_error(fmt::format("'{}' is one word too many: sukima host estimate FILE", options.second));
  if (!options.since.empty())
    throw usage_error("--since is for an explanation: sukima host explain VM FILE --since EARLIER");
  estimated what;
  what.host = read_host(options.first);
  for (const auto method : {model::estimate_method::partition, model::estimate_method::formula})
    if (options.method == name_of(method)) what.method = method;
  try {
    what.shares = model::estimate_shares(what.host, {what.method, owner_of(options)});
    if (what.method == model::estimate_method::exact) {
      const model::estimator exact(what.host, owner_of(options));
      for (std::size_t j = 0; j < what.host.vms.size(); ++j) what.counts.push_back(exact.counts(j));
    }
  } catch (const model::description_error& error) {
    throw usage_error(fmt::format("{}: {}", options.first, error.what()));
  }
  fmt::print("{}", options.json ? estimate_json(what).dump(2) + "\n" : estimate_report(what));
  return exit_success;
}

/// The actions that change something.
int change(host_options& options) {
  for (const std::string& word : {options.first, options.second})
    if (!word.empty()) options.acting.words.push_back(word);
  options.acting.words.insert(options.acting.words.end(), options.others.begin(), options.others.end());
  options.acting.json = options.json;
  if (!options.since.empty() || !options.weight_of.empty() || options.method != "exact")
    throw usage_error(fmt::format(
        "--since, --weight-of and --method are not for sukima host {}; leave them out", options.action));
  if (options.action != "optimise" && (options.acting.dry_run || options.acting.by != "progress"))
    throw usage_error("--dry-run and --by are for sukima host optimise; leave them out");
  if (options.action == "optimise") return optimise(options.acting);
  return options.action == "act" ? set_value(options.acting) : revert(options.acting);
}

int explain(const host_options& options) {
  if (options.second.empty())
    throw usage_error(
        "an explanation needs a virtual machine and a description: sukima host explain VM FILE");
  if (options.method != "exact") throw usage_error("--method is for an estimate: sukima host estimate FILE");
  if (!options.others.empty())
    throw usage_error(
        fmt::format("'{}' is one word too many: sukima host explain VM FILE", options.others.front()));
  const model::description host = read_host(options.second);
  std::optional<model::description> since;
  if (!options.since.empty()) since = read_host(options.since);
  const auto found = std::ranges::find(host.vms, options.first, &model::vm::name);
  if (found == host.vms.end())
    throw usage_error(fmt::format("{} has no virtual machine '{}'; sukima host estimate {} lists them",
                                  options.second, options.first, options.second));
  try {
    const model::explanation what = model::explain(host, static_cast<std::size_t>(found - host.vms.begin()),
                                                   owner_of(options), since ? &*since : nullptr);
    fmt::print("{}", options.json ? explanation_json(found->name, what).dump(2) + "\n"
                                  : explanation_report(found->name, what));
  } catch (const model::description_error& error) {
    throw usage_error(fmt::format("{}: {}", options.second, error.what()));
  }
  return exit_success;
}

}  // namespace

void add_command(CLI::App& parent, int& code) {
  auto options = std::make_shared<host_options>();
  CLI::App* const command = parent.add_subcommand(
      "host", "Reports how many CPUs each virtual machine of a host can use, and sets that");
  command->footer(footer);
  command
      ->add_option(
          "ACTION", options->action,
          "What to do: estimate FILE, explain VM FILE, optimise [VM...], act VM KIND VALUE, or revert")
      ->required()
      ->check(CLI::IsMember({"estimate", "explain", "optimise", "act", "revert"}));
  command->add_option("VM", options->first, "The virtual machine to explain; leave it out for an estimate");
  command->add_option("FILE", options->second, "The description of the host; - reads standard input");
  command->add_option("MORE", options->others, "More virtual machines to optimise, or the value of an act");
  command->add_option("--method", options->method, "How: exact (the default), partition or formula")
      ->type_name("METHOD")
      ->check(CLI::IsMember({"exact", "partition", "formula"}));
  command
      ->add_option("--weight-of", options->weight_of,
                   "Whose each weight is, in place of what FILE says: vcpu or vm")
      ->type_name("OWNER")
      ->check(CLI::IsMember({"vcpu", "vm"}));
  command->add_option("--since", options->since, "For explain: count from this earlier description")
      ->type_name("EARLIER");
  command
      ->add_option("--config", options->acting.config,
                   "For optimise and act: the description of the machines that may be acted on")
      ->default_val("/etc/sukima/host.json")
      ->type_name("FILE");
  command
      ->add_option("--journal", options->acting.journal,
                   "For optimise, act and revert: where acts are written down")
      ->default_val(model::default_journal)
      ->type_name("FILE");
  command->add_option("--by", options->acting.by, "For optimise: judge by progress or by CPU use")
      ->default_val("progress")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"progress", "use"}));
  command->add_flag("--dry-run", options->acting.dry_run, "For optimise: do all but act");
  command->add_flag("--json", options->json, "Print one JSON object, or one a line");
  command->callback([options, &code] {
    if (options->action == "estimate")
      code = estimate(*options);
    else
      code = options->action == "explain" ? explain(*options) : change(*options);
  });
}

}  // namespace sukima::cli::host

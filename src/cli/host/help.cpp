// SPDX-License-Identifier: Apache-2.0
// The help of `sukima host`; see help.hpp.
#include "host/help.hpp"

#include <base/shared/assert.hpp>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

namespace sukima::cli::host {
namespace {

struct example {
  const char *command, *meaning;
};

struct action_entry {
  const char* name;
  const char* arguments;
  const char* description;
  std::vector<const char*> options;
  std::vector<example> examples;
};

/// Returns the given options and those that choose the sources of this host.
std::vector<const char*> with_sources(std::vector<const char*> others) {
  std::vector<const char*> all{"--connect", "--qmp", "--cgroup", "--domstats", "--root", "--interval"};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

const std::vector<action_entry>& entries() {
  static const std::vector<action_entry> all{
      {"list",
       "",
       "Shows the virtual machines and containers of this host: what each of them uses, for how\n"
       "long it waits for CPUs, and how many CPUs it can use.",
       with_sources({"--weight-of", "--json"}),
       {{"list", "the virtual machines and containers of this host"},
        {"list --connect xen:///system", "only the domains of this libvirt"},
        {"list --qmp /run/vm.qmp --cgroup '/docker/*'",
         "only these virtual machines of QEMU and control groups"}}},
      {"watch",
       "",
       "Repeats the list: on a terminal as one table that is redrawn, otherwise as lines.",
       with_sources({"--count", "--weight-of", "--metrics", "--no-times", "--json"}),
       {{"watch --interval 2", "the same, every 2 s"},
        {"watch --metrics 9105 > /dev/null", "metrics at http://127.0.0.1:9105/metrics"}}},
      {"record",
       "FILE",
       "Writes the description of this host to FILE, after ten intervals. - is standard output.",
       with_sources({"--count"}),
       {{"record host.json", "their description, after 10 s"}}},
      {"estimate",
       "[FILE]",
       "Computes how many CPUs each virtual machine can use, from weights, caps, affinities and\n"
       "demands. Without FILE it reads this host. - is standard input.",
       with_sources({"--method", "--weight-of", "--json"}),
       {{"estimate host.json", "how many CPUs can each virtual machine use?"},
        {"estimate host.json --weight-of vm", "and if the weight were the VM's, not each vCPU's?"},
        {"estimate host.json --method partition", "by the partition of a graph, as the paper"},
        {"estimate - --json < host.json", "from standard input, as JSON"}}},
      {"explain",
       "VM [FILE]",
       "Compares the CPUs that a virtual machine should get with those that it got, and gives\n"
       "the reasons for a difference. Without FILE it reads this host.",
       with_sources({"--since", "--weight-of", "--json"}),
       {{"explain db", "why does the VM 'db' not get what it should, now?"},
        {"explain db host.json", "why does the VM 'db' not get what it should?"},
        {"explain db now.json --since before.json", "and between two descriptions?"}}},
      {"optimise",
       "[VM...]",
       "Finds the best number of threads or of virtual CPUs of the machines that you name, or of\n"
       "all that may be acted on, and holds it until Ctrl-C. Also: optimize.",
       {"--config", "--connect", "--journal", "--by", "--dry-run", "--metrics", "--no-times", "--json"},
       {{"optimise --dry-run", "what would be tried of all in /etc/sukima/host.json?"},
        {"optimise --config host.json db", "find the best number of threads of 'db', until Ctrl-C"},
        {"optimise --connect qemu:///system", "all machines of libvirt with a port, later ones too"},
        {"optimise --metrics /var/lib/node_exporter/sukima.prom", "with metrics for Prometheus in a file"}}},
      {"act",
       "VM KIND VALUE",
       "Sets the cap (in CPUs, or none) or the weight of a machine's control group until revert,\n"
       "or with plug gives the machine more virtual CPUs.",
       {"--config", "--journal", "--dry-run", "--json"},
       {{"act db cap 1.5", "limit its control group to 1.5 CPUs"},
        {"act db plug 4", "plug virtual CPUs in until it has 4"},
        {"act db cap 1.5 --dry-run", "what would that set?"}}},
      {"status",
       "[VM...]",
       "Lists the acts in effect beside the present values. Changes nothing and never waits.",
       {"--journal", "--json"},
       {{"status", "what is set, beside the present values"}}},
      {"revert",
       "[VM...]",
       "Undoes the acts in the journal, or only the acts on the machines that you name.",
       {"--journal", "--json"},
       {{"revert", "undo what was set"}, {"revert db", "undo what was set for 'db'"}}},
      {"help",
       "[ACTION]",
       "Describes an action.",
       {},
       {{"help optimise", "the options and examples of one action"}}},
  };
  return all;
}

std::string examples_of(const action_entry& one) {
  constexpr std::size_t column = 48;
  std::string text;
  for (const example& each : one.examples) {
    const std::string command = fmt::format("  sukima host {}", each.command);
    text += command.size() + 2 <= column ? fmt::format("{:<{}}{}\n", command, column, each.meaning)
                                         : fmt::format("{}\n{:<{}}{}\n", command, "", column, each.meaning);
  }
  return text;
}

class formatter final : public CLI::Formatter {
 public:
  explicit formatter(const std::string& action) : action_(action) {}

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const auto found = std::ranges::find(entries(), action_, [](const auto& one) { return one.name; });
    return found == entries().end() ? CLI::Formatter::make_help(app, std::move(name), mode)
                                    : help_of(*app, *found);
  }

 private:
  std::string help_of(const CLI::App& app, const action_entry& one) const {
    std::string text = fmt::format("{}\n\nUsage: sukima host {}{}{} [OPTIONS]\n\nOptions:\n", one.description,
                                   one.name, *one.arguments == '\0' ? "" : " ", one.arguments);
    text += make_option(app.get_help_ptr(), false);
    for (const char* option : one.options) text += make_option(app.get_option(option), false);
    return fmt::format("{}\nExamples:\n{}\nManual page: man sukima-host.\n", text, examples_of(one));
  }

  const std::string& action_;
};

}  // namespace

std::vector<std::string> action_names() {
  std::vector<std::string> names;
  std::ranges::transform(entries(), std::back_inserter(names), [](const auto& one) { return one.name; });
  return names;
}

std::vector<std::string> actions_with(std::string_view option) {
  std::vector<std::string> names;
  for (const action_entry& one : entries())
    if (std::ranges::find(one.options, option) != one.options.end()) names.emplace_back(one.name);
  SUKIMA_ASSERT(!names.empty(), "each option belongs to an action, so that the help of one shows it");
  return names;
}

std::string all_examples() {
  std::string text;
  for (const action_entry& one : entries()) text += examples_of(one);
  return text;
}

std::shared_ptr<CLI::FormatterBase> help_formatter(const std::string& action) {
  return std::make_shared<formatter>(action);
}

}  // namespace sukima::cli::host

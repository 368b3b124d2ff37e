// SPDX-License-Identifier: Apache-2.0
// sukima-simulated-lab: simulates the wait policies of the runtime in virtual machines that share CPUs, and
// the papers' experiments.
#include "experiments.hpp"
#include "overcommit.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace sukima::simulation;

struct options {
  cell shape;
  std::vector<unsigned> machines{1, 2, 4, 8, 16};
  std::vector<std::string> policies{"adaptive", "spin", "pause", "block"};
  std::string steal = "publish:3";
  unsigned workers = 0;
  unsigned quota_percent = 0;
  std::string siblings = "none";
  std::string experiment;
  bool list = false;
  bool json = false;
};

unsigned workers_of(const options& o) { return o.workers == 0 ? o.shape.vcpus : o.workers; }

double milliseconds(std::uint64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-6; }

void print_row(const cell& c, const std::string& policy, const measurement& m) {
  const double ideal = static_cast<double>(m.work) / c.setup.pcpus;
  std::printf("%8u  %-24s %9.3f %9.3f %8.2f %9.1f %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "\n", c.machines,
              policy.c_str(), milliseconds(m.time), milliseconds(m.time) / c.machines,
              static_cast<double>(m.time) / ideal,
              100.0 * (1.0 - static_cast<double>(m.work) / static_cast<double>(m.used)), m.steals, m.sleeps,
              m.exits);
  std::fflush(stdout);
}

void print_table(const options& o) {
  std::printf("simulated: machines of %u vCPUs with %u workers, on %u CPUs, beside %u busy vCPUs\n",
              o.shape.vcpus, workers_of(o), o.shape.setup.pcpus, o.shape.busy_vcpus);
  std::printf("each: %u searches of %u nodes, %.1f ms of work; steal protocol %s\n", o.shape.search.rounds,
              o.shape.search.nodes, milliseconds(work_of(o.shape.search)), o.steal.c_str());
  std::printf("machines  %-24s   time ms  per mach.  / ideal  %% no work    steals    sleeps     exits\n",
              "wait policy");
  for (const unsigned machines : o.machines)
    for (const std::string& policy : o.policies) {
      cell c = o.shape;
      c.machines = machines;
      c.runtime = fixed_workers(policy, o.steal, workers_of(o));
      print_row(c, policy, simulate(c));
    }
}

std::string names_of_experiments() {
  std::string names;
  for (const experiment& e : experiments()) names += (names.empty() ? "" : ", ") + std::string(e.name);
  return names;
}

void print_experiment(const options& o) {
  const auto found = std::ranges::find(experiments(), o.experiment, &experiment::name);
  if (found == experiments().end())
    throw std::invalid_argument("there is no experiment '" + o.experiment + "': choose one of " +
                                names_of_experiments());
  const findings all = found->run();
  std::fputs((o.json ? json_of(*found, all) : text_of(*found, all)).c_str(), stdout);
}

/// Does what the options request.
void run(const options& o, bool has_others) {
  if (o.json && o.experiment.empty() && !o.list)
    throw std::invalid_argument("--json is for --experiment or --list");
  if ((o.list || !o.experiment.empty()) && has_others)
    throw std::invalid_argument("--experiment and --list take no other option than --json");
  if (o.list)
    std::fputs((o.json ? list_json() : list_text()).c_str(), stdout);
  else if (!o.experiment.empty())
    print_experiment(o);
  else
    print_table(o);
}

}  // namespace

int main(int count, char** arguments) {
  options o;
  o.shape.setup.pcpus = 16;
  o.shape.setup.slack = 1'000;
  CLI::App app(
      "Runs a search with the real runtime in virtual machines that share CPUs, all of them simulated, and "
      "prints what each wait policy costs. The same options print the same text.");
  app.add_option("--experiment", o.experiment, "Run an experiment of the list, with its own settings");
  app.add_flag("--list", o.list, "Print the experiments");
  app.add_flag("--json", o.json, "Print one JSON object");
  const auto number = CLI::Range(1u, 1024u);
  app.add_option("--machines", o.machines, "Numbers of virtual machines")
      ->delimiter(',')
      ->capture_default_str()
      ->check(CLI::Range(1u, 64u));
  app.add_option("--vcpus", o.shape.vcpus, "Virtual CPUs of each")->capture_default_str()->check(number);
  app.add_option("--cpus", o.shape.setup.pcpus, "Physical CPUs")->capture_default_str()->check(number);
  app.add_option("--workers", o.workers, "Workers of each; 0: as many as virtual CPUs")
      ->capture_default_str()
      ->check(CLI::Range(0u, 1024u));
  app.add_option("--busy", o.shape.busy_vcpus, "Virtual CPUs of a neighbour that is always busy")
      ->capture_default_str()
      ->check(CLI::Range(0u, 1024u));
  app.add_option("--quota", o.quota_percent, "CPU of each machine in percent of one CPU; 0: no quota")
      ->capture_default_str()
      ->check(CLI::Range(0u, 102'400u));
  // Not separated by commas, because a policy's notation may contain one.
  app.add_option("--policy", o.policies, "Wait policies, as SUKIMA_WAIT has them; several times")
      ->capture_default_str();
  app.add_option("--steal", o.steal, "Steal protocol, as SUKIMA_STEAL has it")->capture_default_str();
  auto& exits = o.shape.setup.exits;
  app.add_option("--gap", exits.gap, "Nanoseconds between two pauses of a loop that exits; 0: no exits")
      ->capture_default_str()
      ->check(CLI::Range(0u, 1'000'000u));
  app.add_option("--window", exits.window, "Nanoseconds of such a loop before it exits")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000'000'000u));
  app.add_flag("--in-guest", exits.in_guest, "After an exit only a virtual CPU of the same machine runs");
  app.add_flag("--demote", exits.demotes, "After an exit, virtual CPUs that have exited come last");
  app.add_option("--siblings", o.siblings,
                 "Virtual CPUs of one machine: none, together (co-scheduling), apart (balance scheduling)")
      ->capture_default_str()
      ->check(CLI::IsMember({"none", "together", "apart"}));
  app.add_option("--seed", o.shape.search.seed, "Shape of the search")->capture_default_str();
  app.add_option("--rounds", o.shape.search.rounds, "Searches, one after the other")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000'000u));
  app.add_option("--nodes", o.shape.search.nodes, "Nodes of a search")
      ->capture_default_str()
      ->check(CLI::Range(1u, 10'000'000u));
  app.add_option("--work", o.shape.search.mean_work, "Nanoseconds of work at a node, on average")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1'000'000'000u));
  app.add_option("--slack", o.shape.setup.slack, "Nanoseconds that a virtual CPU may run ahead")
      ->capture_default_str()
      ->check(CLI::Range(0u, 1'000'000u));
  bool has_others = false;
  try {
    app.parse(count, arguments);
    for (const CLI::Option* const given : app.parse_order())
      if (const std::string name = given->get_name();
          name != "--experiment" && name != "--list" && name != "--json")
        has_others = true;
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (o.siblings != "none")
    o.shape.setup.hypervisor.siblings =
        o.siblings == "together" ? sibling_rule::together : sibling_rule::apart;
  o.shape.quota = o.shape.setup.hypervisor.period * o.quota_percent / 100;
  try {
    run(o, has_others);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return 0;
    std::fputs("sukima-simulated-lab: the output could not be written to standard output\n", stderr);
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "sukima-simulated-lab: %s\n", e.what());
    return 2;
  }
}

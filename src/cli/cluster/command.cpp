// SPDX-License-Identifier: Apache-2.0
// `sukima cluster`: its options, and how a request is carried out.
#include <fmt/format.h>
#include <sukima/capacity.h>
#include <cluster/shared/launch.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>

#include <base/shared/assert.hpp>
#include <base/shared/program.hpp>
#include "hosts.hpp"
#include "join.hpp"
#include "shared/cluster_run.hpp"
#include "shared/commands.hpp"
#include "shared/console.hpp"
#include "shared/most_workers.hpp"
#include "shared/ranges.hpp"
#include "shared/reports.hpp"

namespace sukima::cli::cluster {
namespace {

constexpr const char* footer = R"(Examples:
  sukima cluster run -n 4 -- ./fib 45            four nodes on this machine, which share its CPUs
  sukima cluster run -n 2 -- ./solve < input     each node reads the whole input
  sukima cluster run -n 4 --no-tags -- ./fib 45  lines on stderr without "[NODE] "
  sukima cluster run -n 4 --no-prefix -- ./trace lines that tasks print without "[NODE] "
  sukima cluster run -n 4 --hope -- ./fib 45     goes on as long as one node lives
  sukima cluster run --hosts hosts.txt -- ./fib 45
                                                 nodes on other machines, by ssh
  sukima cluster run --hosts hosts.txt --ssh-tunnel -- ./fib 45
                                                 nodes reach each other by ssh alone
  sukima cluster run --hosts hosts.txt --port 21000-21003 -- ./fib 45
                                                 nodes listen on these ports only
  sukima cluster run -n 4 --room 2 --port 21000-21003 -- ./fib 45
                                                 two more nodes may join while it runs
  sukima cluster join 127.0.0.1:21000 -- ./fib 45
                                                 one more node of that run; with --hope if
                                                 the run has it
  sukima cluster run -n 4 --report -- ./fib 45   messages and tasks at the end, by kind
  sukima cluster run -n 4 --json run.json -- ./fib 45
                                                 also write how each node ended, and what it
                                                 counted; sukima explain run.json reads that
  kill -USR1 PID                                 a node other than 0 finishes its tasks and
                                                 leaves that run; not with --hope

docs/cluster.md: how to write such programs; docs/cluster-running.md: hosts, the launcher and
failures; docs/hope.md: what --hope does.)";

/// The environment variable with the meaning of --port.
constexpr const char* port_variable = "SUKIMA_CLUSTER_PORT";
/// The exit status of nodes that notice the loss of another node.
constexpr int exit_lost = 75;
/// The exit status if nodes printed different output.
constexpr int exit_differs = 70;
constexpr unsigned default_nodes = 2;
constexpr unsigned most_nodes = 256;
constexpr unsigned most_room = 64;
constexpr unsigned longest_grace = 3600;

struct cluster_options {
  std::string action, address, json;
  std::optional<std::string> hosts, ssh, port;
  std::optional<unsigned> nodes;
  std::optional<unsigned> room;
  bool no_tags = false;
  bool no_prefix = false;
  bool ssh_tunnel = false;
  bool hope = false;
  bool report = false;
  std::optional<unsigned> grace;
};

/// Returns the number of usable CPUs, rounded up.
/// \throws process::usage_error SUKIMA_CPUS is not a number of CPUs
unsigned usable_cpus() {
  const std::unique_ptr<sukima_capacity_report, decltype(&sukima_capacity_report_free)> report(
      sukima_capacity_explain(nullptr), sukima_capacity_report_free);
  if (!report) throw std::bad_alloc();
  if (report->error != nullptr) throw process::usage_error(report->error);
  return static_cast<unsigned>(std::ceil(report->facts.usable));
}

/// Divides the CPUs among the nodes: returns the number of workers of one node.
unsigned workers_of(unsigned node, unsigned nodes, unsigned cpus) {
  return std::clamp(cpus / nodes + (node < cpus % nodes ? 1 : 0), 1u, most_workers);
}

cluster_run run_of(const sukima::cluster::launch_request& request,
                   const sukima::cluster::launch_result& result, double seconds) {
  cluster_run run{.seconds = seconds, .hope = request.hope};
  for (std::size_t n = 0; n < result.nodes.size(); ++n) {
    const auto& end = result.nodes[n];
    run.nodes.push_back({.exit_code = end.exit_code,
                         .signal = end.signal,
                         .host = request.places.empty() ? "" : request.places[n].host,
                         .counts = {end.counts.begin(), end.counts.end()}});
  }
  return run;
}

/// Writes how the nodes ended, and their counts, as the options say.
void write_run(const cluster_options& options, const cluster_run& run, reports& written) {
  constexpr const char* what = "how the nodes ended could not be written to";
  if (options.report)
    written.print("sukima: " + text_of(run), "how the nodes ended could not be written to standard error");
  const std::string text = options.json.empty() ? "" : json_of(run).dump(2) + "\n";
  if (options.json == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      written.fail(fmt::format("{} '-': {}", what, std::strerror(errno)));
  } else if (!options.json.empty()) {
    written.write_file(options.json, text, what);
  }
}

std::string sentence_of(const sukima::cluster::output_difference& d) {
  const std::string place = d.from == d.to
                                ? fmt::format("at offset {} of its output", d.from)
                                : fmt::format("between the offsets {} and {} of its output", d.from, d.to);
  return fmt::format("node {} {} {}: with --hope all nodes must print the same", d.node,
                     d.is_shorter ? "ended" : "wrote text that differs from what was printed", place);
}

int end_by_signal(int signal) {
  process::end_by(signal);
  return 128 + signal;
}

/// Ends this process as a program does that cannot write its output.
int end_by_output(const sukima::cluster::launch_result& result) {
  if (result.output_error == EPIPE) return end_by_signal(SIGPIPE);
  complain(fmt::format("cannot write the output: {}", std::strerror(result.output_error)));
  return exit_unwritten;
}

/// The exit status with --hope if the output is right: 0 if any node exited with 0, otherwise the status of
/// the first node that exited. If no node exited, it is the signal that ended all nodes, or `exit_lost`.
int end_of_survivors(const sukima::cluster::launch_result& result) {
  if (result.difference) {
    complain(sentence_of(*result.difference));
    return exit_differs;
  }
  if (result.output_error != 0) return end_by_output(result);
  std::optional<int> code;
  bool is_one_signal = true;
  std::string ends;
  for (std::size_t n = 0; n < result.nodes.size(); ++n) {
    const auto& end = result.nodes[n];
    if (end.signal == 0 && (!code || end.exit_code == 0)) code = end.exit_code;
    is_one_signal &= end.signal == result.nodes.front().signal;
    ends += fmt::format("{}node {} by signal {}", n == 0 ? "" : ", ", n, end.signal);
  }
  if (code) return *code;
  if (is_one_signal) return end_by_signal(result.nodes.front().signal);
  complain(fmt::format("no node ended by itself: {}", ends));
  return exit_lost;
}

/// Explains why the node of a host ended if ssh reported only 255, or only 0 before the program began.
/// \returns whether there is an explanation
bool complain_of_hosts(const sukima::cluster::launch_request& request,
                       const sukima::cluster::launch_result& result) {
  constexpr int unreachable = 255;
  SUKIMA_ASSERT(request.places.empty() || request.places.size() == result.nodes.size(),
                "either each node has a host, or all run here");
  bool is_any = false;
  for (std::size_t n = 0; n < request.places.size(); ++n) {
    const auto& end = result.nodes[n];
    if (end.exit_code != unreachable) continue;
    is_any = true;
    if (end.starts_nothing) {
      complain(fmt::format(
          "node {} (host {}): {} ended with status 0, but did not begin the program: it must run its last "
          "argument as a command on that host",
          n, request.places[n].host, request.remote_shell.front()));
      continue;
    }
    complain(fmt::format("node {} (host {}): {} ended with status {}: {}", n, request.places[n].host,
                         request.remote_shell.front(), unreachable,
                         end.has_begun ? "the connection was lost, or the program ended with that status"
                                       : "the host was not reached, so the program did not begin there"));
  }
  return is_any;
}

/// \throws process::usage_error the range has too few ports for the nodes of one host
sukima::cluster::port_range ports_of(const std::string& text,
                                     const sukima::cluster::launch_request& request) {
  const auto ports = sukima::cluster::read_ports(text);
  const char* const variable = std::getenv(port_variable);
  const char* const given = variable != nullptr && text == variable ? port_variable : "--port";
  if (!ports)
    throw process::usage_error(fmt::format(
        "{}: '{}' is neither a port nor a range: give a number from 1 to 65535, or FIRST-LAST", given, text));
  unsigned most = request.places.empty() ? request.nodes : 0;
  std::string host = "this machine";
  for (const auto& place : request.places) {
    if (place.of_host <= most) continue;
    most = place.of_host;
    host = place.host;
  }
  if (request.tunnel && ports->size() < 2 * request.places.size())
    throw process::usage_error(
        fmt::format("{} {}: --ssh-tunnel needs two ports for each node: give FIRST-LAST with {} of them",
                    given, text, 2 * request.places.size()));
  if (ports->size() < most)
    throw process::usage_error(fmt::format("{} {}: {} has {} nodes, which need a port each: give FIRST-LAST",
                                           given, text, host, most));
  return *ports;
}

/// \throws process::usage_error joining nodes could not find the run, or could not prove that they belong to
/// it
unsigned room_of(const cluster_options& options) {
  if (!options.room) return 0;
  const char* const token = std::getenv("SUKIMA_CLUSTER_TOKEN");
  if (options.ssh_tunnel)
    throw process::usage_error("--room has no tunnels for nodes that join: leave --ssh-tunnel out");
  if (token == nullptr || *token == 0)
    throw process::usage_error(
        "--room needs SUKIMA_CLUSTER_TOKEN, a secret that nodes that join know, too: set it to 32 random "
        "hexadecimal digits, such as those of `openssl rand -hex 16`");
  return *options.room;
}

/// \throws process::usage_error an option is for `run` only
join_request join_request_of(const cluster_options& options, const program_arguments& program) {
  if (options.address.empty())
    throw process::usage_error(
        "no address was given: sukima cluster join HOST:PORT -- PROGRAM ARGUMENT..., with that of node 0");
  if (!program || program->empty())
    throw process::usage_error(
        "no program was given: sukima cluster join HOST:PORT -- PROGRAM ARGUMENT..., as for the other nodes");
  if (options.nodes || options.room || options.hosts || options.ssh || options.ssh_tunnel || options.grace ||
      options.no_tags || options.no_prefix || options.report || !options.json.empty())
    throw process::usage_error("join takes --hope and --port only: the other options are for run");
  return {.address = options.address, .hope = options.hope, .port = options.port, .program = *program};
}

sukima::cluster::launch_request request_of(const cluster_options& options, const program_arguments& program) {
  if (!program || program->empty())
    throw process::usage_error("no program was given: sukima cluster run -n 2 -- PROGRAM ARGUMENT...");
  if (!options.address.empty())
    throw process::usage_error(
        fmt::format("'{}' is one argument too many: write the program after --", options.address));
  if (options.ssh && !options.hosts) throw process::usage_error("--ssh needs --hosts");
  if (options.ssh_tunnel && !options.hosts) throw process::usage_error("--ssh-tunnel needs --hosts");
  if (options.nodes && options.hosts)
    throw process::usage_error(
        "--hosts names all nodes: leave --nodes out, and write their numbers into the file");
  sukima::cluster::launch_request request;
  request.program = *program;
  request.hope = options.hope;
  request.room = room_of(options);
  if (options.grace) request.grace = std::chrono::seconds(*options.grace);
  request.tags = !options.no_tags;
  request.prefixes = !options.no_prefix;
  request.notify = complain;
  if (options.hosts) {
    request.places = read_hosts_file(*options.hosts);
    if (options.ssh) request.remote_shell = split_command("--ssh", *options.ssh);
    request.tunnel = options.ssh_tunnel;
    if (options.port) request.ports = ports_of(*options.port, request);
    return request;
  }
  request.nodes = options.nodes.value_or(default_nodes);
  if (options.port) request.ports = ports_of(*options.port, request);
  if (std::getenv("SUKIMA_WORKERS") == nullptr)
    request.variables = [nodes = request.nodes, cpus = usable_cpus()](unsigned node) {
      return std::vector<std::string>{fmt::format("SUKIMA_WORKERS={}", workers_of(node, nodes, cpus))};
    };
  return request;
}

/// The exit status of this command. If it is a signal, the function does not return: the signal ends this
/// process.
int end_of(const cluster_options& options, const sukima::cluster::launch_request& request,
           const sukima::cluster::launch_result& result) {
  // The nodes ended because they could not write their output.
  if (!options.hope && result.output_error != 0) return end_by_output(result);
  const bool blames_hosts = complain_of_hosts(request, result);
  if (!result.sentence.empty() && !blames_hosts) complain(result.sentence);
  if (result.signal != 0) return end_by_signal(result.signal);
  if (result.status) return *result.status;
  if (options.hope) return end_of_survivors(result);
  const auto& first = result.nodes.front();
  return first.signal != 0 ? end_by_signal(first.signal) : first.exit_code;
}

int run(const cluster_options& options, const program_arguments& program) {
  if (options.action == "join") join(join_request_of(options, program));
  const sukima::cluster::launch_request request = request_of(options, program);
  if (options.json != "-") expect_writable(options.json, "cannot write", "--json");
  const std::string& started =
      request.places.empty() ? request.program.front() : request.remote_shell.front();
  const auto begun = std::chrono::steady_clock::now();
  sukima::cluster::launch_result result;
  try {
    result = sukima::cluster::launch(request);
  } catch (const sukima::cluster::launch_error& error) {
    throw process::usage_error(error.what());
  } catch (const std::system_error& error) {
    if (error.code().category() == std::generic_category() && std::string(error.what()).starts_with(started))
      throw process::start_error(started, error.code().value());
    throw;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  const cluster_run whole = run_of(request, result, took.count());
  reports written;
  write_run(options, whole, written);
  return written.code_after(end_of(options, request, result));
}

}  // namespace

void declare(CLI::App& command, int& code, program_arguments program) {
  auto options = std::make_shared<cluster_options>();
  command.footer(footer);
  command.add_option("ACTION", options->action, "What to do: run, or join a run")
      ->required()
      ->check(one_of({"run", "join"}));
  command.add_option("ADDRESS", options->address, "With join: HOST:PORT where node 0 of the run listens");
  command.add_option("-n,--nodes", options->nodes, "How many nodes (default: 2)")
      ->type_name("NODES")
      ->transform(number_range(1u, most_nodes));
  command
      .add_option("--hosts", options->hosts,
                  "Start the nodes on the hosts that this file names, in lines HOST [NODES] [ADDRESS]")
      ->type_name("FILE");
  command
      .add_option(
          "--ssh", options->ssh,
          "With --hosts: the command that reaches a host; the host and the remote command are its last "
          "arguments (default: ssh)")
      ->type_name("COMMAND");
  command.add_flag(
      "--ssh-tunnel", options->ssh_tunnel,
      "With --hosts: nodes reach each other through ssh and this machine alone, so all is encrypted "
      "and no other port need be open");
  command
      .add_option("--port", options->port,
                  "The port, or the ports FIRST-LAST, where nodes listen; node 0 takes the first one")
      ->type_name("PORTS")
      ->envname(port_variable);
  command
      .add_option("--room", options->room,
                  "How many more nodes may join while the program runs; needs SUKIMA_CLUSTER_TOKEN")
      ->type_name("NODES")
      ->transform(number_range(1u, most_room));
  command.add_flag("--hope", options->hope,
                   "Each node runs the whole program and omits what others have computed, so the program "
                   "continues as long as one node lives");
  command
      .add_option(
          "--grace", options->grace,
          "How long the other nodes may continue after node 0 has ended, or node 0 after another node has "
          "failed (default: no limit); with --hope: after one node has ended well (default: 5)")
      ->type_name("SECONDS")
      ->transform(number_range(0u, longest_grace));
  command.add_flag("--no-tags", options->no_tags, "Do not begin lines on stderr with their node");
  command.add_flag("--no-prefix", options->no_prefix,
                   "Do not begin lines that tasks of other nodes than 0 print with their node");
  command.add_flag("--report", options->report,
                   "Print at the end how the nodes ended, and the messages and tasks that they counted");
  command
      .add_option("--json", options->json,
                  "Write how each node ended, and what it counted, to this file, as one JSON object; - is "
                  "standard output")
      ->type_name("FILE");
  command.callback([options, &code, program = std::move(program)] { code = run(*options, program); });
}

}  // namespace sukima::cli::cluster

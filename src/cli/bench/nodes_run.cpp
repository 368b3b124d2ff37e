// SPDX-License-Identifier: Apache-2.0
// Nodes and their groups; see nodes_run.hpp.
#include "nodes_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

#include <process/shared/errors.hpp>
#include <process/shared/executable.hpp>

extern char** environ;

namespace sukima::cli::bench {
namespace {

/// A node enters its group by itself, because only its starter's environment tells its number.
constexpr const char* entering =
    R"(node=${SUKIMA_CLUSTER_NODE:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}}
echo 0 > "$0/node-$node/cgroup.procs" && exec "$@")";

struct node_report {
  double seconds = 0;
  double tasks = 0;  ///< given
  double cpu_seconds = 0;
};

/// "0.512000 s, 9 tasks given, 7 received; node 1: 0.498000 s of CPU", perhaps after a node's tag.
std::optional<std::pair<int, node_report>> read_report(const std::string& line) {
  std::istringstream in(line);
  node_report report;
  int node = 0;
  char colon = 0;
  std::string s, tasks, given, received, word, of, cpu;
  std::uint64_t taken = 0;
  in >> report.seconds >> s >> report.tasks >> tasks >> given >> taken >> received >> word >> node >> colon >>
      report.cpu_seconds >> s >> of >> cpu;
  if (!in || given != "given," || word != "node" || colon != ':' || cpu != "CPU") return std::nullopt;
  return std::pair(node, report);
}

/// Variables of the user by which Open MPI is set up.
std::vector<std::pair<std::string, std::string>> mpi_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view variable(*v);
    const std::size_t equals = variable.find('=');
    if (variable.starts_with("OMPI_") && equals != std::string_view::npos)
      found.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return found;
}

}  // namespace

const std::vector<std::string>& node_transports() {
  static const std::vector<std::string> all{"tcp", "openmpi", "mpich"};
  return all;
}

outcome parse_node_output(const child_result& result, int nodes) {
  measurement read;
  std::istringstream output(result.output);
  for (std::string line; std::getline(output, line);) {  // an MPI gives that of all nodes
    if (!read.result.empty() && line != read.result)
      return run_failure{
          fmt::format("has the result '{}' on one node and '{}' on another", read.result, line)};
    read.result = line;
  }
  if (read.result.empty()) return run_failure{"printed no result"};
  std::map<int, node_report> reports;
  std::istringstream errors(result.errors);
  for (std::string line; std::getline(errors, line);)
    if (const auto report = read_report(line)) reports.insert(*report);
  const int expected = std::max(nodes, 1);
  if (static_cast<int>(reports.size()) != expected || reports.rbegin()->first != expected - 1)
    return run_failure{fmt::format("{} of {} nodes told their time", reports.size(), expected)};
  read.seconds = reports.at(0).seconds;
  for (const auto& [node, report] : reports) {
    read.cpu_seconds += report.cpu_seconds;
    read.more["tasks"] += report.tasks;
  }
  if (nodes < 2 || !(read.cpu_seconds > 0)) return read;
  double least = 1;
  for (const auto& [node, report] : reports) {
    const double share = report.cpu_seconds / read.cpu_seconds;
    read.more[fmt::format("share_{}", node)] = share;
    least = std::min(least, share);
  }
  read.more["share_least"] = least;
  return read;
}

node_stage::node_stage(std::string transport, std::optional<double> quota)
    : transport_(std::move(transport)), quota_(quota) {
  if (transport_ == "tcp") {
    starter_ = std::filesystem::read_symlink("/proc/self/exe").string();
  } else {
    const std::string mpirun = "mpirun." + transport_;
    const auto found = find_program(mpirun, std::getenv("PATH"));
    if (!found)
      throw usage_error(fmt::format("--transport {} needs {}, which is not installed: take another one",
                                    transport_, mpirun));
    starter_ = found->string();
  }
  if (!quota_) return;
  home_ = make_group_home();
  if (!home_.obstacle.empty()) throw usage_error(fmt::format("--quota: {}; leave it out", home_.obstacle));
}

std::vector<std::string> node_stage::starting_words(int nodes) const {
  const std::string count = std::to_string(nodes);
  if (transport_ == "tcp") return {starter_, "cluster", "run", "-n", count, "--no-tags", "--"};
  std::vector<std::string> words{starter_, "-n", count};
  if (transport_ == "openmpi") words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  return words;
}

outcome node_stage::run(const task& what, std::chrono::nanoseconds limit) const {
  child_request request;
  request.limit = limit;
  request.environment = mpi_variables();
  request.environment.emplace_back("SUKIMA_WORKERS", std::to_string(what.workers));
  std::vector<std::unique_ptr<cpu_group>> groups;
  if (what.nodes != 0) {
    request.arguments = starting_words(what.nodes);
    for (int node = 0; quota_ && node < what.nodes; ++node) {
      groups.push_back(std::make_unique<cpu_group>(home_.group->directory(), fmt::format("node-{}", node),
                                                   home_.group->version()));
      groups.back()->set_quota(*quota_);
    }
    if (quota_)
      request.arguments.insert(request.arguments.end(),
                               {"/bin/sh", "-c", entering, home_.group->directory().string()});
  }
  request.arguments.insert(request.arguments.end(), {what.program.string(), what.benchmark});
  if (what.size) request.arguments.push_back(std::to_string(*what.size));
  const child_result result = run_child(request);
  if (auto failure = failure_of(result, limit)) return *std::move(failure);
  return parse_node_output(result, what.nodes);
}

}  // namespace sukima::cli::bench

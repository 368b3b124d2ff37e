// SPDX-License-Identifier: Apache-2.0
// Nodes and their groups; see nodes_run.hpp.
#include "nodes_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include <base/shared/errors.hpp>
#include <base/shared/executable.hpp>
#include <base/shared/installed.hpp>
#include <base/shared/interruption.hpp>
#include <base/shared/temporary_directory.hpp>
#include "bench/node_output.hpp"

extern char** environ;

namespace sukima::cli::bench {
namespace {

/// A node enters its group by itself, because its number is only in the environment that its starter makes.
constexpr const char* entering =
    R"(node=${SUKIMA_CLUSTER_NODE:-${OMPI_COMM_WORLD_RANK:-$PMI_RANK}}
echo 0 > "$0/node-$node/cgroup.procs" && exec "$@")";

using clock = std::chrono::steady_clock;

/// The launcher waits for the nodes up to the limit of the run.
constexpr const char* longest_grace = "3600";

struct node_end {
  int node;
  int exit_code;
  int signal;  ///< that ended it, or 0
};

/// The ends of the nodes, from the launcher's file.
std::vector<node_end> ends_in(const std::string& file) {
  std::ifstream stream(file);
  const auto written = nlohmann::json::parse(stream);
  std::vector<node_end> ends;
  for (const auto& one : written.at("nodes"))
    ends.push_back({one.at("node"), one.at("exit_code"), one.at("signal")});
  return ends;
}

/// The user's variables that configure Open MPI, and the variable with the folder of our plug-ins for MPI.
std::vector<std::pair<std::string, std::string>> mpi_variables() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** v = environ; *v != nullptr; ++v) {
    const std::string_view variable(*v);
    const std::size_t equals = variable.find('=');
    const bool is_wanted = variable.starts_with("OMPI_") || variable.starts_with("SUKIMA_CLUSTER_PLUGINS=");
    if (is_wanted && equals != std::string_view::npos)
      found.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  return found;
}

}  // namespace

const std::vector<std::string>& node_transports() {
  static const std::vector<std::string> all{"tcp", "openmpi", "mpich"};
  return all;
}

node_stage::node_stage(std::string transport, std::optional<double> quota)
    : transport_(std::move(transport)), quota_(quota) {
  if (transport_ == "tcp") {
    starter_ = (process::program_directory() / "sukima").string();
  } else {
    const std::string mpirun = "mpirun." + transport_;
    const auto found = process::find_program(mpirun, std::getenv("PATH"));
    if (!found)
      throw process::usage_error(fmt::format(
          "--transport {} needs {}, which is not installed: take another one", transport_, mpirun));
    starter_ = found->string();
  }
  if (!quota_) return;
  home_ = lab::make_group_home();
  if (!home_.obstacle.empty())
    throw process::usage_error(fmt::format("--quota: {}; leave it out", home_.obstacle));
}

std::vector<std::string> node_stage::starting_words(int nodes) const {
  const std::string count = std::to_string(nodes);
  if (transport_ == "tcp") return {starter_, "cluster", "run", "-n", count, "--no-tags", "--"};
  std::vector<std::string> words{starter_, "-n", count};
  if (transport_ == "openmpi") words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  return words;
}

node_stage::node_groups node_stage::make_groups(int nodes) const {
  node_groups groups;
  for (int node = 0; quota_ && node < nodes; ++node) {
    groups.push_back(std::make_unique<lab::cpu_group>(home_.group->directory(), fmt::format("node-{}", node),
                                                      home_.group->version()));
    groups.back()->set_quota(*quota_);
  }
  return groups;
}

process::child_request node_stage::request_for(const task& task, std::chrono::nanoseconds limit,
                                               std::vector<std::string> starter) const {
  process::child_request request;
  request.limit = limit;
  request.environment = mpi_variables();
  request.environment.emplace_back("SUKIMA_WORKERS", std::to_string(task.workers));
  request.arguments = std::move(starter);
  if (task.nodes != 0 && quota_)
    request.arguments.insert(request.arguments.end(),
                             {"/bin/sh", "-c", entering, home_.group->directory().string()});
  request.arguments.insert(request.arguments.end(), {task.program.string(), task.benchmark});
  if (task.size) request.arguments.push_back(std::to_string(*task.size));
  return request;
}

outcome node_stage::run(const task& task, std::chrono::nanoseconds limit) const {
  const node_groups groups = make_groups(task.nodes);
  const process::child_result result = process::run_child(
      request_for(task, limit, task.nodes == 0 ? std::vector<std::string>{} : starting_words(task.nodes)));
  if (auto failure = failure_of(result, limit)) return *std::move(failure);
  return parse_node_output(result, task.nodes);
}

std::optional<outcome> node_stage::run_hope(const task& task, std::chrono::nanoseconds limit,
                                            const std::vector<planned_death>& plan) const {
  const process::temporary_directory folder("bench");
  const process::removed_on_signal cleanup(folder.path(), process::directory_contents::files);
  const std::string ends = folder.path() + "/ends.json";
  const node_groups groups = make_groups(task.nodes);
  process::child_request request =
      request_for(task, limit,
                  {starter_, "cluster", "run", "--hope", "-n", std::to_string(task.nodes), "--no-tags",
                   "--grace", longest_grace, "--json", ends, "--"});
  node_killer killer(task.nodes, plan);
  request.notice_at = clock::now();
  request.notice = [&killer](pid_t launcher) { return killer.step(launcher); };
  const process::child_result result = process::run_child(request);
  if (auto failure = failure_of(result, limit)) return *std::move(failure);
  int killed = 0;
  for (const node_end& end : ends_in(ends)) {
    const bool was_to_die = std::ranges::count(plan, end.node, &planned_death::node) != 0;
    if (was_to_die && end.signal == SIGKILL) {
      ++killed;
    } else if (end.signal != 0) {
      return run_failure{
          fmt::format("lost node {} by signal {} ({})", end.node, end.signal, strsignal(end.signal))};
    } else if (end.exit_code != 0) {
      return run_failure{fmt::format("had exit code {} on node {}", end.exit_code, end.node)};
    }
  }
  const auto is_over = [&](const planned_death& p) { return has_reported_time(result, p.node); };
  if (killed != static_cast<int>(plan.size()) || std::ranges::any_of(plan, is_over)) return std::nullopt;
  return parse_hope_output(result, task.nodes, killer.deaths());
}

}  // namespace sukima::cli::bench

// SPDX-License-Identifier: Apache-2.0
// Finds nodes and kills them; see node_killer.hpp.
#include "node_killer.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <utility>

namespace sukima::cli::bench {
namespace {

constexpr std::chrono::milliseconds between_looks{1};

/// The number of the node in a process's environment; nothing if the process is not a node, or not yet.
std::optional<int> node_of(pid_t process) {
  std::ifstream variables(fmt::format("/proc/{}/environ", process));
  const std::string wanted = "SUKIMA_CLUSTER_NODE=";
  for (std::string variable; std::getline(variables, variable, '\0');)
    if (variable.starts_with(wanted)) return std::atoi(variable.c_str() + wanted.size());
  return std::nullopt;
}

/// The CPU time of all threads of a process; 0 if it has ended.
double cpu_seconds_of(pid_t process) {
  clockid_t its_clock{};
  timespec used{};
  if (clock_getcpuclockid(process, &its_clock) != 0 || clock_gettime(its_clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

// glibc 2.36 declares these functions without C linkage, so C++ cannot call them by name.
node_killer::process::process(pid_t number)
    : number_(number), handle_(static_cast<int>(syscall(SYS_pidfd_open, number, 0))) {}
bool node_killer::process::kill() const noexcept {
  return handle_ && syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0) == 0;
}

node_killer::node_killer(int nodes, std::vector<planned_death> plan)
    : nodes_(static_cast<std::size_t>(nodes)), plan_(std::move(plan)) {
  std::ranges::sort(plan_, std::greater{}, &planned_death::seconds);
}

void node_killer::find_nodes(pid_t launcher) {
  const std::string list = fmt::format("/proc/{0}/task/{0}/children", launcher);
  std::ifstream children(list);
  if (!children) throw std::system_error(ENOENT, std::generic_category(), list);
  for (pid_t child = 0; children >> child;) {
    process held(child);  // before it is looked at: what is killed is what was seen
    if (const auto node = node_of(child)) found_.emplace(*node, std::move(held));
  }
  if (found_.size() >= nodes_) begin_ = clock::now();
}

std::optional<node_killer::clock::time_point> node_killer::step(pid_t launcher) {
  if (!begin_) find_nodes(launcher);
  if (!begin_) return clock::now() + between_looks;
  const auto moment_of = [&](const planned_death& p) {
    return *begin_ + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(p.seconds));
  };
  while (!plan_.empty() && moment_of(plan_.back()) <= clock::now()) {
    const process& doomed = found_.at(plan_.back().node);
    const double used = cpu_seconds_of(doomed.number());
    if (doomed.kill()) {
      const std::chrono::duration<double> passed = clock::now() - *begin_;
      deaths_.push_back({plan_.back().node, passed.count(), used});
    }
    plan_.pop_back();
  }
  if (plan_.empty()) return std::nullopt;
  return moment_of(plan_.back());
}

}  // namespace sukima::cli::bench

// SPDX-License-Identifier: Apache-2.0
// The bare machine, some of its CPUs, and control groups; see environment.hpp.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <list>
#include <system_error>

#include <process/shared/child.hpp>
#include <process/shared/control_group.hpp>
#include "shared/environment.hpp"

namespace sukima::lab {
namespace {

std::vector<copy_end> ends_of(const std::vector<process::child_result>& results,
                              std::chrono::nanoseconds limit) {
  std::vector<copy_end> ends;
  for (const process::child_result& one : results) {
    copy_end end{one.seconds, one.output, {}, one.timed_out};
    // Of one that was stopped with its children, the kernel does not say what these have used.
    if (one.seconds > 0 && !one.timed_out) end.use = one.cpu_seconds / one.seconds;
    if (!one.timed_out) end.failure = process::describe_failure(one, limit);
    if (!end.failure.empty() && !one.errors.empty()) end.failure += ": " + one.errors.substr(0, 500);
    ends.push_back(std::move(end));
  }
  return ends;
}

/// CPUs as taskset(1) wants them.
std::string list_of(const cpu_set_t& cpus) {
  std::string list;
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &cpus)) list += fmt::format("{}{}", list.empty() ? "" : ",", cpu);
  return list;
}

class machine_stage : public stage {
 public:
  explicit machine_stage(unsigned cpus) : cpus_(cpus) {}

  std::vector<copy_end> run(const job& what, std::chrono::nanoseconds limit) override {
    process::child_request request;
    if (cpus_ > 0) request.arguments = {"/usr/bin/taskset", "-c", list_of(first_cpus(cpus_))};
    request.arguments.insert(request.arguments.end(), what.arguments.begin(), what.arguments.end());
    request.environment = what.variables;
    request.limit = limit;
    request.keep_end = true;  // its result is in its last lines
    return ends_of(process::run_children(request, 1), limit);
  }

 private:
  unsigned cpus_;  ///< 0: all
};

class group_stage : public stage {
 public:
  group_stage(const environment& where, unsigned cpus) {
    std::string last =
        "the CPU controller of control groups is not there, or not handed down to this process";
    for (const process::group_parent& parent : process::find_group_parents()) {
      try {
        make_groups(parent, where, cpus);
        return;
      } catch (const std::system_error& error) {
        last = fmt::format("no control group can be made: {}", error.what());
        remove_groups();
      }
    }
    throw obstacle(last);
  }
  ~group_stage() override { remove_groups(); }

  std::vector<copy_end> run(const job& what, std::chrono::nanoseconds limit) override {
    std::vector<process::child_request> requests;
    for (auto group = std::next(groups_.begin()); group != groups_.end(); ++group) {
      process::child_request request;
      request.arguments = what.arguments;
      request.environment = what.variables;
      request.limit = limit;
      request.cpu_group = group->processes().string();
      request.keep_end = true;  // as above
      requests.push_back(std::move(request));
    }
    return ends_of(process::run_children(requests), limit);
  }

 private:
  /// Those below before the one above.
  void remove_groups() {
    while (!groups_.empty()) groups_.pop_back();
  }
  void make_groups(const process::group_parent& parent, const environment& where, unsigned cpus) {
    process::remove_leftover_groups(parent);
    process::cpu_group& top =
        groups_.emplace_back(parent.directory, process::group_name(getpid()), parent.version);
    top.allow_groups_below();
    for (unsigned i = 0; i < where.copies; ++i) {
      process::cpu_group& one =
          groups_.emplace_back(top.directory(), fmt::format("copy{}", i), parent.version);
      if (where.kind == environment_kind::cap)
        one.set_quota(where.part * static_cast<double>(cpus), std::chrono::milliseconds(where.period_ms));
      if (!where.weights.empty()) one.set_weight(where.weights[i]);
    }
  }

  std::list<process::cpu_group> groups_;
};

}  // namespace

cpu_set_t first_cpus(unsigned count) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
    throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &cpus)) continue;
    if (count == 0) CPU_CLR(cpu, &cpus);
    if (count > 0) --count;
  }
  return cpus;
}

std::unique_ptr<stage> make_machine_stage(unsigned cpus) {
  if (cpus > 0 && access("/usr/bin/taskset", X_OK) != 0)
    throw obstacle("there is no taskset here: apt-get install util-linux");
  return std::make_unique<machine_stage>(cpus);
}

std::unique_ptr<stage> make_group_stage(const environment& where, unsigned cpus) {
  return std::make_unique<group_stage>(where, cpus);
}

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// The bare machine, some of its CPUs, and control groups; see environment.hpp.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <list>
#include <system_error>

#include <base/shared/child.hpp>
#include "shared/cpu_group.hpp"
#include "shared/cpus.hpp"
#include "shared/environment.hpp"
#include "shared/group_home.hpp"

namespace sukima::lab {
namespace {

std::vector<copy_end> ends_of(const std::vector<process::child_result>& results,
                              std::chrono::nanoseconds limit) {
  std::vector<copy_end> ends;
  for (const process::child_result& one : results) {
    copy_end end{one.seconds, one.output, {}, one.timed_out};
    // The kernel does not report the CPU time of the children of a stopped copy.
    if (one.seconds > 0 && !one.timed_out) end.use = one.cpu_seconds / one.seconds;
    if (!one.timed_out) end.failure = process::describe_failure(one, limit);
    if (!end.failure.empty() && !one.errors.empty()) end.failure += ": " + one.errors.substr(0, 500);
    ends.push_back(std::move(end));
  }
  return ends;
}

class machine_stage : public stage {
 public:
  explicit machine_stage(unsigned cpus) : cpus_(cpus) {}

  std::vector<copy_end> run(const job& job, std::chrono::nanoseconds limit) override {
    process::child_request request;
    if (cpus_ > 0)
      request.arguments = {"/usr/bin/taskset", "-c", fmt::format("{}", fmt::join(first_cpus(cpus_), ","))};
    request.arguments.insert(request.arguments.end(), job.arguments.begin(), job.arguments.end());
    request.environment = job.variables;
    request.limit = limit;
    request.keep_end = true;  // its result is in its last lines
    return ends_of(process::run_children(request, 1), limit);
  }

 private:
  unsigned cpus_;  ///< 0: all
};

class group_stage : public stage {
 public:
  group_stage(const environment& where, unsigned cpus) : home_(make_group_home()) {
    if (!home_.obstacle.empty()) throw obstacle(home_.obstacle);
    try {
      for (unsigned i = 0; i < where.copies; ++i) make_group(where, i, cpus);
    } catch (const std::system_error& error) {
      throw obstacle(fmt::format("no control group can be made: {}", error.what()));
    }
  }

  std::vector<copy_end> run(const job& job, std::chrono::nanoseconds limit) override {
    std::vector<process::child_request> requests;
    for (const cpu_group& group : groups_) {
      process::child_request request;
      request.arguments = job.arguments;
      request.environment = job.variables;
      request.limit = limit;
      request.cpu_group = group.processes().string();
      request.keep_end = true;  // as above
      requests.push_back(std::move(request));
    }
    return ends_of(process::run_children(requests), limit);
  }

 private:
  void make_group(const environment& where, unsigned copy, unsigned cpus) {
    cpu_group& one =
        groups_.emplace_back(home_.group->directory(), fmt::format("copy{}", copy), home_.group->version());
    if (where.kind == environment_kind::cap)
      one.set_quota(where.part * static_cast<double>(cpus), std::chrono::milliseconds(where.period_ms));
    if (!where.weights.empty()) one.set_weight(where.weights[copy]);
  }

  group_home home_;
  std::list<cpu_group> groups_;  ///< after the group above them: removed before it
};

}  // namespace

std::unique_ptr<stage> make_machine_stage(unsigned cpus) {
  if (cpus > 0 && access("/usr/bin/taskset", X_OK) != 0)
    throw obstacle("there is no taskset here: apt-get install util-linux");
  return std::make_unique<machine_stage>(cpus);
}

std::unique_ptr<stage> make_group_stage(const environment& where, unsigned cpus) {
  return std::make_unique<group_stage>(where, cpus);
}

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// Reads containers through their control groups. A container has no virtual CPUs. It is represented by a
// machine with as many virtual CPUs as it can use at the same time, which share its weight, its quota and the
// CPU time that it used.
#include <capacity/shared/schedstat.h>
#include <base/shared/clock.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include "shared/source.hpp"
#include "source/files.hpp"
#include "source/group_tree.hpp"

namespace sukima::host {
namespace {

/// How deep groups are searched for containers, and how many groups at most.
constexpr int most_depth_of_containers = 6;
constexpr std::size_t most_groups = 20000;
/// The most threads of a container whose waiting is read.
constexpr std::size_t most_threads = 4096;

struct counted_time {
  double ran = 0, waited = 0;
};

/// The time that the threads of a group have waited, summed as threads come and go.
struct thread_waits {
  std::map<long, double> seen;
  double sum = 0;
  bool begun = false;
};

/// The time that each virtual CPU of a container has run and waited. The counters belong to the group. The
/// number of virtual CPUs that share them changes with the group's quota and CPU set.
struct shared_counters {
  double usage = 0, wait = 0;  ///< the group's counters at the last reading
  std::vector<counted_time> each;

  void count(double used, double waited, std::size_t sharing) {
    if (used < usage || waited < wait) *this = {};  // another group has got the same name
    each.resize(std::max(each.size(), sharing));
    for (std::size_t i = 0; i < sharing; ++i) {
      each[i].ran += (used - usage) / static_cast<double>(sharing);
      each[i].waited += (waited - wait) / static_cast<double>(sharing);
    }
    usage = used;
    wait = waited;
  }
};

class control_group_source final : public source {
 public:
  explicit control_group_source(const control_group_options& options)
      : options_(options), tree_(options.root) {
    if (!tree_.there())
      throw source_error(
          "containers cannot be read: no hierarchy of control groups with the controller cpu is mounted "
          "here");
  }

  snapshot read(deadline end) override {
    snapshot result = read_machine(options_.root);
    find_groups(result);
    std::map<std::string, observed_vm> seen;
    for (const auto& [group, name] : groups_) {
      const auto before = seen_.find(group);
      if (std::chrono::steady_clock::now() < end) {
        auto one = observe(group, name, result, result.notes);
        if (one) seen.emplace(group, std::move(*one));
      } else if (before != seen_.end()) {
        before->second.stale = true;
        seen.insert(std::move(*before));
      } else {
        result.notes.push_back("the control group " + group + " could not be read before the deadline");
      }
    }
    seen_ = std::move(seen);
    std::erase_if(waits_, [&](const auto& one) { return !seen_.contains(one.first); });
    std::erase_if(counters_, [&](const auto& one) { return !seen_.contains(one.first); });
    note_shared_quotas(result.notes);
    for (const auto& [group, one] : seen_) result.vms.push_back(one);
    return result;
  }

  capabilities can() const override { return {"control groups", true, true, true, true, true}; }

 private:
  void find_groups(snapshot& result) {
    groups_.clear();
    for (const std::string& pattern : options_.paths) {
      const auto found = tree_.match(pattern);
      if (found.empty()) result.notes.push_back("there is no control group " + pattern);
      for (const std::string& group : found) groups_[group] = container_name(group).value_or(group);
    }
    std::size_t visited = 0;
    if (options_.find) search("", most_depth_of_containers, visited);
    if (visited > most_groups)
      result.notes.push_back(
          "there are more than 20,000 control groups; name those of interest with --cgroup");
  }

  void search(const std::string& group, int depth, std::size_t& visited) {
    for (const std::string& name : tree_.below(group.empty() ? "/" : group)) {
      if (++visited > most_groups) return;
      const std::string path = group + "/" + name;
      if (const auto container = container_name(path))
        groups_[path] = *container;
      else if (depth > 0)
        search(path, depth - 1, visited);
    }
  }

  /// Adds notes about quotas that several containers share: each container is shown with the whole quota.
  void note_shared_quotas(std::vector<std::string>& notes) const {
    std::map<std::string, std::size_t> below;
    for (const auto& [group, one] : seen_)
      if (const auto owner = tree_.quota_owner(group); !owner.empty() && owner != group) ++below[owner];
    for (const auto& [owner, count] : below)
      if (count > 1)
        notes.push_back("the quota of the control group " + owner + " is shared by " + std::to_string(count) +
                        " containers; each of them is shown with the whole quota");
  }

  /// The time that the group's threads have waited since the group was first seen, in seconds. If a thread
  /// ends between two readings, its waiting since the earlier one is lost.
  double waited(const std::string& group) {
    thread_waits& all = waits_[group];
    std::map<long, double> now;
    for (const long thread : tree_.threads(group, most_threads)) {
      const auto text = read_text(options_.root + "/proc/" + std::to_string(thread) + "/schedstat");
      cap_schedstat counted;
      if (!text || !cap_schedstat_parse(text->data(), text->size(), &counted)) continue;
      const double wait = static_cast<double>(counted.wait_ns) * 1e-9;
      const auto before = all.seen.find(thread);
      if (before != all.seen.end())
        all.sum += std::max(wait - before->second, 0.0);
      else if (all.begun)
        all.sum += wait;
      now[thread] = wait;
    }
    all.seen = std::move(now);
    all.begun = true;
    return all.sum;
  }

  /// \returns nothing if the group does not exist any more
  std::optional<observed_vm> observe(const std::string& group, const std::string& name,
                                     const snapshot& machine, std::vector<std::string>& notes) {
    const auto facts = tree_.facts(group);
    if (!facts) return std::nullopt;
    if (!facts->usage) {
      notes.push_back("the control group " + group +
                      " is not read: the controller cpuacct does not count it");
      return std::nullopt;
    }
    observed_vm result;
    result.read_at = steady_seconds();
    result.source = "control groups";
    result.now.name = name;
    result.now.id = group;
    result.now.weight = facts->weight.value_or(1) * default_weight;
    result.now.weight_of = weight_owner::vm;
    result.now.cap = facts->quota;
    result.throttled = facts->throttled;
    if (tree_.frozen(group)) result.state = vm_state::paused;
    std::vector<std::uint32_t> may;
    for (const pcpu& one : machine.pcpus)
      if (facts->cpus.empty() || std::ranges::binary_search(facts->cpus, one.id)) may.push_back(one.id);
    std::size_t count = may.empty() ? machine.pcpus.size() : may.size();
    if (facts->quota)
      count = std::min(count, static_cast<std::size_t>(std::max(std::ceil(*facts->quota), 1.0)));
    // Version 2 counts the time in which at least one thread waited. That is less than the sum over the
    // threads, but it is zero exactly if no thread waited, and that is what matters.
    const double wait = facts->some_waited ? *facts->some_waited : waited(group);
    shared_counters& counters = counters_[group];
    counters.count(*facts->usage, wait, count);
    for (std::size_t i = 0; i < count; ++i) {
      vcpu one;
      one.id = static_cast<std::uint32_t>(i);
      if (may.size() < machine.pcpus.size()) one.hard = may;
      one.ran = counters.each[i].ran;
      one.waited = counters.each[i].waited;
      result.now.vcpus.push_back(std::move(one));
    }
    return result;
  }

  control_group_options options_;
  group_tree tree_;
  std::map<std::string, std::string> groups_;  // path → name
  std::map<std::string, observed_vm> seen_;
  std::map<std::string, thread_waits> waits_;
  std::map<std::string, shared_counters> counters_;
};

}  // namespace

std::unique_ptr<source> open_control_groups(const control_group_options& options) {
  return std::make_unique<control_group_source>(options);
}

}  // namespace sukima::host

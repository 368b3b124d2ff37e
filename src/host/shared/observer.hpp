// SPDX-License-Identifier: Apache-2.0
// Computes a description from successive snapshots: the demand of each machine, the host's own use, and the
// changes since the last snapshot.
#pragma once

#include <deque>
#include <map>
#include <unordered_set>

#include "rising_sum.hpp"
#include "source.hpp"

namespace sukima::host {

/// A change of a machine between two snapshots.
enum class change_kind {
  appeared,
  ended,  ///< may also have moved to another host
  paused,
  resumed,
  renamed,
  restarted,  ///< or returned from another host: its counters began again
  late,  ///< did not answer
  back,  ///< answers again
};

struct change {
  change_kind kind;
  std::string name;
  std::string former;  ///< the former name, if it was renamed
};

/// Describes the change in one sentence.
std::string text_of(const change& one);

/// The measurements of a machine over the latest interval for which it has counters.
struct measured_vm {
  vm_state state = vm_state::running;
  bool stale = false;
  std::string source;
  /// The CPUs that it used; none: there is no interval yet.
  std::optional<double> used;
  /// The time that it waited for CPUs per second that it ran, without the throttling that its caps explain;
  /// none: unknown.
  std::optional<double> waited_by_ran;
  /// The seconds that its virtual CPUs ran and waited since it started, also those that were unplugged since.
  rising_sum ran, waited;
};

/// Follows the machines of a host from snapshot to snapshot. Machines with equal ids are the same machine;
/// machines without ids are compared by name.
class observer {
 public:
  /// Processes the next snapshot.
  /// \returns the description of the host. parse_description accepts it if it has a pCPU. A running machine
  ///   has a demand unless it waits: if it waited less than 2 % of the time that it ran, its demand is 1.1
  ///   times its use plus 0.05. A paused machine has the demand 0. The capacities are what the host itself
  ///   left during the last 10 s.
  /// \par Complexity linear in the number of vCPUs, and pCPUs × machines at worst
  const description& update(const snapshot& now);

  /// Records that no snapshot could be read: no changes are reported for this step.
  void record_failed_reading() { changes_.clear(); }

  const description& host() const { return host_; }
  /// The measurements in the order of host().vms.
  const std::vector<measured_vm>& measured() const { return measured_; }
  /// The changes since the previous snapshot; empty for the first one.
  const std::vector<change>& changes() const { return changes_; }

 private:
  /// The counters of a vCPU, and its demand in CPUs, which falls slowly; none: there is no interval yet.
  struct vcpu_memory {
    double ran = 0, waited = 0;
    std::optional<double> held;
  };
  struct memory {
    std::string name, run;
    vm_state state = vm_state::running;
    bool stale = false;
    double read_at = 0;
    std::optional<double> throttled;
    std::map<std::uint32_t, vcpu_memory> vcpus;
    measured_vm measured;
    std::vector<std::optional<double>> demands;
  };
  /// The seconds that the host itself used of each pCPU in an interval.
  struct host_interval {
    double end, seconds;
    std::map<std::uint32_t, double> used;
  };

  /// \returns the seconds that each vCPU ran in the interval since the last reading; empty if there is none
  std::vector<double> measure(const observed_vm& one, memory& remembered);
  void take_changes(const observed_vm& one, const std::string& name, memory& before);
  void take_host_use(const snapshot& now, const std::vector<std::vector<double>>& ran, bool complete);
  static vm describe(const observed_vm& one, const std::string& name, const memory& remembered,
                     const std::unordered_set<std::uint32_t>& there);

  std::map<std::string, memory> memories_;
  bool begun_ = false;
  double clock_ = 0;
  std::map<std::uint32_t, double> busy_;
  std::deque<host_interval> host_intervals_;
  description host_;
  std::vector<measured_vm> measured_;
  std::vector<change> changes_;
};

}  // namespace sukima::host

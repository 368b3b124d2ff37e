// SPDX-License-Identifier: Apache-2.0
// From snapshots to a description: what each machine wants, what the host itself uses, and what changed.
#pragma once

#include <deque>
#include <map>
#include <unordered_set>

#include "source.hpp"

namespace sukima::host {

/// A change of a machine between two snapshots.
enum class change_kind {
  appeared,
  ended,  ///< or it was moved to another host
  paused,
  resumed,
  renamed,
  restarted,  ///< or it came back from another host: its counters began again
  late,  ///< it does not answer
  back,  ///< it answers again
};

struct change {
  change_kind kind;
  std::string name;
  std::string former;  ///< its name before, if it was renamed
};

/// One sentence.
std::string text_of(const change& one);

/// A machine over the latest interval in which it could be measured.
struct measured_vm {
  vm_state state = vm_state::running;
  bool stale = false;
  std::string source;
  /// CPUs that it used; none: there is no interval yet.
  std::optional<double> used;
  /// Time that it waited for CPUs without the throttling that its caps explain, for each second that it ran;
  /// none: unknown.
  std::optional<double> waited_by_ran;
};

/// Follows the machines of a host from snapshot to snapshot. A machine is the same one if its id is, or,
/// where it has none, its name.
class observer {
 public:
  /// Takes the next snapshot.
  /// \returns the description of the host: what parse_description accepts, if it has a pCPU. Each machine has
  /// a demand unless it waits (design: a machine that waited less than 2 % of what it ran wants 1.1 times
  /// what it uses, and 0.05); a paused one wants nothing. Capacities are what the host itself left in the
  /// last 10 s. Takes time linear in the number of vCPUs, and pCPUs × machines at worst.
  const description& see(const snapshot& now);

  /// There is no next snapshot, because nothing could be read: nothing has changed since the last one.
  void missed() { changes_.clear(); }

  const description& host() const { return host_; }
  /// In the order of host().vms.
  const std::vector<measured_vm>& measured() const { return measured_; }
  /// Since the snapshot before; empty for the first one.
  const std::vector<change>& changes() const { return changes_; }

 private:
  /// A vCPU's demand, in CPUs, as it falls; none: there is no interval yet.
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
  /// Seconds that the host itself used of each pCPU in an interval.
  struct host_interval {
    double end, seconds;
    std::map<std::uint32_t, double> used;
  };

  /// \returns the seconds that each vCPU ran in a new interval; empty if there is none
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

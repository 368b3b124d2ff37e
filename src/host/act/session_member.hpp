// SPDX-License-Identifier: Apache-2.0
// The state that a session keeps for one virtual machine.
#pragma once

#include <algorithm>
#include <utility>

#include "act/guest_vcpus.hpp"
#include "act/received_share.hpp"
#include "shared/rising_sum.hpp"
#include "shared/steering.hpp"

namespace sukima::host {

/// Determines when an act of one kind may be tried again.
struct attempts {
  /// Whether an act may begin now.
  bool open(double now) const { return !retry_at || now >= *retry_at; }

  std::optional<double> retry_at;  ///< no act may begin before this time
  bool failed_once = false;
};

/// The seconds that virtual CPUs ran and waited since their machine started, also those that were unplugged.
struct counted_time {
  rising_sum ran, waited;
};

/// One virtual machine of a session. Times are seconds of the session's clock.
class session_member {
 public:
  session_member(const vm& described, session_vm given, double cycle_seconds);

  /// Reads the guest's messages.
  void receive(double now);
  /// Reads the counters. \returns false if the machine has ended
  bool measure(double now);
  /// The present state of each of its vCPUs, for the estimate.
  std::vector<vcpu_wish> wants() const;
  /// As `wants`, but only if it differs from the last result by more than a part of what the machine wants.
  /// \param tolerance  that part
  std::optional<std::vector<vcpu_wish>> new_wishes(double tolerance);
  /// Compares what the machine received in the last cycle with its share.
  /// \returns a sentence if a limit by received CPU has begun or ended
  std::optional<std::string> judge_share(double now);
  /// The CPUs that it can use: its share, or what it receives if that has been less for 10 s.
  double usable() const { return std::min(entitled, received_.limit().value_or(entitled)); }
  /// Returns the measurements since the last cycle.
  vm_report report(double now);
  /// Adds this machine's values to its metrics.
  void add_to(vm_metrics& into) const;
  /// The message for its guest; nothing: send none.
  std::optional<host_message> message(std::optional<unsigned> trial) const;

  /// Records the number of threads or of virtual CPUs that is in effect now.
  void set_count(unsigned count, double now);
  /// Withdraws the count.
  void release(double now);

  const std::string& name() const { return described_.name; }
  const vm& described() const { return described_; }
  /// Takes a changed description of the same run. The next call of `new_wishes` returns all wishes again.
  void describe(const vm& now);
  /// Whether its counters are read; a machine without them counts as always busy.
  bool is_measured() const { return given_.counters != nullptr; }
  bool by_threads() const { return given_.how.threads; }
  const steering& how() const { return given_.how; }
  bool chosen() const { return given_.chosen; }
  guest_link* link() const { return given_.link.get(); }
  /// The actuator that plugs in virtual CPUs; null: none can be plugged in.
  vcpu_ceiling* ceiling() const { return given_.ceiling.get(); }
  /// How many virtual CPUs exist now, by the host's counters. Not all of them need to be online.
  unsigned there() const { return there_; }
  bool ended() const { return ended_; }
  unsigned count() const { return count_; }
  double use() const { return use_; }
  /// Whether the guest sent a message in the last 10 s.
  bool reported_lately(double now) const;
  bool has_reported() const { return reported_at_.has_value(); }
  /// Whether, some seconds after a change, the program still uses more than its number.
  bool ignores_number(double now) const;

  std::size_t number = 0;  ///< its number in the optimiser
  counted_time counted;  ///< a member with other virtual CPUs in the same run continues to count
  guest_vcpus vcpus;
  std::optional<receipt> waiting;  ///< an act on virtual CPUs that waits for its proof
  std::optional<receipt> in_effect;  ///< the latest act that was proved
  attempts switching, plugging;
  std::optional<receipt> plugged;  ///< an act of plugging in that waits for its proof
  std::optional<double> asked_at;  ///< when the session queried whether virtual CPUs can be plugged in
  std::optional<double> silent_since;  ///< since when an act has waited for the guest's first message
  bool said_silent = false;
  double entitled = 0;  ///< usable CPUs by the estimate, independent of the present use
  bool wants_all = false;  ///< in the last result of `new_wishes`, all vCPUs are online and have no demand
  unsigned fitting = 0;  ///< the count that fits `entitled`; 0: there is no estimate yet
  bool silent = false, said_ignoring = false;

 private:
  struct mark {
    double at = 0, progress = 0;
  };
  bool is_online(std::size_t i) const;
  void judge_demand(double seconds, const vm_times& before, const vm_times& times);

  vm described_;
  session_vm given_;
  double cycle_seconds_;
  std::optional<vm_times> times_;
  double measured_at_ = 0;  ///< when `times_` were read
  double seconds_ = 0;  ///< the time since the previous reading
  /// The demand of each vCPU, in CPUs; none: there is no interval yet, and it counts as 1.
  std::vector<std::optional<double>> demand_;
  double use_ = 0;
  ran_and_waited done_;  ///< since the previous reading
  received_share received_;
  bool ended_ = false;
  std::optional<double> reported_at_;
  std::optional<mark> latest_, window_began_;  ///< progress: the latest, and at the end of the last window
  std::optional<unsigned> wants_at_most_;  ///< the guest's `want`
  std::vector<vcpu_wish> wanted_;  ///< the last result of `new_wishes`
  unsigned there_;
  unsigned count_;
  bool is_set_ = false;  ///< whether the count was set
  double changed_at_ = -1e9;
};

}  // namespace sukima::host

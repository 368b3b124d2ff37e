// SPDX-License-Identifier: Apache-2.0
// What a session knows of one virtual machine.
#pragma once

#include <algorithm>

#include "act/guest_vcpus.hpp"
#include "act/received_share.hpp"
#include "shared/steering.hpp"

namespace sukima::host {

/// When an act of one kind may be tried again.
struct attempts {
  /// Whether nothing forbids it now.
  bool open(double now) const { return !retry_at || now >= *retry_at; }

  std::optional<double> retry_at;  ///< no act before
  bool failed_once = false;
};

/// One virtual machine of a session. Times are seconds of the session's clock.
class session_member {
 public:
  session_member(const vm& described, session_vm given, double cycle_seconds);

  /// Reads the guest's messages.
  void receive(double now);
  /// Reads the counters. \returns false if the machine has ended
  bool measure(double now);
  /// What each of its vCPUs wants, for the estimate.
  std::vector<vcpu_wish> wants() const;
  /// The same, if it differs from the last result by more than a part of what the machine wants.
  /// \param tolerance  that part
  std::optional<std::vector<vcpu_wish>> new_wishes(double tolerance);
  /// Compares what it received in the last cycle with what it is entitled to.
  /// \returns a sentence if the other one of the two limits it now
  std::optional<std::string> judge_share(double now);
  /// The CPUs that it can use: what it is entitled to, or what it receives if that has been less for 10 s.
  double usable() const { return std::min(entitled, received_.limit().value_or(entitled)); }
  /// Reports what has been seen since the last cycle.
  vm_report report(double now);
  /// Adds what is known of it to its metrics.
  void add_to(vm_metrics& into) const;
  /// The message for its guest; nothing: send none.
  std::optional<host_message> message(std::optional<unsigned> trial) const;

  /// The number of threads, or of virtual CPUs in effect, is this now.
  void set_count(unsigned count, double now);
  /// Withdraws the count.
  void release(double now);

  const std::string& name() const { return described_.name; }
  const vm& described() const { return described_; }
  /// Its description has changed, not its run. All that it wants is new to the next estimate.
  void describe(const vm& now);
  /// Whether its counters are read; a machine without them counts as always busy.
  bool is_measured() const { return given_.counters != nullptr; }
  bool by_threads() const { return given_.how.threads; }
  const steering& how() const { return given_.how; }
  bool chosen() const { return given_.chosen; }
  guest_link* link() const { return given_.link.get(); }
  /// Plugs virtual CPUs in; null: none can be plugged in.
  vcpu_ceiling* ceiling() const { return given_.ceiling.get(); }
  /// How many virtual CPUs there are now, by the host's counters; they are not all online.
  unsigned there() const { return there_; }
  bool ended() const { return ended_; }
  unsigned count() const { return count_; }
  double use() const { return use_; }
  /// The guest said something in the last 10 s; of a file: always.
  bool reported_lately(double now) const;
  bool has_spoken() const { return reported_at_.has_value(); }
  /// Some seconds after a change: whether the program's use is above the number that was sent to it.
  bool ignores_number(double now) const;

  std::size_t number = 0;  ///< of the optimiser
  guest_vcpus vcpus;
  std::optional<receipt> waiting;  ///< an act on virtual CPUs that waits for its proof
  std::optional<receipt> in_effect;  ///< the act that was proved last
  attempts switching, plugging;
  std::optional<receipt> plugged;  ///< plugging in that waits for its proof
  std::optional<double> asked_at;  ///< whether virtual CPUs can be plugged in was asked then
  std::optional<double> silent_since;  ///< an act waits for its first word
  bool said_silent = false;
  double entitled = 0;  ///< usable CPUs by the estimate, whatever it uses now
  bool wants_all = false;  ///< in the last result of `new_wishes` all vCPUs are online, without a demand
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
  double seconds_ = 0;  ///< since the reading before
  /// Of each vCPU, in CPUs; none: there is no interval yet, and it counts as 1.
  std::vector<std::optional<double>> demand_;
  double use_ = 0;
  ran_and_waited done_;  ///< since the reading before
  received_share received_;
  bool ended_ = false;
  std::optional<double> reported_at_;
  std::optional<mark> latest_, window_began_;  ///< progress: the last word, and that of the last window's end
  std::optional<unsigned> wants_at_most_;  ///< the guest's `want`
  std::vector<vcpu_wish> wanted_;  ///< the last result of `new_wishes`
  unsigned there_;
  unsigned count_;
  bool is_set_ = false;  ///< the count was set
  double changed_at_ = -1e9;
};

}  // namespace sukima::host

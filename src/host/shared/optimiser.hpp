// SPDX-License-Identifier: Apache-2.0
// Chooses the number of threads or virtual CPUs of VMs. The optimiser is pure: it has no clock and does no
// I/O.
//
// The caller makes the measurements. In each cycle (1 s) it passes what it measured for every VM, reads the
// counts to set, and sets them. Times are in seconds of any clock that never goes back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verdict.hpp"

namespace sukima::host {

/// The quantity by which the optimiser judges a count.
enum class optimise_by {
  progress,  ///< a rate of work that the guest reports
  use,  ///< the VM's CPU use (paper 001, section 4.1); the operator must choose this
};

/// Settings for optimising one VM.
struct optimiser_settings {
  unsigned least = 1;  ///< the fewest threads or virtual CPUs that may be tried; at least 1
  unsigned most = 1;  ///< the largest number that may be tried; not less than `least`
  optimise_by by = optimise_by::progress;
  bool dry_run = false;  ///< decides but sets nothing, and reports what it would try first
  bool above_estimate = true;  ///< whether counts above the estimate may be tried
  double window_seconds = 1;  ///< a multiple of every quota's period
  double settle_seconds = 0.5;  ///< the time from a change of the count until the next window begins
  std::string quantity = "threads";  ///< the name of the number, for the log
};

/// The measurements of one window.
struct measured_window {
  double at = 0;  ///< the end of the window
  unsigned count = 0;  ///< the count in effect during the whole window
  double use = 0;  ///< CPUs
  std::optional<double> progress = {};  ///< per second; empty: the guest reported none
  bool valid = true;  ///< false: the window was disturbed by a late reading or a jump of the clock
  bool settled = true;  ///< the window began after the settling time
  std::optional<double> share = {};  ///< CPU time got / entitled; used to protect the neighbours
};

/// The current estimate for a VM.
struct vm_status {
  double at = 0;
  double usable = 0;  ///< CPUs
  unsigned count = 1;  ///< the count that fits the estimate, by `ceil` or `fit`
  double demand = 0;  ///< the CPUs that it wants
  double up = 0;  ///< seconds since the guest started
};

/// Events that concern a VM.
enum class vm_event {
  opted_in,  ///< the operator allows optimising it
  opted_out,
  paused,
  migrated,
  guard_fired,  ///< a neighbour's share fell while a trial ran
  not_verified,  ///< an act has no proof
  guest_silent,  ///< the guest no longer reports
  ended,
};

/// The event's name, such as "opted in" or "paused".
std::string_view name_of(vm_event event);

/// The inputs of a cycle for one VM.
struct vm_report {
  std::size_t vm = 0;
  std::optional<vm_status> status;
  std::optional<measured_window> window;
};

class hosted_vm;
class trial_group;

/// Optimises all VMs of a host. In each group of the estimate (VMs that share CPUs) at most one trial runs at
/// a time, in random order, because two trials at once would disturb each other's measurements. Not
/// thread-safe. An input is dropped if a number is not finite or its time is before an earlier time.
class optimiser {
 public:
  /// \param seed of the random order: equal seeds and inputs give equal decisions
  explicit optimiser(std::uint64_t seed);
  ~optimiser();
  optimiser(const optimiser&) = delete;
  optimiser& operator=(const optimiser&) = delete;

  /// Adds a VM, which is idle until it is opted in.
  /// \param group the VM's group of the estimate
  /// \returns its number, counted from 0; numbers of removed VMs are used again
  /// \throws std::invalid_argument  `least` is 0 or above `most`, or a time in the settings is not positive
  std::size_t add(std::string name, optimiser_settings settings, std::uint64_t group = 0);

  /// Releases the number of a VM that has ended, so that the next VM that is added may get it.
  /// \pre the VM had the event `ended`, and was not removed before
  void remove(std::size_t vm) { free_.push_back(vm); }

  /// Moves the VM to another group. If a trial of the VM runs and another trial runs in the new group, the
  /// VM's trial is void.
  void regroup(std::size_t vm, double at, std::uint64_t group);
  /// Renames the VM. A running trial is void, and the optimiser learns about the VM again from the beginning.
  void rename(std::size_t vm, double at, std::string name);
  void event(std::size_t vm, double at, vm_event event);

  /// Runs one cycle with the inputs of the VMs, each VM at most once. First it ends trials that, by the
  /// shares in the windows, take CPU from another VM of the group. Then it begins trials in groups where none
  /// runs.
  /// \par Complexity O(VMs × log VMs)
  void cycle(const std::vector<vm_report>& seen);

  /// The count to set for this VM now. Empty: none, because the VM is not opted in or has ended, the run is a
  /// dry run, or there is no estimate yet. An earlier setting then ends with its lease.
  std::optional<unsigned> wanted(std::size_t vm) const;
  /// The count that is in effect when no trial runs.
  unsigned resting(std::size_t vm) const;
  optimiser_state state(std::size_t vm) const;
  /// Whether a count other than the resting count is being tried.
  bool trial_runs(std::size_t vm) const;

  /// The verdicts since the last call, in order of time.
  std::vector<verdict> take_verdicts();
  /// The first invariant that does not hold, as a sentence; null: all hold. Complexity: linear in the VMs
  const char* violated_invariant() const;

 private:
  void join(hosted_vm& vm, std::uint64_t group);
  void leave_group(std::size_t vm);
  void end_trials();
  void guard(const std::vector<vm_report>& seen);
  void begin_trials();
  std::uint64_t draw();

  std::vector<std::unique_ptr<hosted_vm>> vms_;
  std::vector<std::size_t> free_;  ///< numbers of VMs that were removed
  std::map<std::uint64_t, std::unique_ptr<trial_group>> groups_;
  std::vector<verdict> verdicts_;
  std::uint64_t random_;
  double now_ = 0;
  friend struct test_access;
};

}  // namespace sukima::host

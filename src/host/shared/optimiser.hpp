// SPDX-License-Identifier: Apache-2.0
// The optimiser of the number of threads or virtual CPUs of VMs: pure, without a clock and without I/O.
//
// The caller measures: each cycle (1 s) it feeds what it saw of every VM, asks what to set, sets it,
// and measures on. Times are seconds of any clock that does not go back.
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

/// What the optimiser judges a count by.
enum class optimise_by {
  progress,  ///< a rate that the guest publishes
  use,  ///< the VM's CPU use alone (paper 001, section 4.1), where the operator says so
};

/// How one VM is optimised.
struct optimiser_settings {
  unsigned least = 1;  ///< the fewest threads or virtual CPUs that may be tried; at least 1
  unsigned most = 1;  ///< the most; not less than `least`
  optimise_by by = optimise_by::progress;
  bool dry_run = false;  ///< does all but act, and says what it would try first
  bool above_estimate = true;  ///< whether counts above the estimate may be tried
  double window_seconds = 1;  ///< a multiple of every quota's period
  double settle_seconds = 0.5;  ///< from a change of the count until the next window begins
  std::string quantity = "threads";  ///< which number it is, for the log
};

/// What was measured in one window.
struct measured_window {
  double at = 0;  ///< its end
  unsigned count = 0;  ///< the number in effect during all of it
  double use = 0;  ///< CPUs
  std::optional<double> progress = {};  ///< per second; empty: the guest published nothing
  bool valid = true;  ///< false: something else disturbed it (a late reading, a clock that jumped)
  bool settled = true;  ///< it began after the settling time
  std::optional<double> share = {};  ///< CPU time got / entitled, which guards the neighbours
};

/// What the estimate says of a VM, whenever it is computed.
struct vm_status {
  double at = 0;
  double usable = 0;  ///< CPUs
  unsigned count = 1;  ///< the count that fits, by `ceil` or `fit`
  double demand = 0;  ///< CPUs that it wants
  double up = 0;  ///< seconds since the guest started
};

/// What happens to a VM.
enum class vm_event {
  opted_in,  ///< the operator lets it be optimised
  opted_out,
  paused,
  migrated,
  guard_fired,  ///< a neighbour's share fell while a trial ran
  not_verified,  ///< an action has no proof
  guest_silent,  ///< the guest publishes nothing any more
  ended,
};

/// "opted in", "paused", …
std::string_view name_of(vm_event event);

/// All that a cycle has seen of one VM.
struct vm_report {
  std::size_t vm = 0;
  std::optional<vm_status> status;
  std::optional<measured_window> window;
};

class hosted_vm;
class trial_group;

/// The optimisers of all VMs of a host. In each group of the estimate (VMs that share CPUs) one trial runs at
/// a time, in random order: two at once would measure each other. Not thread-safe. An input whose numbers are
/// not finite, or whose time is before an earlier one, is dropped.
class optimiser {
 public:
  /// \param seed of the generator that draws the order: equal seeds and inputs give equal answers
  explicit optimiser(std::uint64_t seed);
  ~optimiser();
  optimiser(const optimiser&) = delete;
  optimiser& operator=(const optimiser&) = delete;

  /// Adds a VM, which is idle until it is opted in.
  /// \param group of the estimate
  /// \returns its number, from 0, or that of a VM which was removed
  /// \throws std::invalid_argument  least is 0 or above most, or a time of the settings is not positive
  std::size_t add(std::string name, optimiser_settings settings, std::uint64_t group = 0);

  /// Forgets a VM that has ended: its number may belong to the next one that is added.
  /// Precondition: it had the event `ended`, and was not removed before.
  void remove(std::size_t vm) { free_.push_back(vm); }

  /// The VM's group is another one now. Where a trial runs in both, this VM's is void.
  void regroup(std::size_t vm, double at, std::uint64_t group);
  /// A trial that runs is void; what was learnt is learnt again.
  void rename(std::size_t vm, double at, std::string name);
  void event(std::size_t vm, double at, vm_event event);

  /// One cycle: what was seen of the VMs, each at most once; then trials begin where none runs. A trial that
  /// takes CPU from another VM of its group, by the shares in the windows, has ended before.
  /// O(VMs × log VMs).
  void cycle(const std::vector<vm_report>& seen);

  /// What to set for this VM now; empty: nothing (not opted in, a dry run, no estimate yet, it has ended).
  /// An earlier setting is then undone by its lease.
  std::optional<unsigned> wanted(std::size_t vm) const;
  /// The count that it returns to when no trial runs.
  unsigned resting(std::size_t vm) const;
  optimiser_state state(std::size_t vm) const;
  /// Whether another count than the resting one is being tried.
  bool trial_runs(std::size_t vm) const;

  /// The verdicts since the last call, in the order of their times.
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

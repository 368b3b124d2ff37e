// SPDX-License-Identifier: Apache-2.0
// Optimises all VMs of a host, with one trial at a time in each group.
#include "shared/optimiser.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "optimise/neighbour_guard.hpp"
#include "optimise/state_machine.hpp"

namespace sukima::host {

/// The VMs that share CPUs.
class trial_group {
 public:
  neighbour_guard guard;
  hosted_vm* last = nullptr;  ///< the VM whose trial runs, or ran last
  std::size_t vms = 0;

  /// The VM whose trial runs, or null.
  hosted_vm* running() const;
  /// Ends the trial, so that no later windows are compared with its windows.
  void end_trial() {
    guard.end_trial();
    last = nullptr;
  }
};

/// One VM and its group.
class hosted_vm {
 public:
  hosted_vm(std::string name, optimiser_settings settings, std::vector<verdict>& verdicts)
      : machine(std::move(name), std::move(settings), verdicts) {}

  state_machine machine;
  std::uint64_t group = 0;
};

hosted_vm* trial_group::running() const {
  return last != nullptr && last->machine.trial_runs() ? last : nullptr;
}

namespace {

bool is_sound(const measured_window& window) {
  return std::isfinite(window.at) && std::isfinite(window.use) && window.use >= 0 && window.count >= 1 &&
         std::isfinite(window.progress.value_or(0)) && std::isfinite(window.share.value_or(0));
}

bool is_sound(const vm_status& status) {
  return std::isfinite(status.at) && std::isfinite(status.usable) && std::isfinite(status.demand) &&
         std::isfinite(status.up);
}

void check(const optimiser_settings& settings) {
  if (settings.least < 1 || settings.most < settings.least)
    throw std::invalid_argument(
        "optimiser_settings: least is 0 or above most; give the fewest and the most CPUs of the VM");
  if (!(settings.window_seconds > 0) || !(settings.settle_seconds >= 0))
    throw std::invalid_argument(
        "optimiser_settings: window_seconds must be above 0, and settle_seconds at least 0");
}

}  // namespace

optimiser::optimiser(std::uint64_t seed) : random_(seed) {}
optimiser::~optimiser() = default;

std::size_t optimiser::add(std::string name, optimiser_settings settings, std::uint64_t group) {
  check(settings);
  auto fresh = std::make_unique<hosted_vm>(std::move(name), std::move(settings), verdicts_);
  std::size_t number = vms_.size();
  if (free_.empty()) {
    vms_.push_back(std::move(fresh));
  } else {
    number = free_.back();
    free_.pop_back();
    leave_group(number);
    vms_[number] = std::move(fresh);
  }
  join(*vms_[number], group);
  return number;
}

void optimiser::leave_group(std::size_t vm) {
  const hosted_vm& one = *vms_[vm];
  trial_group& left = *groups_.at(one.group);
  left.guard.forget(vm);
  if (left.last == &one) left.end_trial();
  if (--left.vms == 0) groups_.erase(one.group);
}

void optimiser::join(hosted_vm& vm, std::uint64_t group) {
  auto& joined = groups_[group];
  if (joined == nullptr) joined = std::make_unique<trial_group>();
  joined->vms++;
  vm.group = group;
  if (!vm.machine.trial_runs()) return;
  joined->end_trial();
  joined->last = &vm;
}

void optimiser::regroup(std::size_t vm, double at, std::uint64_t group) {
  hosted_vm& one = *vms_.at(vm);
  if (one.group == group || !(at >= now_)) return;
  now_ = at;
  const auto joined = groups_.find(group);
  if (joined != groups_.end() && joined->second->running() != nullptr)
    one.machine.void_trial("the VM shares CPUs with others now", at);
  leave_group(vm);
  join(one, group);
  SUKIMA_ASSERT_VALID(*this);
}

const char* optimiser::violated_invariant() const {
  std::map<std::uint64_t, std::size_t> members, trials;
  for (const auto& vm : vms_) {
    if (!groups_.contains(vm->group)) return "each VM is in a group";
    ++members[vm->group];
    if (!vm->machine.trial_runs()) continue;
    if (++trials[vm->group] > 1) return "one trial at a time runs in a group";
    if (groups_.at(vm->group)->running() != vm.get())
      return "the running trial of a group is the trial of one VM";
  }
  for (const auto& [number, group] : groups_) {
    if (members[number] != group->vms) return "a group counts its VMs and is removed with the last one";
    if (group->running() != nullptr && group->running()->group != number)
      return "the VM whose trial runs belongs to the group";
  }
  return nullptr;
}

void optimiser::rename(std::size_t vm, double at, std::string name) {
  if (!(at >= now_)) return;
  now_ = at;
  vms_.at(vm)->machine.rename(std::move(name), at);
}

void optimiser::event(std::size_t vm, double at, vm_event event) {
  if (!(at >= now_)) return;
  now_ = at;
  vms_.at(vm)->machine.feed(event, at);
}

void optimiser::cycle(const std::vector<vm_report>& seen) {
  end_trials();
  // Record which VMs' windows were disturbed by a trial, before these windows decide anything.
  std::vector<bool> disturbed;
  for (const auto& vm : vms_) {
    const hosted_vm* runs = groups_.at(vm->group)->running();
    disturbed.push_back(runs != nullptr && runs != vm.get());
  }
  guard(seen);
  double latest = now_;
  for (const vm_report& report : seen) {
    state_machine& machine = vms_.at(report.vm)->machine;
    if (report.status && is_sound(*report.status) && report.status->at >= now_) {
      machine.feed(*report.status);
      latest = std::max(latest, report.status->at);
    }
    if (report.window && is_sound(*report.window) && report.window->at >= now_) {
      machine.feed(*report.window, disturbed[report.vm]);
      latest = std::max(latest, report.window->at);
    }
  }
  now_ = latest;
  end_trials();
  begin_trials();
  SUKIMA_ASSERT_VALID(*this);
}

/// Informs the guards about trials that have ended.
void optimiser::end_trials() {
  for (auto& [number, group] : groups_) {
    if (group->last == nullptr || group->running() != nullptr) continue;
    group->end_trial();
  }
}

/// Ends trials that take CPU from a neighbour. A neighbour's share is attributed to the count that the
/// trial's own window had in this cycle.
void optimiser::guard(const std::vector<vm_report>& seen) {
  std::map<const hosted_vm*, const measured_window*> windows;
  for (const vm_report& report : seen)
    if (report.window && is_sound(*report.window) && report.window->settled && report.window->at >= now_)
      windows[vms_.at(report.vm).get()] = &*report.window;
  std::map<hosted_vm*, double> fired;
  for (const vm_report& report : seen) {
    const hosted_vm* const neighbour = vms_.at(report.vm).get();
    const auto window = windows.find(neighbour);
    if (window == windows.end() || !window->second->valid) continue;
    trial_group& group = *groups_.at(neighbour->group);
    hosted_vm* const runs = group.running();
    const double share = window->second->share.value_or(0);  // 0: there is none
    if (runs == nullptr) {
      group.guard.resting(report.vm, share);
      continue;
    }
    const auto own = windows.find(runs);
    if (runs == neighbour || own == windows.end()) continue;
    const unsigned count = own->second->count;
    if (group.guard.trial(report.vm, count, count == runs->machine.resting(), share))
      fired[runs] = own->second->at;
  }
  for (const auto& [vm, at] : fired) vm->machine.feed(vm_event::guard_fired, at);
}

/// In each group without a trial, begins the trial of one of the waiting VMs, drawn at random.
void optimiser::begin_trials() {
  std::map<std::uint64_t, std::vector<hosted_vm*>> waiting;
  for (const auto& vm : vms_)
    if (vm->machine.waits_for_turn()) waiting[vm->group].push_back(vm.get());
  for (auto& [number, vms] : waiting) {
    trial_group& group = *groups_.at(number);
    while (group.running() == nullptr && !vms.empty()) {
      const auto drawn = vms.begin() + static_cast<std::ptrdiff_t>(draw() % vms.size());
      (*drawn)->machine.begin_trial(now_);
      group.last = *drawn;
      vms.erase(drawn);
    }
  }
}

/// The next number of the generator SplitMix64, which gives the same sequence on every platform.
std::uint64_t optimiser::draw() {
  std::uint64_t z = random_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::optional<unsigned> optimiser::wanted(std::size_t vm) const { return vms_.at(vm)->machine.wanted(); }
unsigned optimiser::resting(std::size_t vm) const { return vms_.at(vm)->machine.resting(); }
optimiser_state optimiser::state(std::size_t vm) const { return vms_.at(vm)->machine.state(); }
bool optimiser::trial_runs(std::size_t vm) const { return vms_.at(vm)->machine.trial_runs(); }

std::vector<verdict> optimiser::take_verdicts() { return std::exchange(verdicts_, {}); }

}  // namespace sukima::host

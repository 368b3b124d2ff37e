// SPDX-License-Identifier: Apache-2.0
// Sets the number of online virtual CPUs through the guest service, and proves the change.
#include "act/guest_vcpus.hpp"

#include <algorithm>
#include <cerrno>

#include "act/vcpu_count.hpp"

namespace sukima::host {
namespace {

/// A vCPU that runs for a smaller part of the time counts as offline. It may also be idle, which makes no
/// difference to its neighbours.
constexpr double idle_share = 0.01;
/// Seconds for which the other vCPUs must be idle as a proof.
constexpr double proving_seconds = 1;

}  // namespace

void guest_vcpus::record_times(double at, std::vector<double> ran) {
  samples_.push_back({at, std::move(ran)});
  // Keep one sample from before the act, and as many later ones as the proof needs.
  while (samples_.size() > 2 && (samples_[1].at <= applied_at_ || samples_[1].at < at - 2 * act_deadline))
    samples_.pop_front();
}

feasibility guest_vcpus::can(const std::string& value) const {
  if (!vcpu_count(value)) return {false, "'" + value + "' is not a number of virtual CPUs"};
  if (!answers_) return {false, target() + " is silent; start 'sukima guest' in it"};
  return {true, {}};
}

std::optional<std::string> guest_vcpus::present() const { return sent_ ? std::to_string(*sent_) : "all"; }

int guest_vcpus::apply(const std::string& value, double now) {
  before_ = sent_.value_or(0);
  sent_ = vcpu_count(value);
  applied_at_ = now;
  while (samples_.size() > 1 && samples_[1].at <= now) samples_.pop_front();
  return sent_ ? 0 : EINVAL;
}

proof guest_vcpus::verify(const std::string& value, double now) {
  const auto wanted = vcpu_count(value);
  if (!wanted || wanted != sent_ || samples_.size() < 2) return proof::waiting;
  const sample& last = samples_.back();
  const bool fewer = before_ == 0 || *wanted <= before_;
  const double since = now - applied_at_;
  // The interval that is judged: since the act, or, for fewer CPUs, at least one second that began after the
  // act.
  const sample* first = &samples_.front();
  if (fewer) {
    first = nullptr;
    for (const sample& one : samples_)
      if (one.at >= applied_at_ && last.at - one.at >= proving_seconds) first = &one;
    if (first == nullptr) return proof::waiting;
  }
  const double span = last.at - first->at;
  unsigned busy = 0;
  for (std::size_t i = 0; i < std::min(last.ran.size(), first->ran.size()); ++i) {
    const double ran = last.ran[i] - first->ran[i];
    // The thread of a new vCPU runs a little before the guest switches the vCPU on.
    busy += fewer ? ran >= idle_share * span : ran > 0 && last.ran[i] >= running_seconds;
  }
  if (fewer ? busy <= *wanted : busy >= *wanted) return proof::proved;
  return since >= act_deadline ? proof::failed : proof::waiting;
}

}  // namespace sukima::host

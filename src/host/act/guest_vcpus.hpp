// SPDX-License-Identifier: Apache-2.0
// Sets the number of online virtual CPUs through the guest service.
#pragma once

#include <deque>

#include "shared/act.hpp"

namespace sukima::host {

/// The act is a line in the messages to the guest, which are leased. The proof comes from the host's own
/// counters.
class guest_vcpus final : public actuator {
 public:
  explicit guest_vcpus(std::string vm) : vm_(std::move(vm)) {}

  /// Sets whether the guest has answered lately. Without its service an act would have no effect.
  void set_answers(bool lately) { answers_ = lately; }
  /// Takes the counters of one moment: the seconds that each vCPU has run. Drops samples that are not needed.
  void record_times(double at, std::vector<double> ran);
  /// The number to send to the guest; nothing: none.
  std::optional<unsigned> sent() const { return sent_; }
  /// Withdraws the number.
  void end() { sent_.reset(); }

  std::string target() const override { return "the guest service of " + vm_; }
  feasibility can(const std::string& value) const override;
  std::optional<std::string> present() const override;
  int apply(const std::string& value, double now) override;
  /// Fewer vCPUs are proved if at most `value` vCPUs ran for 1 % or more of the latest interval of at least
  /// one second that began after the act. More vCPUs are proved if at least `value` vCPUs have run since the
  /// act, each for at least a millisecond since it was new.
  proof verify(const std::string& value, double now) override;

 private:
  struct sample {
    double at;
    std::vector<double> ran;
  };

  std::string vm_;
  bool answers_ = false;
  std::optional<unsigned> sent_;
  unsigned before_ = 0;  ///< the number before the act; 0: all
  double applied_at_ = 0;
  std::deque<sample> samples_;  ///< the last sample before the act, and all later ones
};

}  // namespace sukima::host

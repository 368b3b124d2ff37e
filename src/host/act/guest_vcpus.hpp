// SPDX-License-Identifier: Apache-2.0
// Setting the number of online virtual CPUs through the guest service.
#pragma once

#include <deque>

#include "shared/act.hpp"

namespace sukima::host {

/// The act is a word in the messages to the guest, which are leased; the proof is in the host's own
/// counters.
class guest_vcpus final : public actuator {
 public:
  explicit guest_vcpus(std::string vm) : vm_(std::move(vm)) {}

  /// Whether the guest has answered lately: without its service nothing would happen.
  void set_answers(bool lately) { answers_ = lately; }
  /// The counters of one moment: seconds that each vCPU ran. What is older than needed is forgotten.
  void seen(double at, std::vector<double> ran);
  /// The number for the guest; nothing: none.
  std::optional<unsigned> sent() const { return sent_; }
  /// Nothing is set any more.
  void end() { sent_.reset(); }

  std::string target() const override { return "the guest service of " + vm_; }
  reach can(const std::string& value) const override;
  std::optional<std::string> present() const override;
  int apply(const std::string& value, double now) override;
  /// Fewer: no more vCPUs than the number ran 1 % of the latest second or more that began after the act.
  /// More: as many have run since the act, and for a millisecond since they were new.
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
  std::deque<sample> samples_;  ///< the last before the act, and those since
};

}  // namespace sukima::host

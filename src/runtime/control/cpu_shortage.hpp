// SPDX-License-Identifier: Apache-2.0
// Whether CPU is short, that is, whether the workers wait for CPUs that others use.
#pragma once

#include "control/worker_times.hpp"
#include "park/cpu_use.hpp"

#include <capacity/shared/shortage.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace sukima::detail {

class decision_log;
class worker_controller;
class worker_table;

/// Samples how long each worker's thread ran and waited for a CPU. The monitor samples and judges. Any thread
/// may read the judgement.
class cpu_shortage final : public cpu_pressure {
 public:
  cpu_shortage(const worker_table& workers, const assigned_cpus& placement,
               const worker_controller& controller, decision_log& decisions, std::uint64_t runtime_serial)
      : all_(workers),
        placement_(placement),
        controller_(controller),
        decisions_(decisions),
        runtime_serial_(runtime_serial) {}

  bool spinning_keeps_turn() const noexcept override;

  // Only the monitor calls these functions.
  /// Reads the workers' times.
  void sample();
  /// Judges by the samples since the last judgement, if there are enough, and records a change.
  void judge();
  /// Whether, by the samples since the last call, a worker wanted to run but hardly ran for a long time.
  bool take_starved() noexcept { return std::exchange(starved_, false); }

 private:
  const worker_table& all_;
  const assigned_cpus& placement_;
  const worker_controller& controller_;
  decision_log& decisions_;
  const std::uint64_t runtime_serial_;
  // Used by the monitor only.
  cap_shortage judgement_{};
  std::vector<worker_times> workers_;  ///< at the last sample
  std::uint64_t sampled_at_ = 0;  ///< tick
  bool starved_ = false;
};

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// How long a worker searches before it sleeps, learnt from its last sleep.
//
// A wake-up costs more than a short search, above all in a virtual machine, where the host may run something
// else on an idle CPU. So after a sleep that a longer search would have avoided, the worker searches longer.
// After one that it would not have avoided, the worker searches as shortly as at first. Where work comes
// after regular short pauses, as between two loops, the worker stays awake. An idle worker does not spin.
// KVM lets virtual CPUs poll in a similar way (Linux, Documentation/virt/kvm/halt-polling.rst).
#pragma once

#include <algorithm>
#include <cstdint>

namespace sukima::detail {

/// In ticks. Only its worker uses it.
class learned_spin {
 public:
  /// \param least  how long each search lasts at least
  std::uint64_t length(std::uint64_t least) const noexcept { return std::max(least, learned_); }
  /// A search has found work after a sleep.
  /// \param waited   since the search began
  /// \param longest  how long a search may last
  void note_sleep(std::uint64_t waited, std::uint64_t longest) noexcept {
    learned_ = waited <= longest ? longest : 0;
  }

 private:
  std::uint64_t learned_ = 0;
};

}  // namespace sukima::detail

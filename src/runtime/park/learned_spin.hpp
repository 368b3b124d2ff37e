// SPDX-License-Identifier: Apache-2.0
// How long a worker searches before it sleeps, computed from its last sleep.
//
// A wake-up costs more than a short search, above all in a virtual machine, where the host may run another
// thread on an idle CPU. So after a sleep that a longer search would have avoided, the worker searches
// longer. After a sleep that it would not have avoided, the worker searches for the shortest time again. If
// work arrives after regular short pauses, as between two loops, the worker stays awake. A worker that stays
// without work does not keep spinning. KVM lets virtual CPUs poll in a similar way (Linux,
// Documentation/virt/kvm/halt-polling.rst).
#pragma once

#include <algorithm>
#include <cstdint>

namespace sukima::detail {

/// In ticks. Only its worker uses it.
class learned_spin {
 public:
  /// \param least  the shortest time of a search
  std::uint64_t length(std::uint64_t least) const noexcept { return std::max(least, learned_); }
  /// Records that a search has found work after a sleep.
  /// \param waited   time since the search began
  /// \param longest  the longest time of a search
  void note_sleep(std::uint64_t waited, std::uint64_t longest) noexcept {
    learned_ = waited <= longest ? longest : 0;
  }

 private:
  std::uint64_t learned_ = 0;
};

}  // namespace sukima::detail

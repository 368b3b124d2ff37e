// SPDX-License-Identifier: Apache-2.0
// The counters of a trace for sequential clones, for each place where they begin.
#pragma once

#include <sukima/detail/clone.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

namespace sukima::detail {

/// The clones of one place. Any worker counts, with relaxed order; `write` may miss clones that begin while
/// it runs.
struct traced_clones {
  struct calls {
    std::atomic<std::uint64_t> clones{0};  ///< Clones that began. no partner: statistics only
    /// Ticks that a call takes; 0: none was timed. no partner: statistics only
    std::atomic<std::uint32_t> expected{0};
  };
  explicit traced_clones(std::string p) : place(std::move(p)) {}

  /// Writes the counters as events of a trace, each with a comma before it.
  void write(std::FILE* out, int process, double nanoseconds_per_tick) const;

  const std::string place;
  std::array<calls, sukima_clone_depths> at;  ///< by depth
  // Polls of a clone that found a request of a thief or an abort. no partner: statistics only
  std::atomic<std::uint64_t> served{0};  ///< the thief got older work, or there was none; the clone continued
  std::atomic<std::uint64_t> left_for_work{0};  ///< the thief got no work: the rest ran in parallel
  std::atomic<std::uint64_t> left_for_abort{0};  ///< the rest ran in parallel, up to the join that aborts
};

/// The part of a compiler's name for a place (name_of_place in clone.hpp) that users read: the function
/// around its first lambda, or that lambda's file and line; the whole name if it has no lambda.
std::string shown_place(const std::string& name);

}  // namespace sukima::detail

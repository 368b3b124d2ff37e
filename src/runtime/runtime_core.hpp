// SPDX-License-Identifier: Apache-2.0
// What every part of a runtime may use: the values that the settings and the machine have determined, and the
// workers.
//
// Each layer extends this by the parts that code of the layer may use: fiber_parts (fiber/), park_parts,
// steal_parts, join_parts and, at the top, runtime_parts. A layer has the parts of the layers below it, too,
// and cannot name those above it. Code that has a fiber, a worker or a task reaches them by parts_of().
// Classes receive the parts that they use in their constructors. One class makes and owns all parts
// (whole_runtime.hpp).
#pragma once

#include "constants.hpp"
#include "end_state.hpp"
#include "invariants/rest_mark.hpp"
#include "worker_target.hpp"

#include <sukima/settings.hpp>

#include <atomic>
#include <cstdint>

namespace sukima::detail {

class worker_table;

struct root_task;

struct runtime_core {
  virtual ~runtime_core() = default;
  runtime_core(const runtime_core&) = delete;
  runtime_core& operator=(const runtime_core&) = delete;

  const settings chosen;
  tuned_ticks tuned;  ///< not changed once threads run
  /// Whether thieves or a node ask workers for tasks: with settings::published_tasks 0, or once a node is
  /// attached.
  /// no partner: a worker that reads the old value is asked from its next search on
  std::atomic<bool> workers_are_asked;
  const std::uint64_t request_interval;  ///< settings::request_interval_us in ticks
  const unsigned worker_limit;  ///< background threads + one entering thread
  const std::uint64_t serial;  ///< differs from that of every other runtime of the process
  lifetime life;
  worker_target target;  ///< how many workers may run now
  [[no_unique_address]] rest_events rest;
  worker_table& workers;

 protected:
  /// \param most_workers  background threads and one entering thread. The constructor decides what the
  /// settings left open
  runtime_core(const settings& s, unsigned most_workers, worker_table& workers);
};

/// A runtime as the code of a layer sees it. Every runtime is a whole_runtime, which has the parts of all
/// layers.
template <class Parts> Parts& parts_of(runtime_core& r) noexcept { return static_cast<Parts&>(r); }
template <class Parts> const Parts& parts_of(const runtime_core& r) noexcept {
  return static_cast<const Parts&>(r);
}
/// \param member  a fiber, a worker or a task of the runtime
template <class Parts, class Member> Parts& parts_of(const Member& member) noexcept {
  return parts_of<Parts>(*member.runtime);
}

/// The calling thread becomes a worker of the runtime during the call (entries.cpp). \throws as
/// runtime_entries::enter
void enter(runtime_core& r, root_task& root);

}  // namespace sukima::detail

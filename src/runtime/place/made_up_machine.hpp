// SPDX-License-Identifier: Apache-2.0
// The machine on which hints are followed: that of the process, or, in the stress build, a machine that a
// test has made up.
#pragma once

#include <sukima/capacity/places.h>

#include <sched.h>

namespace sukima::detail {

struct worker;

#if defined(SUKIMA_STRESS)
struct made_up_machine {
  const sukima_place_table* table;
  int (*cpu_of)(unsigned worker_id);  ///< the CPU that a worker is on now; from its thread
};
/// Sets the machine for runtimes that have not used a hint yet; null: the real machine. The object must exist
/// until these runtimes end.
[[gnu::weak]] void make_up_machine(const made_up_machine* machine) noexcept;
const sukima_place_table& table_of_machine() noexcept;
int current_cpu(const worker& w) noexcept;
#else
inline const sukima_place_table& table_of_machine() noexcept { return *sukima_place_table_of_machine(); }
inline int current_cpu(const worker& /*w*/) noexcept { return sched_getcpu(); }
#endif

}  // namespace sukima::detail

// SPDX-License-Identifier: Apache-2.0
// tbb::info: facts about the machine.
#pragma once

#include <oneapi/tbb/version.h>
#include <sukima/detail/tbb/arena.hpp>
#include <sukima/detail/tbb/names.hpp>

#include <vector>

namespace tbb {

using numa_node_id = int;
using core_type_id = int;

namespace info {

/// Returns the NUMA nodes for arenas. Sukima places work by itself, so there is one node: any.
inline std::vector<numa_node_id> numa_nodes() { return {-1}; }
/// Returns the core types for arenas: one, any.
inline std::vector<core_type_id> core_types() { return {-1}; }
/// Returns the largest number of workers of the default runtime.
inline int default_concurrency(numa_node_id /*node*/ = -1) {
  return ::sukima::detail::tbb::default_arena().concurrency();
}

}  // namespace info

}  // namespace tbb

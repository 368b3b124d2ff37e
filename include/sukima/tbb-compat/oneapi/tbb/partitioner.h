// SPDX-License-Identifier: Apache-2.0
// TBB's partitioners.
#pragma once

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <sukima/detail/tbb/names.hpp>
#include <sukima/detail/tbb/partitioner.hpp>

namespace tbb {

/// Divides a range until no part is divisible.
class simple_partitioner {
 public:
  static constexpr ::sukima::detail::tbb::division how = ::sukima::detail::tbb::division::fully;
};
/// Divides a range as long as that pays: parts take at least about a microsecond.
class auto_partitioner {
 public:
  static constexpr ::sukima::detail::tbb::division how = ::sukima::detail::tbb::division::adaptive;
};
/// Divides a range into one part for each worker.
class static_partitioner {
 public:
  static constexpr ::sukima::detail::tbb::division how = ::sukima::detail::tbb::division::evenly;
};
/// As auto_partitioner, with the proportional splits of ranges that have them.
class affinity_partitioner {
 public:
  affinity_partitioner() = default;
  affinity_partitioner(const affinity_partitioner&) = delete;
  affinity_partitioner& operator=(const affinity_partitioner&) = delete;
  static constexpr ::sukima::detail::tbb::division how = ::sukima::detail::tbb::division::proportionally;
};

}  // namespace tbb

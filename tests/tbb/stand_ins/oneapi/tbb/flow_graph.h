// SPDX-License-Identifier: Apache-2.0
// Stands for oneTBB's flow_graph.h in oneTBB's own tests, whose common headers include it. It has the names
// that they mention, and includes the public headers that oneTBB's includes.
#pragma once

#include <oneapi/tbb/cache_aligned_allocator.h>
#include <oneapi/tbb/null_mutex.h>
#include <oneapi/tbb/null_rw_mutex.h>
#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>
#include <oneapi/tbb/task_arena.h>

#include <concepts>

namespace tbb::detail {
template <class R>
concept tbb_range = std::copy_constructible<R>;
}  // namespace tbb::detail

namespace tbb::flow {
struct continue_msg {};
template <class...> struct multifunction_node {
  using output_ports_type = void;
};
template <class...> struct async_node {
  using gateway_type = void;
};
}  // namespace tbb::flow

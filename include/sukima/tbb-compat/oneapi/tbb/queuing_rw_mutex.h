// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/profiling.h>
#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
class queuing_rw_mutex : public ::sukima::detail::tbb::shared_lock<true> {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_shared_lock_of<queuing_rw_mutex>;
};
}  // namespace tbb

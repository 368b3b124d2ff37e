// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/profiling.h>
#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
class mutex : public ::sukima::detail::tbb::exclusive_lock<false> {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_lock_of<mutex>;
};
}  // namespace tbb

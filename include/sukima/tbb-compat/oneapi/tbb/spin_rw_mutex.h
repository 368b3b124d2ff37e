// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <oneapi/tbb/profiling.h>
#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
/// A mutex whose waiting threads sleep, because a spinning thread could take the CPU from the owner.
class spin_rw_mutex : public ::sukima::detail::tbb::shared_lock<false> {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_shared_lock_of<spin_rw_mutex>;
};
class speculative_spin_rw_mutex : public ::sukima::detail::tbb::shared_lock<false> {
 public:
  using scoped_lock = ::sukima::detail::tbb::scoped_shared_lock_of<speculative_spin_rw_mutex>;
};
}  // namespace tbb

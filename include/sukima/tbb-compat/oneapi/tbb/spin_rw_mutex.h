// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
/// Its threads sleep: a spinning thread would take the CPU from the owner.
using spin_rw_mutex = ::sukima::detail::tbb::shared_lock<false>;
using speculative_spin_rw_mutex = spin_rw_mutex;
}  // namespace tbb

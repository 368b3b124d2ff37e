// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
/// Its threads sleep: a spinning thread would take the CPU from the owner.
using spin_mutex = ::sukima::detail::tbb::exclusive_lock<false>;
using speculative_spin_mutex = spin_mutex;
}  // namespace tbb

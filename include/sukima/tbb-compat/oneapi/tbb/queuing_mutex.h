// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
using queuing_mutex = ::sukima::detail::tbb::exclusive_lock<true>;
}  // namespace tbb

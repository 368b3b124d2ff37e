// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
using queuing_rw_mutex = ::sukima::detail::tbb::shared_lock<true>;
}  // namespace tbb

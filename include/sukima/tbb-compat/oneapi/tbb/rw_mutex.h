// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
using rw_mutex = ::sukima::detail::tbb::shared_lock<false>;
}  // namespace tbb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sukima/detail/tbb/locks.hpp>
#include <sukima/detail/tbb/names.hpp>

namespace tbb {
using mutex = ::sukima::detail::tbb::exclusive_lock<false>;
}  // namespace tbb

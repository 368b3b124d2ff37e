// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <polling_yield.h>

#include <cstddef>

namespace tbb::detail::r1 {
/// A function of oneTBB's library: what cache_aligned_allocator aligns to.
inline std::size_t cache_line_size() { return 128; }
}  // namespace tbb::detail::r1

// SPDX-License-Identifier: Apache-2.0
// Keys of tasks by number, for tests of hierarchical omission.
#pragma once

#include "hope/named_task.hpp"

#include <cstdint>

namespace hope_keys {

inline sukima::cluster::hope::task_key key(std::uint64_t n) { return {.high = 0, .low = n}; }

}  // namespace hope_keys

// SPDX-License-Identifier: Apache-2.0
// Sleeping and waking (park.cpp).
#pragma once

#include <cstdint>

namespace sukima::detail {

/// Counts of entries, searchers and sleepers in one word, changed by CAS only (sleep.cpp).
struct census {
  std::uint16_t active = 0;  ///< entries that have not left
  std::uint16_t searchers = 0;  ///< idle workers that look for work, the watch included
  std::uint16_t sleepers = 0;  ///< idle workers that sleep until they are promoted
  std::uint16_t version = 0;
};

}  // namespace sukima::detail

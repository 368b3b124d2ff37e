// SPDX-License-Identifier: Apache-2.0
// Counts in texts.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace sukima::lab {

/// Returns "1 claim", "2 claims".
inline std::string count_text(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace sukima::lab

// SPDX-License-Identifier: Apache-2.0
// Writes bytes as text, for tokens and the identities of programs.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace sukima::cluster {

/// Returns two digits for each byte, the higher half first.
inline std::string hexadecimal(std::span<const std::byte> binary) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const std::byte b : binary) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 15];
  }
  return text;
}

}  // namespace sukima::cluster

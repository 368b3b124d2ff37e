// SPDX-License-Identifier: Apache-2.0
// Parses a number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sukima {

/// Returns the whole text as a number. Nothing if it is not a number of this type, or has further characters.
/// \param format  as for std::from_chars: std::chars_format for fractions, the base for whole numbers
template <class Number, class... Format>
std::optional<Number> parse_number(std::string_view text, Format... format) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace sukima

// SPDX-License-Identifier: Apache-2.0
// A text as a number.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace sukima {

/// The number that the whole text is. Nothing if it is not a number of this type, or has more characters.
/// \param format  as std::from_chars: std::chars_format for fractions, the base for whole numbers
template <class Number, class... Format>
std::optional<Number> parse_number(std::string_view text, Format... format) noexcept {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, format...);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

}  // namespace sukima

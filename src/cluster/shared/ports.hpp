// SPDX-License-Identifier: Apache-2.0
// The ports where nodes may listen.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace sukima::cluster {

/// A range that includes both ends.
struct port_range {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  unsigned size() const noexcept { return last - first + 1u; }
};

/// Reads N or N-M, numbers from 1 to 65535. Nothing: the text is neither, or M is less than N.
inline std::optional<port_range> read_ports(std::string_view text) noexcept {
  const auto number_in = [](std::string_view digits) noexcept {
    std::uint16_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end ? value : std::uint16_t{0};
  };
  const std::size_t dash = text.find('-');
  const std::uint16_t first = number_in(text.substr(0, dash));
  const std::uint16_t last = dash == text.npos ? first : number_in(text.substr(dash + 1));
  if (first == 0 || last < first) return {};
  return port_range{first, last};
}

inline std::string write_ports(const port_range& ports) {
  return std::to_string(ports.first) + "-" + std::to_string(ports.last);
}

}  // namespace sukima::cluster

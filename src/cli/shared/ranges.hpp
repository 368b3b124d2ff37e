// SPDX-License-Identifier: Apache-2.0
// Checks of arguments: numbers within bounds, and choices.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <base/shared/parse_number.hpp>
#include "console.hpp"

namespace sukima::cli {

/// Returns the digits of a number without leading blanks and a plus sign, which scripts may add.
inline std::string_view digits_of(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  return text.starts_with('+') ? std::string_view() : text;
}

/// Checks that an argument is a decimal number from `least` to `most`. Unlike CLI::Range it refuses "nan",
/// and has its own message for an argument that is not a number. The parser reads 010 as octal and refuses
/// 08, so it receives whole numbers without leading zeros.
template <class Number>
CLI::Validator number_range(Number least, Number most) {
  constexpr bool is_real = std::floating_point<Number>;
  const std::string bounds = fmt::format("{} to {}", least, most);
  const char* const type = is_real ? "FLOAT" : std::unsigned_integral<Number> ? "UINT" : "INT";
  const char* const kind = is_real ? "" : "whole ";
  return {[least, most, bounds, kind](std::string& input) {
            const std::string_view digits = digits_of(input);
            std::optional<Number> value;
            if constexpr (is_real)
              value = parse_number<Number>(digits, std::chars_format::general);
            else
              value = parse_number<Number>(digits);
            if (value && *value >= least && *value <= most) {
              input = is_real ? std::string(digits) : fmt::format("{}", *value);
              return std::string();
            }
            const auto any = parse_number<double>(digits, std::chars_format::general);
            if (any && !(*any >= static_cast<double>(least) && *any <= static_cast<double>(most)))
              return fmt::format("{} is out of range: give a {}number from {}", input, kind, bounds);
            return fmt::format("'{}' is not a {}number: give one from {}", input, kind, bounds);
          },
          is_real ? fmt::format("{} in [{:.6} - {:.6}]", type, double(least), double(most))
                  : fmt::format("{} in [{} - {}]", type, least, most)};
}

/// Checks that an argument is one of these choices, which the help lists. Unlike the message of
/// CLI::IsMember, its message is a sentence.
inline CLI::Validator one_of(std::vector<std::string> choices) {
  std::string listed = "{" + CLI::detail::join(choices, ",") + "}";
  return {[choices = std::move(choices)](std::string& input) {
            if (std::ranges::find(choices, input) != choices.end()) return std::string();
            return fmt::format("there is no '{}': choose {}", input, join_words(choices));
          },
          std::move(listed)};
}

}  // namespace sukima::cli

// SPDX-License-Identifier: Apache-2.0
// Checks of arguments: numbers within bounds, and words to choose from.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "console.hpp"

namespace sukima::cli {

/// Checks that an argument is a number from `least` to `most`. In contrast to CLI::Range it refuses "nan",
/// and has a sentence of its own for an argument that is not a number.
template <class Number>
CLI::Validator number_range(Number least, Number most) {
  constexpr bool is_real = std::floating_point<Number>;
  const std::string bounds = fmt::format("{} to {}", least, most);
  const char* const type = is_real ? "FLOAT" : std::unsigned_integral<Number> ? "UINT" : "INT";
  const char* const kind = is_real ? "" : "whole ";
  return {[least, most, bounds, kind](std::string& input) {
            Number value{};
            if (CLI::detail::lexical_cast(input, value) && value >= least && value <= most)
              return std::string();
            double any = 0;
            const bool is_number = CLI::detail::lexical_cast(input, any);
            if (is_number && (is_real || any == std::round(any)))
              return fmt::format("{} is out of range: give a {}number from {}", input, kind, bounds);
            return fmt::format("'{}' is not a {}number: give one from {}", input, kind, bounds);
          },
          is_real ? fmt::format("{} in [{:.6} - {:.6}]", type, double(least), double(most))
                  : fmt::format("{} in [{} - {}]", type, least, most)};
}

/// Checks that an argument is one of these words, which the help lists. In contrast to CLI::IsMember the
/// message is a sentence.
inline CLI::Validator one_of(std::vector<std::string> words) {
  std::string listed = "{" + CLI::detail::join(words, ",") + "}";
  return {[words = std::move(words)](std::string& input) {
            if (std::ranges::find(words, input) != words.end()) return std::string();
            return fmt::format("there is no '{}': choose {}", input, join_words(words));
          },
          std::move(listed)};
}

}  // namespace sukima::cli

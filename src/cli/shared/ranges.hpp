// SPDX-License-Identifier: Apache-2.0
// Bounds of options that are numbers.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <concepts>
#include <string>

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

}  // namespace sukima::cli

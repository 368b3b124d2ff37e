// SPDX-License-Identifier: Apache-2.0
// Bounds of options that are real numbers.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>

namespace sukima::cli {

/// From `least` to `most`, as CLI::Range, which lets "nan" pass.
inline CLI::Validator real_range(double least, double most) {
  return {[least, most](std::string& input) {
            double value = 0;
            const bool is_inside = CLI::detail::lexical_cast(input, value) && value >= least && value <= most;
            return is_inside ? std::string()
                             : fmt::format("Value {} not in range {:f} to {:f}", input, least, most);
          },
          fmt::format("FLOAT in [{:g} - {:g}]", least, most)};
}

}  // namespace sukima::cli

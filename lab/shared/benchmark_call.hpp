// SPDX-License-Identifier: Apache-2.0
// The command lines of measured programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sukima::lab {

/// Returns the arguments of a benchmark program after its file (lab/benchmarks/README.md).
/// \param size nothing: the program's own default
std::vector<std::string> benchmark_arguments(const std::string& benchmark, std::optional<std::int64_t> size,
                                             unsigned workers, unsigned repetitions);

/// Pairs of a mark, such as "{workers}", and its value.
using marked_values = std::vector<std::pair<std::string_view, std::string>>;

/// Replaces each mark of the text by its value. Other text in braces is unchanged.
std::string fill_in(std::string_view text, const marked_values& values);

}  // namespace sukima::lab

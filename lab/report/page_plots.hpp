// SPDX-License-Identifier: Apache-2.0
// Plots in a page: SVG that needs no other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sukima::lab {

/// Escapes `text` for the content or an attribute of HTML and SVG.
std::string html_escaped(const std::string& text);

/// Returns bars of one program's cells (of report_json): a group for each environment, a bar for each
/// setting, and whiskers from the first to the third quartile. The scale is logarithmic if the medians differ
/// by more than a factor of twenty. O(cells).
std::string bars_svg(const nlohmann::ordered_json& cells, const std::string& program);

/// Returns a plot of the ratios of a claim (of report_json) with their intervals, and its bound as a line;
/// empty without ratios. O(cells).
std::string ratios_svg(const nlohmann::ordered_json& claim);

}  // namespace sukima::lab

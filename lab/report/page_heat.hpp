// SPDX-License-Identifier: Apache-2.0
// Heat maps in a page: tables with coloured cells, which need no other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sukima::lab {

/// Returns the ratios of a claim (of report_json) as a table: a row for each program, and a column for each
/// environment or for the worst one. A cell shows its ratio and the mark of its verdict, so that colours are
/// not necessary. If the claim does not hold there, the cell has a frame. Empty for fewer than three cells.
/// O(cells · (programs + columns)).
std::string heat_map_html(const nlohmann::ordered_json& claim);

/// Returns the legend of the colours and marks.
std::string heat_legend_html();

}  // namespace sukima::lab

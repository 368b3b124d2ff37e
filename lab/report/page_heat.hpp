// SPDX-License-Identifier: Apache-2.0
// Heat maps in a page: tables with coloured cells, which need no other file.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace sukima::lab {

/// The ratios of a claim (of report_json): a row for each program, a column for each environment, or one for
/// the worst of them. A cell has its ratio and the mark of its verdict, so that nothing is said by colour
/// alone, and a frame where the claim does not hold. On one line; empty for fewer than three cells.
/// O(cells · (programs + columns)).
std::string heat_map_html(const nlohmann::ordered_json& claim);

/// What the colours and marks of these tables mean.
std::string heat_legend_html();

}  // namespace sukima::lab

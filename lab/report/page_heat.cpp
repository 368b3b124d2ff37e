// SPDX-License-Identifier: Apache-2.0
// Heat maps in a page; see page_heat.hpp.
#include "report/page_heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "report/page_plots.hpp"
#include "shared/statistics.hpp"
#include "shared/verdict.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

/// With fewer cells, the ratios with their intervals suffice; as in lab/scripts/plot-lab.py.
constexpr std::size_t fewest_heat_cells = 3;

/// Red, green and blue of the strongest colours. Colour-blind safe (Okabe and Ito), and so light that dark
/// text is readable on them.
constexpr std::array<double, 3> below_one = {0x56, 0xB4, 0xE9}, above_one = {0xE6, 0x9F, 0x00};

/// White at 1, and the strongest colour from a half or from 2 on. The colours between follow the logarithm,
/// so that twice as long and half as long are equally strong. All tables have the same scale.
std::string heat_fill(double ratio) {
  const double strength = std::clamp(std::log2(ratio), -1.0, 1.0);
  const std::array<double, 3>& strongest = strength < 0 ? below_one : above_one;
  const auto mixed = [&](std::size_t part) {
    return std::lround(255 + (strongest[part] - 255) * std::abs(strength));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
}

/// A part of a ratio; the report has null for an infinite one.
double heat_value(const ordered_json& from) {
  return from.is_number() ? from.get<double>() : std::numeric_limits<double>::infinity();
}

std::string heat_number(double value) {
  return std::isfinite(value) ? fmt::format("{}", round_significant(value, 3)) : "infinite";
}

/// The mark beside a ratio; as in lab/scripts/plot-lab.py.
std::string mark_of(const std::string& outcome) {
  if (outcome == name_of(verdict::does_not_hold)) return "×";
  if (outcome == name_of(verdict::undecided)) return "?";
  return outcome == name_of(verdict::cannot_be_shown) ? "–" : "";
}

/// Whether the cell's environment is only the worst of several.
bool is_worst_of_several(const ordered_json& cell) {
  const auto found = cell.find("worst_of");
  return found != cell.end() && found->size() > 1;
}

/// The worst environments share one column, because each program has only one.
std::string heat_column(const ordered_json& cell) {
  if (is_worst_of_several(cell)) return fmt::format("worst of {}", cell.at("worst_of").size());
  return cell.at("environment").get<std::string>();
}

/// The tooltip of a cell: its verdict, its interval, and the reason.
std::string heat_title(const ordered_json& cell) {
  std::string text = cell.at("verdict").get<std::string>();
  if (const auto ratio = cell.find("ratio"); ratio != cell.end())
    text += fmt::format(", {} to {}", heat_number(heat_value(ratio->at("low"))),
                        heat_number(heat_value(ratio->at("high"))));
  if (const auto reason = cell.find("reason"); reason != cell.end())
    text += ": " + reason->get<std::string>();
  return text;
}

std::string heat_cell_html(const ordered_json& cell) {
  const std::string outcome = cell.at("verdict").get<std::string>();
  std::string attributes = fmt::format("title=\"{}\"", html_escaped(heat_title(cell)));
  if (outcome == name_of(verdict::does_not_hold)) attributes += " class=\"fails\"";
  std::string text = mark_of(outcome);
  if (const auto ratio = cell.find("ratio"); ratio != cell.end()) {
    const double estimate = heat_value(ratio->at("estimate"));
    attributes += fmt::format(" style=\"background: {}\"", heat_fill(estimate));
    text = heat_number(estimate) + (text.empty() ? "" : " ") + text;
    // Without a ratio the worst environment is unknown.
    if (is_worst_of_several(cell)) text += "<br>" + html_escaped(cell.at("environment").get<std::string>());
  }
  return fmt::format("<td {}>{}</td>", attributes, text);
}

void add_once(std::vector<std::string>& to, const std::string& name) {
  if (std::ranges::find(to, name) == to.end()) to.push_back(name);
}

}  // namespace

std::string heat_map_html(const ordered_json& claim) {
  const ordered_json& cells = claim.at("cells");
  if (cells.size() < fewest_heat_cells) return {};
  std::vector<std::string> programs, columns;
  std::map<std::pair<std::string, std::string>, const ordered_json*> found;
  for (const ordered_json& cell : cells) {
    const std::string program = cell.at("program").get<std::string>();
    const std::string column = heat_column(cell);
    add_once(programs, program);
    add_once(columns, column);
    found.emplace(std::pair(program, column), &cell);
  }
  std::string html = fmt::format(
      "<table class=\"heat\"><caption>Ratios, to be {} {:g}</caption><tr><th scope=\"col\">program</th>",
      html_escaped(claim.at("relation").get<std::string>()), claim.at("bound").get<double>());
  for (const std::string& column : columns)
    html += fmt::format("<th scope=\"col\">{}</th>", html_escaped(column));
  for (const std::string& program : programs) {
    html += fmt::format("</tr><tr><th scope=\"row\">{}</th>", html_escaped(program));
    for (const std::string& column : columns) {
      const auto at = found.find(std::pair(program, column));
      html += at == found.end() ? "<td></td>" : heat_cell_html(*at->second);
    }
  }
  return html + "</tr></table>";
}

std::string heat_legend_html() {
  const auto shade = [](double ratio, const char* words) {
    return fmt::format("<span class=\"shade\" style=\"background: {}\">{}</span>", heat_fill(ratio), words);
  };
  const auto mark = [](verdict one) {
    const std::string outcome = name_of(one);
    return mark_of(outcome) + ": " + outcome;
  };
  return fmt::format(
      "<p class=\"legend\">The colours of ratios: {} {} {} {} {}; grey where there is none. "
      "No mark: {}; with a frame and {}; {}; {}.</p>\n",
      shade(0.5, "0.5 or less"), shade(0.75, "0.75"), shade(1, "1"), shade(1.5, "1.5"), shade(2, "2 or more"),
      name_of(verdict::holds), mark(verdict::does_not_hold), mark(verdict::undecided),
      mark(verdict::cannot_be_shown));
}

}  // namespace sukima::lab

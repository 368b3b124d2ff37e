// SPDX-License-Identifier: Apache-2.0
// Plots in a page; see page_plots.hpp.
#include "report/page_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

/// Colour-blind safe (Okabe and Ito).
constexpr std::array colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                "#56B4E9", "#D55E00", "#F0E442", "#999999"};

/// Positions of values on an axis of a length.
class scale {
 public:
  scale(std::vector<double> values, double length, bool from_zero) : length_(length) {
    std::erase_if(values, [](double one) { return !(one > 0); });
    if (values.empty()) values = {1};
    const auto [least, most] = std::ranges::minmax(values);
    logarithmic_ = most > 20 * least;
    high_ = most * 1.05;
    low_ = logarithmic_ ? least / 1.5 : from_zero ? 0 : least / 1.05;
  }
  bool logarithmic() const { return logarithmic_; }
  double high() const { return high_; }
  double low() const { return low_; }
  double at(double value) const {
    value = std::clamp(value, low_, high_);
    const double part =
        logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
    return part * length_;
  }

 private:
  double length_, low_ = 0, high_ = 1;
  bool logarithmic_ = false;
};

std::optional<double> number(const ordered_json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::vector<std::string> in_order(const ordered_json& cells, const char* name) {
  std::vector<std::string> all;
  for (const ordered_json& cell : cells)
    if (const std::string one = cell.at(name); std::ranges::find(all, one) == all.end()) all.push_back(one);
  return all;
}

std::string text_svg(double x, double y, const std::string& text, const char* more = "") {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' {}>{}</text>", x, y, more, html_escaped(text));
}

std::string open_svg(double width, double height, const std::string& label) {
  return fmt::format(
      "<svg role='img' viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' height='{1:.0f}' "
      "xmlns='http://www.w3.org/2000/svg'><title>{2}</title>",
      width, height, html_escaped(label));
}

/// One bar with its whiskers, or "stopped".
std::string bar_svg(const ordered_json& cell, const scale& heights, double x, double width, double bottom,
                    const char* colour) {
  const auto median = number(cell, "median");
  if (!median)
    return cell.value("rounds", 0) > 0
               ? text_svg(
                     x, bottom - 2, "stopped",
                     fmt::format("transform='rotate(-90 {:.1f} {:.1f})'", x + width / 2, bottom - 2).c_str())
               : std::string();
  const double height = heights.at(*median);
  std::string svg = fmt::format(
      "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'><title>{}, {}: "
      "{:.3g}</title></rect>",
      x, bottom - height, width * 0.9, height, colour, html_escaped(cell.at("setting")),
      html_escaped(cell.at("environment")), *median);
  const double middle = x + width * 0.45;
  if (const auto low = number(cell, "q1"), high = number(cell, "q3"); low && high)
    svg += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}' stroke='#333'/>", middle,
                       bottom - heights.at(*low), bottom - heights.at(*high));
  return svg;
}

/// The names of the settings with their colours, from `y` on.
std::string legend_svg(const std::vector<std::string>& settings, double y) {
  std::string svg;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const double x = 50 + 170.0 * static_cast<double>(i % 4), line = y + 16.0 * static_cast<double>(i / 4);
    svg += fmt::format("<rect x='{:.0f}' y='{:.0f}' width='10' height='10' fill='{}'/>", x, line,
                       colours[i % colours.size()]) +
           text_svg(x + 14, line + 9, settings[i]);
  }
  return svg;
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else if (c == '\'')
      safe += "&#39;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

std::string bars_svg(const ordered_json& cells, const std::string& program, const std::string& unit) {
  ordered_json own = ordered_json::array();
  std::vector<double> values;
  for (const ordered_json& cell : cells) {
    if (cell.at("program") != program) continue;
    own.push_back(cell);
    for (const char* name : {"median", "q3"}) values.push_back(number(cell, name).value_or(0));
  }
  constexpr double left = 50, bottom = 170, tall = 140;
  const std::vector<std::string> settings = in_order(own, "setting"), places = in_order(own, "environment");
  const double wide = std::max(60.0, 16.0 * static_cast<double>(settings.size()) + 14);
  const scale heights(values, tall, true);
  const double lines = std::ceil(static_cast<double>(settings.size()) / 4);
  const double width = std::max(740.0, left + wide * static_cast<double>(places.size()) + 10);
  std::string svg = open_svg(width, bottom + 34 + 16 * lines, program) + text_svg(left, 14, program);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto group = static_cast<double>(
        std::ranges::find(places, own[i].at("environment").get<std::string>()) - places.begin());
    const auto place =
        std::ranges::find(settings, own[i].at("setting").get<std::string>()) - settings.begin();
    const double one = (wide - 14) / static_cast<double>(settings.size());
    svg += bar_svg(own[i], heights, left + group * wide + one * static_cast<double>(place), one, bottom,
                   colours[static_cast<std::size_t>(place) % colours.size()]);
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    svg += text_svg(left + wide * static_cast<double>(i), bottom + 14, places[i]);
  for (const double part : {0.0, 1.0})
    svg += text_svg(0, bottom - part * tall + 4,
                    fmt::format("{:.2g}", part > 0 ? heights.high() : heights.low()));
  svg += text_svg(0, 14, unit + (heights.logarithmic() ? ", log" : ""));
  svg +=
      fmt::format("<line x1='{0}' x2='{1:.0f}' y1='{2}' y2='{2}' stroke='#333'/>", left, width - 10, bottom);
  return svg + legend_svg(settings, bottom + 24) + "</svg>\n";
}

std::string ratios_svg(const ordered_json& claim) {
  std::vector<double> values;
  std::size_t count = 0;
  for (const ordered_json& cell : claim.at("cells")) {
    if (!cell.contains("ratio")) continue;
    ++count;
    for (const char* name : {"estimate", "low", "high"})
      values.push_back(number(cell.at("ratio"), name).value_or(0));
  }
  if (count == 0) return {};
  const double bound = claim.at("bound").get<double>();
  values.push_back(bound);
  constexpr double left = 190, length = 380, line = 20;
  const scale across(values, length, false);
  const double height = 24 + line * static_cast<double>(count);
  std::string svg = open_svg(left + length + 150, height, claim.at("name"));
  double y = 14;
  for (const ordered_json& cell : claim.at("cells")) {
    if (!cell.contains("ratio")) continue;
    const ordered_json& ratio = cell.at("ratio");
    const auto position = [&](const char* name) {
      return left + across.at(number(ratio, name).value_or(across.high()));
    };
    svg += text_svg(0, y + 4,
                    cell.at("program").get<std::string>() + ", " + cell.at("environment").get<std::string>());
    svg += fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{}' y2='{}' stroke='#0072B2' stroke-width='2'/>",
                       position("low"), position("high"), y, y);
    svg += fmt::format("<circle cx='{:.1f}' cy='{}' r='4' fill='#0072B2'/>", position("estimate"), y);
    svg += text_svg(left + length + 10, y + 4, cell.at("verdict"));
    y += line;
  }
  svg += fmt::format(
      "<line x1='{0:.1f}' x2='{0:.1f}' y1='4' y2='{1:.0f}' stroke='#D55E00' stroke-dasharray='4'/>",
      left + across.at(bound), height - 14);
  svg += text_svg(left + across.at(bound) - 10, height - 2, fmt::format("{:g}", bound));
  return svg + "</svg>\n";
}

}  // namespace sukima::lab

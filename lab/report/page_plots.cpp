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
constexpr std::array colours = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9",
                                "#D55E00", "#F0E442", "#999999", "#222222"};
/// Largest average width of a character in the plots' font of 11 pixels.
constexpr double character = 6.6;

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
  /// About five round values from the lowest to the highest. A logarithmic scale has 1, 2 and 5, or powers of
  /// ten.
  std::vector<double> ticks() const {
    std::vector<double> all;
    if (!logarithmic_) {
      double step = std::pow(10.0, std::floor(std::log10((high_ - low_) / 4)));
      for (const double factor : {2.0, 2.5, 2.0})
        if ((high_ - low_) / step > 6) step *= factor;
      for (double i = std::ceil(low_ / step); i * step <= high_; ++i) all.push_back(i * step);
      return all;
    }
    const bool few = high_ / low_ > 1000;
    for (double power = std::pow(10.0, std::floor(std::log10(low_))); power <= high_; power *= 10)
      for (const double factor : {1.0, 2.0, 5.0})
        if (const double one = power * factor; one >= low_ && one <= high_ && (!few || factor == 1))
          all.push_back(one);
    return all;
  }
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
      "font-family='sans-serif' font-size='11' xmlns='http://www.w3.org/2000/svg'><title>{2}</title>",
      width, height, html_escaped(label));
}

/// The width of the widest text.
double width_of(const std::vector<std::string>& texts) {
  std::size_t most = 0;
  for (const std::string& one : texts) most = std::max(most, one.size());
  return character * static_cast<double>(most);
}

/// The colour of a setting. Colours that are used again are paler.
std::string fill_of(std::size_t setting) {
  return fmt::format("fill='{}' fill-opacity='{}'", colours[setting % colours.size()],
                     setting < colours.size() ? 1 : 0.5);
}

/// One bar with its whiskers, or "stopped".
std::string bar_svg(const ordered_json& cell, const scale& heights, double x, double width, double bottom,
                    const std::string& fill) {
  const auto median = number(cell, "median");
  if (!median) {
    if (cell.value("rounds", 0) == 0) return {};
    // Upwards from the axis, its base line right of the bar's middle.
    const double middle = x + width / 2 + 4, foot = bottom - 4;
    return text_svg(middle, foot, "stopped",
                    fmt::format("transform='rotate(-90 {:.1f} {:.1f})'", middle, foot).c_str());
  }
  const double height = heights.at(*median);
  std::string svg = fmt::format(
      "<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' {}><title>{}, {}: "
      "{:.3g}</title></rect>",
      x, bottom - height, width * 0.9, height, fill, html_escaped(cell.at("setting")),
      html_escaped(cell.at("environment")), *median);
  const double middle = x + width * 0.45;
  if (const auto low = number(cell, "q1"), high = number(cell, "q3"); low && high)
    svg += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1:.1f}' y2='{2:.1f}' stroke='#333'/>", middle,
                       bottom - heights.at(*low), bottom - heights.at(*high));
  return svg;
}

/// The columns of the legend below the bars, and their width.
struct legend_columns {
  double width;
  std::size_t count;
};

legend_columns columns_of(const std::vector<std::string>& settings, double room) {
  const double width = width_of(settings) + 34;
  return {width, static_cast<std::size_t>(std::max(1.0, std::floor(room / width)))};
}

/// The names of the settings with their colours, from `left` and `y` on.
std::string legend_svg(const std::vector<std::string>& settings, const legend_columns& columns, double left,
                       double y) {
  std::string svg;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const double x = left + columns.width * static_cast<double>(i % columns.count);
    const std::size_t row = i / columns.count;
    const double line = y + 16.0 * static_cast<double>(row);
    svg += fmt::format("<rect x='{:.0f}' y='{:.0f}' width='10' height='10' {}/>", x, line, fill_of(i)) +
           text_svg(x + 14, line + 9, settings[i]);
  }
  return svg;
}

/// Lines across a plot of bars, with their values.
std::string heights_svg(const scale& heights, double left, double right, double bottom) {
  std::string svg;
  for (const double one : heights.ticks()) {
    const double y = bottom - heights.at(one);
    svg += fmt::format("<line x1='{:.0f}' x2='{:.0f}' y1='{:.1f}' y2='{:.1f}' stroke='#ddd'/>", left, right,
                       y, y);
    svg += text_svg(left - 6, y + 4, fmt::format("{:.3g}", one), "text-anchor='end'");
  }
  return svg;
}

/// The label of a ratio's line.
std::string label_of(const ordered_json& cell) {
  return fmt::format("{}, {}{}", cell.at("program").get<std::string>(),
                     cell.at("environment").get<std::string>(), cell.contains("worst_of") ? " (worst)" : "");
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

std::string bars_svg(const ordered_json& cells, const std::string& program) {
  ordered_json own = ordered_json::array();
  std::vector<double> values;
  for (const ordered_json& cell : cells) {
    if (cell.at("program") != program) continue;
    own.push_back(cell);
    for (const char* name : {"median", "q3"}) values.push_back(number(cell, name).value_or(0));
  }
  constexpr double left = 60, bottom = 170, tall = 140;
  const std::vector<std::string> settings = in_order(own, "setting"), places = in_order(own, "environment");
  const double bars = 16.0 * static_cast<double>(settings.size()) + 14;
  const double wide = std::max(bars, width_of(places) + 10);
  const scale heights(values, tall, true);
  const double width = std::max(
      {340.0, left + wide * static_cast<double>(places.size()) + 10, left + width_of(settings) + 44});
  const legend_columns columns = columns_of(settings, width - left);
  const std::size_t rows = (settings.size() + columns.count - 1) / columns.count;
  const std::vector<std::string> units = in_order(own, "unit");
  const std::string title = fmt::format("{}, {}{}", program, fmt::join(units, " or "),
                                        heights.logarithmic() ? ", logarithmic" : "");
  std::string svg = open_svg(width, bottom + 34 + 16 * static_cast<double>(rows), program) +
                    text_svg(left, 14, title) + heights_svg(heights, left, width - 10, bottom);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto group = static_cast<double>(
        std::ranges::find(places, own[i].at("environment").get<std::string>()) - places.begin());
    const auto place = static_cast<std::size_t>(
        std::ranges::find(settings, own[i].at("setting").get<std::string>()) - settings.begin());
    const double one = (bars - 14) / static_cast<double>(settings.size());
    svg += bar_svg(own[i], heights, left + group * wide + one * static_cast<double>(place), one, bottom,
                   fill_of(place));
  }
  for (std::size_t i = 0; i < places.size(); ++i)
    svg += text_svg(left + wide * static_cast<double>(i), bottom + 14, places[i]);
  svg +=
      fmt::format("<line x1='{0}' x2='{1:.0f}' y1='{2}' y2='{2}' stroke='#333'/>", left, width - 10, bottom);
  return svg + legend_svg(settings, columns, left, bottom + 24) + "</svg>\n";
}

std::string ratios_svg(const ordered_json& claim) {
  std::vector<double> values;
  std::vector<std::string> labels;
  for (const ordered_json& cell : claim.at("cells")) {
    if (!cell.contains("ratio")) continue;
    labels.push_back(label_of(cell));
    for (const char* name : {"estimate", "low", "high"})
      values.push_back(number(cell.at("ratio"), name).value_or(0));
  }
  if (labels.empty()) return {};
  const double bound = claim.at("bound").get<double>();
  values.push_back(bound);
  constexpr double length = 260, line = 20;
  const double left = width_of(labels) + 16;
  const scale across(values, length, false);
  const double bottom = 4 + line * static_cast<double>(labels.size());
  std::string svg = open_svg(left + length + 150, bottom + 20, claim.at("name"));
  const auto at_bound = left + across.at(bound);
  for (const double one : across.ticks()) {
    const double x = left + across.at(one);
    svg += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='4' y2='{1:.0f}' stroke='#ddd'/>", x, bottom);
    if (std::abs(x - at_bound) > 40)
      svg += text_svg(x, bottom + 14, fmt::format("{:.3g}", one), "text-anchor='middle'");
  }
  double y = 14;
  for (const ordered_json& cell : claim.at("cells")) {
    if (!cell.contains("ratio")) continue;
    const ordered_json& ratio = cell.at("ratio");
    const auto position = [&](const char* name) {
      return left + across.at(number(ratio, name).value_or(across.high()));
    };
    svg += text_svg(0, y + 4, label_of(cell));
    svg += fmt::format("<line x1='{:.1f}' x2='{:.1f}' y1='{}' y2='{}' stroke='#0072B2' stroke-width='2'/>",
                       position("low"), position("high"), y, y);
    svg += fmt::format("<circle cx='{:.1f}' cy='{}' r='4' fill='#0072B2'/>", position("estimate"), y);
    svg += text_svg(left + length + 10, y + 4, cell.at("verdict"));
    y += line;
  }
  svg += fmt::format(
      "<line x1='{0:.1f}' x2='{0:.1f}' y1='4' y2='{1:.0f}' stroke='#D55E00' stroke-dasharray='4'/>", at_bound,
      bottom);
  svg += text_svg(at_bound, bottom + 14, fmt::format("{:g}", bound), "text-anchor='middle' fill='#A04000'");
  return svg + "</svg>\n";
}

}  // namespace sukima::lab

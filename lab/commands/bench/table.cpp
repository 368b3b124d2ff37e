// SPDX-License-Identifier: Apache-2.0
// Figures as aligned tables for people; see report.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include <cli/shared/console.hpp>
#include "bench/catalogue.hpp"
#include "bench/report.hpp"

namespace sukima::cli::bench {
namespace {

struct time_unit {
  double seconds;
  std::string_view name;
};

/// The unit in which the smallest time of a table has digits before the point.
time_unit unit_for(std::span<const summary> figures) {
  constexpr std::array<time_unit, 4> units{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  double smallest = 0;
  for (const summary& s : figures) {
    const double median = s.seconds.median;
    if (median > 0 && (smallest == 0 || median < smallest)) smallest = median;
  }
  // Tenths of a second read well as seconds.
  const auto fits = [&](const time_unit& unit) { return smallest >= 0.1 * unit.seconds; };
  const auto found = std::ranges::find_if(units, fits);
  return smallest == 0 || found == units.end() ? units[0] : *found;
}

std::string in_unit(double seconds, const time_unit& unit) {
  return fmt::format("{:.3f}", seconds / unit.seconds);
}

std::string optional_ratio(const std::optional<double>& ratio) {
  return ratio ? fmt::format("{:.2f}", *ratio) : "-";
}

std::optional<double> slowest_ratio(const summary& s) {
  if (!(s.seconds.median > 0)) return std::nullopt;
  return s.slowest / s.seconds.median;
}

struct cell {
  std::string text;
  bool left = false;
};

using table_line = std::vector<cell>;

/// The paired ratio of a peer's row, from Sukima's row with as many workers.
std::string paired_ratio(std::span<const summary> figures, const summary& peer) {
  for (const summary& own : figures) {
    const auto found = own.paired.find(peer.task.system);
    if (own.task.workers != peer.task.workers || found == own.paired.end()) continue;
    const bool same = own.task.compiler == peer.task.compiler;
    const bool other_is_same = std::ranges::any_of(figures, [&](const summary& s) {
      return s.task.system == own.task.system && s.task.workers == own.task.workers &&
             s.task.compiler == peer.task.compiler;
    });
    if (!same && other_is_same) continue;
    const interval& ratio = found->second;
    return fmt::format("{:.3f} [{:.3f}, {:.3f}]", ratio.estimate, ratio.low, ratio.high);
  }
  return "-";
}

std::string heading(const summary& s, const table_style& style) {
  const scenario_entry* const scenario = find_scenario(s.task.scenario);
  const std::string size = s.task.size ? fmt::format(", size {}", *s.task.size) : "";
  return fmt::format(
      "{}{}, {}", styled(s.task.benchmark, "1", style.colour), size,
      scenario == nullptr ? s.task.scenario : fmt::format("{} ({})", scenario->name, scenario->about));
}

/// A line for each number of CPUs with an ideal, padded with empty cells.
std::vector<table_line> ideal_lines(std::span<const summary> figures, const time_unit& unit,
                                    std::size_t width) {
  std::vector<table_line> lines;
  std::set<int> shown;
  for (const summary& s : figures) {
    if (!s.ideal || !shown.insert(s.ideal->loops).second) continue;
    const quartiles& seconds = s.ideal->seconds;
    table_line l{{fmt::format("  ideal ({:.2f} CPUs available)", s.ideal->cpus), true},
                 {""},
                 {in_unit(seconds.median, unit)},
                 {fmt::format("[{} - {}]", in_unit(seconds.q1, unit), in_unit(seconds.q3, unit))}};
    l.resize(width);
    lines.push_back(std::move(l));
  }
  return lines;
}

/// One table: all figures of one benchmark in one scenario.
std::string one_table(std::span<const summary> figures, const table_style& style) {
  const time_unit unit = unit_for(figures);
  std::set<std::string> more;
  for (const summary& s : figures) {
    for (const auto& [name, value] : s.more) more.insert(name);
  }
  std::vector<table_line> lines;
  table_line header{{"system", true}, {"workers"},      {fmt::format("median {}", unit.name)},
                    {"[q1 - q3]"},    {"/ sequential"}, {"sukima / it"},
                    {"CPU s"},        {"CPU / seq."}};
  if (style.slowest) header.push_back({"max / median"});
  for (const std::string& name : more) header.push_back({name});
  const bool depths = std::ranges::any_of(figures, [](const summary& s) { return s.task.depth.has_value(); });
  if (depths) header.push_back({"depth"});
  const bool ideals = std::ranges::any_of(figures, [](const summary& s) { return s.ideal.has_value(); });
  if (ideals) std::ranges::copy(std::array<cell, 2>{{{"/ ideal"}, {"/ own"}}}, std::back_inserter(header));
  if (style.paired) header.push_back({"paired [95 %]"});
  lines.push_back(std::move(header));
  for (const summary& s : figures) {
    const std::string compiler = s.task.compiler.empty() ? "" : fmt::format(" ({})", s.task.compiler);
    table_line l{{fmt::format("{} {}{}", s.best_peer ? '*' : ' ', s.task.system, compiler), true},
                 {std::to_string(s.task.workers)},
                 {in_unit(s.seconds.median, unit)},
                 {fmt::format("[{} - {}]", in_unit(s.seconds.q1, unit), in_unit(s.seconds.q3, unit))},
                 {optional_ratio(s.ratio)},
                 {optional_ratio(s.own_ratio)},
                 {fmt::format("{:.3f}", s.cpu_seconds)},
                 {optional_ratio(s.cpu_ratio)}};
    if (style.slowest) l.push_back({optional_ratio(slowest_ratio(s))});
    for (const std::string& name : more) {
      const auto found = s.more.find(name);
      l.push_back({found == s.more.end() ? "-" : fmt::format("{:g}", found->second)});
    }
    if (depths) l.push_back({s.task.depth ? std::to_string(*s.task.depth) : "-"});
    if (ideals) {
      l.push_back({s.ideal ? fmt::format("{:.3f}", s.ideal->over.estimate) : "-"});
      l.push_back({s.ideal && s.ideal->own ? fmt::format("{:.3f}", s.ideal->own->over.estimate) : "-"});
    }
    if (style.paired) l.push_back({paired_ratio(figures, s)});
    lines.push_back(std::move(l));
  }
  std::ranges::move(ideal_lines(figures, unit, lines[0].size()), std::back_inserter(lines));
  std::vector<std::size_t> widths(lines[0].size(), 0);
  for (const table_line& l : lines) {
    for (std::size_t i = 0; i < l.size(); ++i) widths[i] = std::max(widths[i], l[i].text.size());
  }
  lines[0][0].text.insert(0, "  ");
  widths[0] = std::max(widths[0], lines[0][0].text.size());

  std::string text = heading(figures.front(), style) + "\n";
  for (std::size_t row = 0; row < lines.size(); ++row) {
    std::string out;
    for (std::size_t i = 0; i < lines[row].size(); ++i) {
      const cell& c = lines[row][i];
      out += c.left ? fmt::format("{:<{}}", c.text, widths[i]) : fmt::format("  {:>{}}", c.text, widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    if (row == 0) {
      text += styled(out, "2", style.colour);
    } else {
      const bool is_system = row <= figures.size();
      const bool own = is_system && figures[row - 1].task.system == own_system;
      const bool best = is_system && figures[row - 1].best_peer;
      text += styled(out, own ? "1;32" : "33", style.colour && (own || best));
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string table_text(std::span<const summary> figures, const table_style& style) {
  std::string text;
  std::vector<std::string> scenarios_seen;
  for (const summary& s : figures) {
    const std::string key = s.task.benchmark + "\n" + s.task.scenario;
    if (std::ranges::find(scenarios_seen, key) != scenarios_seen.end()) continue;
    scenarios_seen.push_back(key);
    std::vector<summary> group;
    std::ranges::copy_if(figures, std::back_inserter(group), [&](const summary& other) {
      return other.task.benchmark == s.task.benchmark && other.task.scenario == s.task.scenario;
    });
    if (!text.empty()) text += "\n";
    text += one_table(group, style);
  }
  return text;
}

}  // namespace sukima::cli::bench

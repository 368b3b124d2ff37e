// SPDX-License-Identifier: Apache-2.0
// The report as one page of HTML; see report.hpp.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/page_heat.hpp"
#include "report/page_plots.hpp"
#include "shared/count_text.hpp"
#include "shared/report.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

constexpr const char* page_head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Results of the lab</title>
<style>
body { font-family: sans-serif; max-width: 60em; margin: 1em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; font-size: 0.85em; }
th, td { border: 1px solid #ccc; padding: 0.2em 0.5em; text-align: left; vertical-align: top; }
.wide { overflow-x: auto; }
.wide svg { display: block; margin: 1em 0; }
td svg { margin: 0.3em 0; }
.ratios { margin: 0.3em 0; padding-left: 1.2em; }
td.claim { min-width: 16em; }
.verdict { font-weight: bold; }
.heat { margin: 0.5em 0; font-size: 1em; }
.heat caption { text-align: left; }
.heat td { text-align: center; background: #eee; color: #222; }
.heat td.fails { border: 2px solid #222; }
.shade { padding: 0 0.4em; color: #222; }
</style>
</head>
<body>
<h1>Results of the lab</h1>
)";

std::string text_of(const ordered_json& from, const char* name) {
  return html_escaped(from.value(name, std::string()));
}

/// The value of a cell, as three digits; "stopped" for one without a time.
std::string figure_text(const ordered_json& cell, const char* name) {
  const auto found = cell.find(name);
  if (found == cell.end()) return "–";
  return found->is_number() ? fmt::format("{:.3g}", found->get<double>()) : "stopped";
}

std::string machine_html(const ordered_json& report) {
  std::string html = "<ul>\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    html += fmt::format("<li>{}: {}</li>\n", html_escaped(name), html_escaped(value));
  };
  for (const auto& [name, value] : report.at("machine").items()) add(name, value.get<std::string>());
  for (const auto& [name, value] : report.at("versions").items()) add(name, value.get<std::string>());
  if (const std::string accelerator = report.at("accelerator"); !accelerator.empty())
    add("virtual machines", "QEMU, " + accelerator);
  for (const auto& [kind, why] : report.at("obstacles").items())
    add("no '" + kind + "' here", why.get<std::string>());
  return html + "</ul>\n";
}

std::string cells_html(const ordered_json& experiment) {
  std::string html =
      "<div class=\"wide\"><table>\n<tr><th>program</th><th>setting</th><th>environment</th><th>first "
      "quartile</th>"
      "<th>median</th><th>third quartile</th><th>by target time</th><th>rounds</th></tr>\n";
  for (const ordered_json& cell : experiment.at("cells"))
    html += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        text_of(cell, "program"), text_of(cell, "setting"), text_of(cell, "environment"),
        figure_text(cell, "q1"), figure_text(cell, "median"), figure_text(cell, "q3"),
        figure_text(cell, "relative"), cell.value("rounds", 0));
  return html + "</table></div>\n";
}

/// The worst relative times, if the experiment has target times.
std::string worst_html(const ordered_json& experiment) {
  if (experiment.at("worst").empty()) return {};
  std::string html =
      "<div class=\"wide\"><table>\n<tr><th>program</th><th>setting</th><th>worst of</th>"
      "<th>environment</th><th>by target time</th></tr>\n";
  for (const ordered_json& one : experiment.at("worst"))
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        text_of(one, "program"), text_of(one, "setting"), text_of(one, "of"),
                        text_of(one, "environment"), figure_text(one, "relative"));
  return html + "</table></div>\n";
}

std::string plots_html(const ordered_json& experiment) {
  std::vector<std::string> programs;
  std::string html = "<div class=\"wide\">\n";
  for (const ordered_json& cell : experiment.at("cells")) {
    const std::string program = cell.at("program");
    if (!programs.empty() && programs.back() == program) continue;
    programs.push_back(program);
    html += bars_svg(experiment.at("cells"), program);
  }
  return html + "</div>\n";
}

/// The ratio of each cell with its interval and verdict as text, for copying and for screen readers.
std::string ratios_html(const ordered_json& claim) {
  if (claim.at("cells").empty()) return {};
  std::string html = "<ul class=\"ratios\">\n";
  for (const ordered_json& cell : claim.at("cells"))
    html += fmt::format("<li>{}, {}: {}, {}</li>\n", text_of(cell, "program"), text_of(cell, "environment"),
                        text_of(cell, "text"), text_of(cell, "verdict"));
  return html + "</ul>\n";
}

/// The numbers of claims and figures, and the claims that do not hold.
std::string summary_html(const ordered_json& report) {
  const ordered_json& summary = report.at("summary");
  std::size_t all = 0, decided = 0;
  std::map<std::string, std::size_t> states;
  for (const auto& [verdict, count] : summary.at("claims").items()) {
    all += count.get<std::size_t>();
    if (verdict == name_of(verdict::holds) || verdict == name_of(verdict::does_not_hold))
      decided += count.get<std::size_t>();
  }
  if (all == 0) return {};
  std::string html =
      fmt::format("<p>Of {} {} {} decided", count_text(all, "claim"), decided, decided == 1 ? "is" : "are");
  for (const auto& [verdict, count] : summary.at("claims").items())
    if (count > 0) html += fmt::format("; {}: {}", html_escaped(verdict), count.get<std::size_t>());
  for (const ordered_json& figure : summary.at("figures")) ++states[figure.at("state")];
  html += ". Figures of the papers";
  for (const auto& [state, count] : states) html += fmt::format("; {}: {}", html_escaped(state), count);
  html += ". Verdicts are at a confidence of 95 %.";
  if (summary.at("quick")) html += " These are quick runs.";
  html += "</p>\n";
  if (summary.at("does_not_hold").empty()) return html;
  html += "<p>What does not hold:</p>\n<ul>\n";
  for (const ordered_json& name : summary.at("does_not_hold"))
    html += fmt::format("<li><a href=\"#{0}\">{0}</a></li>\n", html_escaped(name.get<std::string>()));
  return html + "</ul>\n";
}

/// A table with a row for each claim: the paper's figure and finding, and ours. If there are heat maps, their
/// legend precedes it.
std::string claims_html(const ordered_json& experiment, unsigned cpus) {
  if (experiment.at("claims").empty()) return {};
  std::string scaled;
  if (const auto paper = experiment.find("paper_cpus"); paper != experiment.end() && *paper != cpus)
    scaled = fmt::format(" (scaled from {} CPUs to {})", paper->get<unsigned>(), cpus);
  std::string html =
      "<div class=\"wide\"><table>\n<tr><th>in the paper</th><th>here</th><th>verdict</th></tr>\n";
  bool has_heat_map = false;
  for (const ordered_json& claim : experiment.at("claims")) {
    const std::string heat_map = heat_map_html(claim);
    has_heat_map = has_heat_map || !heat_map.empty();
    const std::string figure = text_of(claim, "figure"), reason = text_of(claim, "reason");
    html += fmt::format("<tr id=\"{}/{}\"><td>{}{}<br>{}</td><td class=\"claim\">{}<br>{}{}{}{}</td>",
                        text_of(experiment, "name"), text_of(claim, "name"), figure,
                        figure.empty() ? "" : scaled, text_of(claim, "found"), text_of(claim, "text"),
                        text_of(claim, "part"), ratios_svg(claim), heat_map, ratios_html(claim));
    html += fmt::format("<td><span class=\"verdict\">{}</span>{}{}</td></tr>\n", text_of(claim, "verdict"),
                        reason.empty() ? "" : "<br>", reason);
  }
  return (has_heat_map ? heat_legend_html() : "") + html + "</table></div>\n";
}

}  // namespace

std::string report_html(const recorded_runs& runs) {
  const ordered_json report = report_json(runs);
  std::string html = page_head + summary_html(report) + machine_html(report);
  for (const ordered_json& experiment : report.at("experiments")) {
    html += fmt::format("<h2 id=\"{0}\">{0}: {1}</h2>\n", text_of(experiment, "name"),
                        text_of(experiment, "title"));
    if (const std::string source = text_of(experiment, "source"); !source.empty())
      html += fmt::format("<p>Source: {}.</p>\n", source);
    if (const std::size_t failures = experiment.at("failures"); failures > 0)
      html += fmt::format("<p>{} failed.</p>\n", count_text(failures, "run"));
    html += claims_html(experiment, runs.facts.bed.cpus) + plots_html(experiment) + worst_html(experiment) +
            cells_html(experiment);
  }
  return html + "</body>\n</html>\n";
}

}  // namespace sukima::lab

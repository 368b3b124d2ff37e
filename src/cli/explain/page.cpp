// SPDX-License-Identifier: Apache-2.0
// The explanation as a page of HTML; see page.hpp.
#include "explain/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>

namespace sukima::cli::explain {
namespace {

/// Number of columns of a timeline. A column shows the state that took most of its time.
constexpr std::size_t columns = 800;

/// The states of a timeline, in the order of the legend; the last one is not drawn.
enum state : std::size_t { working, searching, sleeping, no_cpu, outside, states };
constexpr std::array<const char*, states> names{"working", "searching", "sleeping", "no CPU", "outside"};
constexpr std::array<const char*, states> classes{"working", "searching", "sleeping", "no-cpu", "outside"};

constexpr const char* head = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title>
<style>
:root {{ color-scheme: light dark;
  --working: #2a7a2a; --searching: #c98a00; --sleeping: #8a9bb0; --no-cpu: #c0392b; }}
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1em; max-width: 80em; }}
h1 {{ overflow-wrap: anywhere; }}
.row {{ display: grid; grid-template-columns: 6em 1fr; align-items: center; gap: .5em; margin: .2em 0; }}
.row svg, .times {{ width: 100%; }}
.row svg {{ height: 1.4em; border: 1px solid; box-sizing: border-box; }}
.times {{ display: flex; justify-content: space-between; }}
.working {{ fill: var(--working); }} .searching {{ fill: var(--searching); }}
.sleeping {{ fill: var(--sleeping); }} .no-cpu {{ fill: var(--no-cpu); }}
.outside {{ fill: none; stroke: currentColor; }}
.legend {{ display: flex; flex-wrap: wrap; gap: .2em 1.2em; list-style: none; padding: 0; }}
.legend svg {{ width: 1em; height: 1em; margin-right: .4em; vertical-align: -.1em; }}
.scrolls {{ overflow-x: auto; }}
table {{ border-collapse: collapse; }}
th, td {{ padding: .2em .8em; text-align: right; border-bottom: 1px solid; white-space: nowrap; }}
</style>
</head>
<body>
<main>
<h1>{0}</h1>
)";

/// Escapes text for use between tags, or inside the quotes of an attribute.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

using shares = std::array<std::array<double, columns>, states>;

/// Adds the periods of a list to the columns of a run. O(periods + columns that they cover).
void add_times(std::array<double, columns>& to, const periods& list, const period& run) {
  const double width = run.seconds() / columns;
  for (const period& each : list) {
    const double from = std::max(each.from, run.from), until = std::min(each.to, run.to);
    if (!(from < until)) continue;
    const auto column_of = [&](double at) {
      return std::min(columns - 1, static_cast<std::size_t>(std::max(0.0, (at - run.from) / width)));
    };
    const std::size_t first = column_of(from), last = column_of(until);
    for (std::size_t k = first; k <= last; ++k) {
      const double begin = run.from + static_cast<double>(k) * width;
      to[k] += std::max(0.0, std::min(until, begin + width) - std::max(from, begin));
    }
  }
}

/// Returns the state that took most of each column of a worker's run.
std::array<state, columns> states_of(const recorded_worker& worker, const period& run) {
  shares times{};
  for (const state each : {working, searching, sleeping})
    add_times(times[each], without(worker.during[each], worker.without_cpu), run);
  add_times(times[no_cpu], worker.without_cpu, run);
  std::array<state, columns> result{};
  for (std::size_t k = 0; k < columns; ++k) {
    double inside = 0;
    state longest = working;
    for (const state each : {working, searching, sleeping, no_cpu}) {
      inside += times[each][k];
      if (times[each][k] > times[longest][k]) longest = each;
    }
    const bool is_outside = run.seconds() / columns - inside > times[longest][k];
    result[k] = is_outside ? outside : longest;
  }
  return result;
}

void write_row(std::string& out, const recorded_worker& worker, const worker_profile& figures,
               const period& run) {
  const double length = run.seconds();
  out += fmt::format(
      "<div class=\"row\"><span>worker {0}</span><svg viewBox=\"0 0 {1} 1\" preserveAspectRatio=\"none\" "
      "role=\"img\" "
      "aria-label=\"worker {0}: working {2:.1f} %, no CPU {3:.1f} %, {4} steals\">",
      worker.number, columns, 100 * figures.working / length, 100 * figures.without_cpu / length,
      figures.all_steals());
  const auto drawn = states_of(worker, run);
  for (std::size_t k = 0; k < columns;) {
    const std::size_t end =
        static_cast<std::size_t>(std::find_if(drawn.begin() + static_cast<std::ptrdiff_t>(k), drawn.end(),
                                              [&](state other) { return other != drawn[k]; }) -
                                 drawn.begin());
    if (drawn[k] != outside)
      out += fmt::format("<rect class=\"{}\" x=\"{}\" width=\"{}\" height=\"1\"/>", classes[drawn[k]], k,
                         end - k);
    k = end;
  }
  out += "</svg></div>\n";
}

void write_legend(std::string& out) {
  out += "<ul class=\"legend\" aria-label=\"Colours of the timeline\">";
  for (std::size_t each = 0; each < states; ++each)
    out += fmt::format(
        "<li><svg viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"{}\" width=\"1\" "
        "height=\"1\"/></svg>{}</li>",
        classes[each], names[each]);
  out += "</ul>\n";
}

void write_table(std::string& out, const runtime_profile& profile) {
  out +=
      "<div class=\"scrolls\" tabindex=\"0\" role=\"region\" aria-label=\"Figures of the workers\"><table>"
      "<thead><tr><th scope=\"col\">worker</th>";
  for (const char* const name : names) out += fmt::format("<th scope=\"col\">{}</th>", name);
  out += "<th scope=\"col\">steals</th><th scope=\"col\">parks</th></tr></thead>\n<tbody>\n";
  for (const worker_profile& w : profile.workers) {
    out += fmt::format("<tr><th scope=\"row\">{}</th>", w.number);
    for (const double part : {w.working, w.searching, w.sleeping, w.without_cpu, w.outside})
      out += fmt::format("<td>{:.1f} %</td>", 100 * part / profile.run.seconds());
    out += fmt::format("<td>{}</td><td>{}</td></tr>\n", w.all_steals(), w.parks);
  }
  out += "</tbody></table></div>\n";
}

void write_runtime(std::string& out, const recorded_trace& trace, const runtime_profile& profile) {
  if (!(profile.run.seconds() > 0)) return;
  out += fmt::format("<h2>Runtime {}</h2>\n", profile.runtime);
  write_legend(out);
  for (const recorded_worker& worker : trace.workers) {
    if (worker.runtime != profile.runtime) continue;
    const auto figures = std::ranges::find(profile.workers, worker.number, &worker_profile::number);
    if (figures != profile.workers.end()) write_row(out, worker, *figures, profile.run);
  }
  out += fmt::format(
      "<div class=\"row\"><span></span><div class=\"times\"><span>0</span><span>{}</span></div></div>\n",
      time_text(profile.run.seconds()));
  write_table(out, profile);
}

}  // namespace

std::string page_of(const recorded_trace& trace, const std::vector<runtime_profile>& profiles,
                    std::string_view title) {
  std::string out = fmt::format(head, escaped(title));
  for (const runtime_profile& profile : profiles) write_runtime(out, trace, profile);
  out +=
      "<h2>Explanation</h2>\n<pre class=\"scrolls\" tabindex=\"0\" role=\"region\" "
      "aria-label=\"Explanation\">";
  out += escaped(text_of(profiles) + text_of(trace.clones));
  return out + "</pre>\n</main>\n</body>\n</html>\n";
}

}  // namespace sukima::cli::explain

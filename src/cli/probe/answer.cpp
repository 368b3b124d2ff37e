// SPDX-License-Identifier: Apache-2.0
// Telling what can be used; see answer.hpp.
#include "probe/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "console.hpp"

namespace sukima::cli::probe {
namespace {

constexpr const char* bold = "1";
constexpr const char* dim = "2";
constexpr const char* yellow = "33";

std::string limits_text(const sukima_capacity_report& report, bool colour) {
  std::string text;
  for (std::size_t i = 0; i < report.limit_count; ++i) {
    const sukima_capacity_limit& limit = report.limits[i];
    const bool binding = limit.is_binding != 0;
    const std::string line =
        fmt::format("{} {:<9} {}", binding ? '*' : ' ', sukima_capacity_kind_name(limit.kind), limit.text);
    text += fmt::format("{} {}\n", styled(line, bold, colour && binding),
                        styled(fmt::format("({})", limit.file), dim, colour));
  }
  for (std::size_t i = 0; i < report.note_count; ++i)
    text += fmt::format("  note      {} {}\n", report.notes[i].file, report.notes[i].text);
  return text;
}

std::string runtimes_text(const answer& what, bool colour) {
  if (what.runtimes.empty()) return {};
  std::string text = "\nWhat runtimes believe here:\n";
  std::size_t width = 0;
  for (const belief& b : what.runtimes) width = std::max(width, b.runtime.size());
  for (const belief& b : what.runtimes) {
    const bool wrong = b.threads && (*b.threads >= what.usable + 1 || *b.threads + 1 <= what.usable);
    const std::string number = b.threads ? fmt::format("{}", *b.threads) : std::string("?");
    text += fmt::format("  {:<{}}  {}  {}\n", b.runtime, width,
                        styled(fmt::format("{:>5}", number), yellow, colour && wrong),
                        styled(b.source, dim, colour));
  }
  return text;
}

nlohmann::json number_of(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

std::string text_of(const answer& what, bool colour) {
  const sukima_capacity_facts& facts = what.report->facts;
  const sukima_capacity_limit& limit = binding_limit(*what.report);
  std::string text =
      fmt::format("{}, because {}.\n",
                  styled(fmt::format("You can use {}", cpus_text(what.usable)), bold, colour), limit.text);
  if (facts.cap > what.usable + 1e-9)
    text += fmt::format("Up to {} threads may run at the same moment.\n", facts.cap);
  text += fmt::format("Threads to start: {} (sukima run).\n\n", what.threads);
  text += limits_text(*what.report, colour);
  for (const warning& w : what.warnings)
    text += fmt::format("\n{} {}.\n  {}.\n", styled("Warning:", yellow, colour), w.text, w.advice);
  return text + runtimes_text(what, colour);
}

nlohmann::json json_of(const answer& what) {
  const sukima_capacity_facts& facts = what.report->facts;
  nlohmann::json object{{"usable", what.usable},
                        {"low", what.low},
                        {"high", what.high},
                        {"basis", what.basis},
                        {"cap", facts.cap},
                        {"threads", what.threads},
                        {"binding", sukima_capacity_kind_name(facts.binding)},
                        {"quota", number_of(facts.quota)},
                        {"weight", facts.weight},
                        {"online", facts.online},
                        {"affinity", facts.affinity},
                        {"cpuset", facts.cpuset},
                        {"ancestors_hidden", facts.ancestors_hidden != 0},
                        {"limits", nlohmann::json::array()},
                        {"notes", nlohmann::json::array()},
                        {"warnings", nlohmann::json::array()}};
  for (std::size_t i = 0; i < what.report->limit_count; ++i) {
    const sukima_capacity_limit& l = what.report->limits[i];
    object["limits"].push_back({{"kind", sukima_capacity_kind_name(l.kind)},
                                {"value", number_of(l.value)},
                                {"period_us", l.period_us},
                                {"level", l.level},
                                {"binding", l.is_binding != 0},
                                {"file", l.file},
                                {"text", l.text}});
  }
  for (std::size_t i = 0; i < what.report->note_count; ++i)
    object["notes"].push_back({{"file", what.report->notes[i].file}, {"text", what.report->notes[i].text}});
  for (const warning& w : what.warnings)
    object["warnings"].push_back({{"name", w.name}, {"text", w.text}, {"advice", w.advice}});
  if (what.runtimes.empty()) return object;
  object["runtimes"] = nlohmann::json::array();
  for (const belief& b : what.runtimes)
    object["runtimes"].push_back(
        {{"runtime", b.runtime},
         {"threads", b.threads ? nlohmann::json(*b.threads) : nlohmann::json(nullptr)},
         {"source", b.source}});
  return object;
}

}  // namespace sukima::cli::probe

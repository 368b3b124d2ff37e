// SPDX-License-Identifier: Apache-2.0
// The answer as text and as JSON; see answer.hpp.
#include "probe/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "shared/console.hpp"

namespace sukima::cli::probe {
namespace {

constexpr const char* bold = "1";
constexpr const char* dim = "2";
constexpr const char* yellow = "33";

std::string operator_units(const sukima_capacity_limit& limit) {
  std::array<char, 128> text{};
  if (limit.kind != SUKIMA_CAPACITY_QUOTA) return {};
  sukima_capacity_operator_units(limit.value, text.data(), text.size());
  return text.data();
}

/// Returns how often the quota was reached since the group exists.
std::string throttling_text(const sukima_capacity_limit& limit) {
  if (limit.periods == 0) return {};
  return fmt::format("; held back in {} of {} periods ({:.1f} %)", limit.throttled_periods, limit.periods,
                     100 * static_cast<double>(limit.throttled_periods) / static_cast<double>(limit.periods));
}

/// Returns a file's name without the root of a recorded tree.
std::string file_of(const answer& result, const char* file) {
  const std::string name = file;
  return result.root.empty() || !name.starts_with(result.root) ? name : name.substr(result.root.size());
}

std::string limits_text(const answer& result, bool colour) {
  const sukima_capacity_report& report = *result.report;
  std::string text;
  for (std::size_t i = 0; i < report.limit_count; ++i) {
    const sukima_capacity_limit& limit = report.limits[i];
    const bool binding = limit.is_binding != 0;
    const std::string line =
        fmt::format("{} {:<9} {}", binding ? '*' : ' ', sukima_capacity_kind_name(limit.kind), limit.text);
    text += fmt::format("{} {}\n", styled(line, bold, colour && binding),
                        styled(fmt::format("({})", printable(file_of(result, limit.file))), dim, colour));
    if (const std::string units = operator_units(limit); !units.empty())
      text += fmt::format("            {}{}\n", units, throttling_text(limit));
  }
  for (std::size_t i = 0; i < report.note_count; ++i)
    text += fmt::format("  note      {} {}\n", printable(file_of(result, report.notes[i].file)),
                        report.notes[i].text);
  return text;
}

std::string runtimes_text(const answer& result, bool colour) {
  if (result.runtimes.empty()) return {};
  std::string text = "\nWhat runtimes report here:\n";
  std::size_t width = 0;
  for (const runtime_answer& b : result.runtimes) width = std::max(width, b.runtime.size());
  for (const runtime_answer& b : result.runtimes) {
    const bool wrong =
        b.threads && (*b.threads >= result.estimate.usable + 1 || *b.threads + 1 <= result.estimate.usable);
    const std::string number = b.threads ? fmt::format("{}", *b.threads) : std::string("?");
    text += fmt::format("  {:<{}}  {}  {}\n", b.runtime, width,
                        styled(fmt::format("{:>5}", number), yellow, colour && wrong),
                        styled(b.source, dim, colour));
  }
  return text;
}

/// Returns the interval of the estimate as text.
std::string interval_text(const sukima_capacity_estimate& estimate) {
  if (estimate.high - estimate.low < 0.1) return {};
  const bool blind = estimate.basis == SUKIMA_CAPACITY_BASIS_BLIND;
  return fmt::format(
      "The number of CPUs is between {:.2f} and {:.2f}{}.\n", estimate.low, estimate.high,
      blind ? ", because the groups of others, and their quotas, are not visible from here" : "");
}

std::string steal_text(const std::map<unsigned, double>& probed) {
  if (probed.empty()) return {};
  std::string text = "\nUnreported steal time, from a tight loop of 1 s on each CPU:\n";
  for (const auto& [cpu, taken] : probed)
    text += std::isnan(taken) ? fmt::format("  CPU {:<3}  unknown\n", cpu)
                              : fmt::format("  CPU {:<3}  {:5.1f} %\n", cpu, taken * 100);
  return text;
}

nlohmann::json number_of(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

std::string text_of(const answer& result, bool colour) {
  const sukima_capacity_facts& facts = result.report->facts;
  std::string text =
      fmt::format("{}, because {}.\n",
                  styled(fmt::format("You can use {}", cpus_text(result.estimate.usable)), bold, colour),
                  reason_for(*result.report, result.estimate, result.root));
  if (facts.cap > result.estimate.usable + 1e-9)
    text += fmt::format("Up to {} {} may run at the same moment.\n", facts.cap,
                        facts.cap == 1 ? "thread" : "threads");
  text += interval_text(result.estimate);
  text += fmt::format("Threads to start: {} (sukima run).\n\n", result.threads);
  text += limits_text(result, colour);
  if (const std::string places = text_of(result.places); !places.empty()) text += "\n" + places;
  for (const warning& w : result.warnings)
    text += fmt::format("\n{} {}.\n  {}.\n", styled("Warning:", yellow, colour), printable(w.text), w.advice);
  return text + steal_text(result.steal) + runtimes_text(result, colour);
}

nlohmann::json json_of(const answer& result) {
  const sukima_capacity_facts& facts = result.report->facts;
  nlohmann::json object{{"schema", json_schema},
                        {"usable", result.estimate.usable},
                        {"low", result.estimate.low},
                        {"high", result.estimate.high},
                        {"basis", sukima_capacity_basis_name(result.estimate.basis)},
                        {"usable_by_threads", result.curve},
                        {"now", number_of(result.load.now)},
                        {"others", number_of(result.load.others)},
                        {"stolen", number_of(result.load.stolen)},
                        {"throttled", number_of(result.load.throttled)},
                        {"pressure", number_of(result.load.pressure)},
                        {"cap", facts.cap},
                        {"threads", result.threads},
                        {"binding", sukima_capacity_kind_name(binding_limit(*result.report).kind)},
                        {"quota", number_of(facts.quota)},
                        {"weight", facts.weight},
                        {"online", facts.online},
                        {"affinity", facts.affinity},
                        {"cpuset", facts.cpuset},
                        {"ancestors_hidden", facts.ancestors_hidden != 0},
                        {"places", json_of(result.places)},
                        {"limits", nlohmann::json::array()},
                        {"notes", nlohmann::json::array()},
                        {"warnings", nlohmann::json::array()}};
  for (std::size_t i = 0; i < result.report->limit_count; ++i) {
    const sukima_capacity_limit& l = result.report->limits[i];
    object["limits"].push_back({{"kind", sukima_capacity_kind_name(l.kind)},
                                {"value", number_of(l.value)},
                                {"period_us", l.period_us},
                                {"units", operator_units(l)},
                                {"periods", l.periods},
                                {"throttled_periods", l.throttled_periods},
                                {"level", l.level},
                                {"binding", l.is_binding != 0},
                                {"file", file_of(result, l.file)},
                                {"text", l.text}});
  }
  for (std::size_t i = 0; i < result.report->note_count; ++i)
    object["notes"].push_back(
        {{"file", file_of(result, result.report->notes[i].file)}, {"text", result.report->notes[i].text}});
  for (const warning& w : result.warnings)
    object["warnings"].push_back({{"name", w.name}, {"text", w.text}, {"advice", w.advice}});
  for (const auto& [cpu, taken] : result.steal)
    object["steal_probe"].push_back({{"cpu", cpu}, {"taken", number_of(taken)}});
  if (result.runtimes.empty()) return object;
  object["runtimes"] = nlohmann::json::array();
  for (const runtime_answer& b : result.runtimes)
    object["runtimes"].push_back(
        {{"runtime", b.runtime},
         {"threads", b.threads ? nlohmann::json(*b.threads) : nlohmann::json(nullptr)},
         {"source", b.source}});
  return object;
}

}  // namespace sukima::cli::probe

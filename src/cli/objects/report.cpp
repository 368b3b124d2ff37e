// SPDX-License-Identifier: Apache-2.0
// Formats a plan.
#include "objects/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "shared/console.hpp"

namespace sukima::cli::objects {
namespace {

using model::candidate;
using nlohmann::json;

/// The names of the members of each group.
std::vector<std::vector<std::string>> groups_of(const planned& planning, const candidate& one) {
  std::map<std::size_t, std::vector<std::string>> groups;
  if (model::parts_of(one.how.model).grouped) {
    for (std::size_t i = 0; i < planning.program.objects.size(); i++)
      groups[one.how.groups[i]].push_back(planning.program.objects[i].name);
  }
  std::vector<std::vector<std::string>> result;
  for (auto& [unused, members] : groups) result.push_back(std::move(members));
  return result;
}

std::string simulated_text(const candidate& one) {
  if (one.simulated.stuck) return "never ends";
  return fmt::format("{} ± {}", time_text(one.simulated.time_ns), time_text(one.simulated.spread_ns));
}

json candidate_json(const planned& planning, const candidate& one) {
  json result = {{"model", model::name_of(one.how.model)},
                 {"time_ns", one.simulated.time_ns},
                 {"spread_ns", one.simulated.spread_ns},
                 {"stuck", one.simulated.stuck},
                 {"paper_ns", one.paper_ns},
                 {"units", one.units},
                 {"busy_cpus", one.simulated.busy_cpus},
                 {"groups", groups_of(planning, one)},
                 {"capacities", json::object()}};
  for (std::size_t i = 0; i < planning.program.streams.size(); i++)
    result["capacities"][planning.program.streams[i].name] = one.how.capacities[i];
  return result;
}

std::string capacities_text(const planned& planning, const candidate& one) {
  std::string text;
  for (std::size_t i = 0; i < planning.program.streams.size(); i++) {
    const model::stream& stream = planning.program.streams[i];
    if (one.how.capacities[i] == stream.capacity) continue;
    text +=
        fmt::format("  {}: {} messages instead of {}\n", stream.name, one.how.capacities[i], stream.capacity);
  }
  return text.empty() ? "" : "Capacities:\n" + text;
}

}  // namespace

std::string time_text(double ns) {
  if (!std::isfinite(ns)) return "unknown";
  if (ns >= 1e9) return fmt::format("{:.3g} s", ns / 1e9);
  if (ns >= 1e6) return fmt::format("{:.3g} ms", ns / 1e6);
  if (ns >= 1e3) return fmt::format("{:.3g} us", ns / 1e3);
  return fmt::format("{:.3g} ns", ns);
}

std::string text_of(const json& object) {
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

namespace {

/// Returns "3.2 ns (3.1 ns to 3.4 ns)", with the quartiles if they were stored.
std::string spread_text(double ns, const model::quartiles* of) {
  if (of == nullptr) return time_text(ns);
  return fmt::format("{} ({} to {})", time_text(ns), time_text(of->low), time_text(of->high));
}

json spread_json(const model::quartiles& of) { return {of.low, of.high}; }

}  // namespace

std::string costs_report(const model::cost_table& costs) {
  std::string text =
      fmt::format("  {:<10} {:>6} {:>5}  {:<30}  {}\n", "unit", "bytes", "CPUs", "sender", "receiver");
  for (const model::message_cost& line : costs.messages)
    text += fmt::format("  {:<10} {:>6} {:>5}  {:<30}  {}\n", model::name_of(line.carrier), line.bytes,
                        line.cpus, spread_text(line.sender_ns, line.spread ? &line.spread->sender : nullptr),
                        spread_text(line.receiver_ns, line.spread ? &line.spread->receiver : nullptr));
  text += "In parentheses: the range of the middle half of the measurements.\n";
  if (costs.switch_ns)
    text += fmt::format(
        "Switch between simulated objects: {}.\n",
        spread_text(*costs.switch_ns, costs.switch_quartiles ? &*costs.switch_quartiles : nullptr));
  if (costs.wait_ns)
    text += fmt::format("The same where another group could end the wait: {}.\n",
                        spread_text(*costs.wait_ns, costs.wait_quartiles ? &*costs.wait_quartiles : nullptr));
  if (costs.resume_ns)
    text += fmt::format(
        "To end such a wait in a group that another CPU runs: {}.\n",
        spread_text(*costs.resume_ns, costs.resume_quartiles ? &*costs.resume_quartiles : nullptr));
  const auto add_sleep = [&text](const char* where, const std::optional<model::sleep_cost>& cost) {
    if (cost)
      text += fmt::format("To wake a sleeper on {}: {}, which runs {} later.\n", where,
                          time_text(cost->waker_ns), time_text(cost->until_ns));
  };
  add_sleep("the same CPU", costs.same_cpu);
  add_sleep("another CPU", costs.other_cpu);
  return text;
}

json costs_json(const model::cost_table& costs) {
  json messages = json::array();
  for (const model::message_cost& line : costs.messages) {
    messages.push_back({{"unit", model::name_of(line.carrier)},
                        {"bytes", line.bytes},
                        {"cpus", line.cpus},
                        {"sender_ns", line.sender_ns},
                        {"receiver_ns", line.receiver_ns}});
    if (!line.spread) continue;
    messages.back()["sender_quartiles_ns"] = spread_json(line.spread->sender);
    messages.back()["receiver_quartiles_ns"] = spread_json(line.spread->receiver);
  }
  json result = {{"messages", std::move(messages)}};
  if (costs.switch_ns) result["switch_ns"] = *costs.switch_ns;
  if (costs.switch_quartiles) result["switch_quartiles_ns"] = spread_json(*costs.switch_quartiles);
  if (costs.wait_ns) result["wait_ns"] = *costs.wait_ns;
  if (costs.wait_quartiles) result["wait_quartiles_ns"] = spread_json(*costs.wait_quartiles);
  if (costs.resume_ns) result["resume_ns"] = *costs.resume_ns;
  if (costs.resume_quartiles) result["resume_quartiles_ns"] = spread_json(*costs.resume_quartiles);
  const auto add_sleep = [&result](const char* where, const std::optional<model::sleep_cost>& cost) {
    if (cost) result["sleep"][where] = {{"waker_ns", cost->waker_ns}, {"until_ns", cost->until_ns}};
  };
  add_sleep("same", costs.same_cpu);
  add_sleep("other", costs.other_cpu);
  return result;
}

/// Returns "1 stream" or "2 streams".
static std::string count_text(double count, const char* what) {
  return fmt::format("{:.0f} {}{}", count, what, count == 1 ? "" : "s");
}

std::string recording_report(const model::description& seen) {
  const model::recorded_part part = seen.recorded.value_or(model::recorded_part{});
  const model::flow all = model::flow_of(seen);
  double messages = 0;
  for (const double one : all.messages) messages += one;
  return fmt::format("Saw {} of {}: {}, {}, {}.\n",
                     part.whole ? fmt::format("the whole run ({:.3g} s)", part.seconds)
                                : fmt::format("the first {:.3g} s", part.seconds),
                     seen.program, count_text(static_cast<double>(seen.objects.size()), "object"),
                     count_text(static_cast<double>(seen.streams.size()), "stream"),
                     count_text(std::round(messages), "message"));
}

json recording_json(const model::description& seen) {
  const model::recorded_part part = seen.recorded.value_or(model::recorded_part{});
  return {{"program", seen.program},
          {"seconds", part.seconds},
          {"whole", part.whole},
          {"description", json::parse(model::description_text(seen))}};
}

std::string plan_report(const planned& planning) {
  const model::plan& plan = planning.plan;
  const candidate& chosen = plan.ranking[plan.chosen];
  const double time = planning.by_paper ? chosen.paper_ns : chosen.simulated.time_ns;
  std::string text =
      chosen.simulated.stuck && !planning.by_paper
          ? fmt::format("It is expected never to end on {:.3g} CPUs ({}).\n", planning.cpus,
                        planning.cpus_reason)
          : fmt::format("Run it as {}: {} expected on {:.3g} CPUs ({}).\n", model::name_of(chosen.how.model),
                        time_text(time), planning.cpus, planning.cpus_reason);
  if (planning.program.recorded && !planning.program.recorded->whole)
    text += fmt::format("That is for the {:.3g} s of its run that were recorded.\n",
                        planning.program.recorded->seconds);
  text += fmt::format("{}.\n\n", plan.bottleneck);
  text += fmt::format("  {:<20} {:>6}  {:<24} {}\n", "model", "units", "simulation", "paper's formula");
  for (std::size_t i = 0; i < plan.ranking.size(); i++) {
    const candidate& one = plan.ranking[i];
    text += fmt::format("{} {:<20} {:>6}  {:<24} {:<12}{}\n", i == plan.chosen ? '*' : ' ',
                        model::name_of(one.how.model), one.units, simulated_text(one),
                        time_text(one.paper_ns), plan.tied > 1 && i < plan.tied ? " tie" : "");
  }
  if (plan.tied > 1) text += "Of models that tie, the one with the fewest units is chosen.\n";
  for (const model::left_out_model& one : plan.left_out)
    text += fmt::format("Left out: {}, because {}.\n", model::name_of(one.model), one.reason);
  std::size_t number = 0;
  for (const std::vector<std::string>& group : groups_of(planning, chosen))
    text += fmt::format("Group {}: {}\n", ++number, fmt::join(group, ", "));
  return text + capacities_text(planning, chosen);
}

json plan_json(const planned& planning) {
  json ranking = json::array(), left_out = json::array();
  for (const candidate& one : planning.plan.ranking) ranking.push_back(candidate_json(planning, one));
  for (const model::left_out_model& one : planning.plan.left_out)
    left_out.push_back({{"model", model::name_of(one.model)}, {"reason", one.reason}});
  return {{"program", planning.program.program},
          {"cpus", planning.cpus},
          {"cpus_reason", planning.cpus_reason},
          {"decided_by", planning.by_paper ? "paper" : "simulation"},
          {"chosen", model::name_of(planning.plan.ranking[planning.plan.chosen].how.model)},
          {"tied", planning.plan.tied},
          {"bottleneck", planning.plan.bottleneck},
          {"ranking", std::move(ranking)},
          {"left_out", std::move(left_out)}};
}

}  // namespace sukima::cli::objects

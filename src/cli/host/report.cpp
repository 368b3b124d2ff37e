// SPDX-License-Identifier: Apache-2.0
// The answers of `sukima host`; see report.hpp.
#include "host/report.hpp"

#include <fmt/format.h>
#include <base/shared/enum_names.hpp>

#include <algorithm>
#include <cmath>

namespace sukima::cli::host {
namespace {

using nlohmann::json;

std::size_t online_of(const model::vm& one) {
  return static_cast<std::size_t>(std::ranges::count(one.vcpus, true, &model::vcpu::online));
}

}  // namespace

const char* name_of(model::share_limit limit) {
  static constexpr enum_names<model::share_limit, model::share_limit::others> names(
      "vcpus", "vcpu_caps", "cap", "demand", "others");
  return names.of(limit);
}

const char* text_of(model::share_limit limit) {
  static constexpr enum_names<model::share_limit, model::share_limit::others> texts(
      "its online vCPUs", "its vCPUs' caps", "its cap", "its demand", "others");
  return texts.of(limit);
}

const char* name_of(model::estimate_method method) {
  static constexpr enum_names<model::estimate_method, model::estimate_method::formula> names(
      "exact", "partition", "formula");
  return names.of(method);
}

std::string estimate_report(const estimated& estimate) {
  std::size_t width = 2;
  for (const model::vm& one : estimate.host.vms) width = std::max(width, one.name.size());
  const bool counted = !estimate.counts.empty();
  std::string text = fmt::format("{:<{}}  usable CPUs  vCPUs online{}  limited by\n", "VM", width,
                                 counted ? "  ceil   fit" : "");
  for (std::size_t j = 0; j < estimate.shares.size(); ++j) {
    const model::vm& one = estimate.host.vms[j];
    text += fmt::format("{:<{}}  {:>11.2f}  {:>12}", one.name, width, estimate.shares[j].usable,
                        fmt::format("{} of {}", online_of(one), one.vcpus.size()));
    if (counted) text += fmt::format("  {:>4}  {:>4}", estimate.counts[j].ceil, estimate.counts[j].fit);
    text += fmt::format("  {}\n", text_of(estimate.shares[j].limit));
  }
  if (estimate.shares.empty()) text = "There is no virtual machine.\n";
  if (estimate.method == model::estimate_method::partition)
    text += "In some graphs the partition is too high for a virtual machine; the method exact is not.\n";
  if (estimate.method == model::estimate_method::formula) text += "The formula ignores affinities.\n";
  return text;
}

json estimate_json(const estimated& estimate) {
  json result = {{"method", name_of(estimate.method)}, {"vms", json::array()}};
  for (std::size_t j = 0; j < estimate.shares.size(); ++j) {
    const model::vm& one = estimate.host.vms[j];
    json entry = {{"name", one.name},
                  {"usable", estimate.shares[j].usable},
                  {"limit", name_of(estimate.shares[j].limit)},
                  {"vcpus", json::array()}};
    for (std::size_t i = 0; i < one.vcpus.size(); ++i)
      entry["vcpus"].push_back({{"id", one.vcpus[i].id}, {"share", estimate.shares[j].vcpus[i]}});
    if (!estimate.counts.empty()) {
      entry["ceil"] = estimate.counts[j].ceil;
      entry["fit"] = estimate.counts[j].fit;
    }
    result["vms"].push_back(std::move(entry));
  }
  return result;
}

std::string explanation_report(const std::string& name, const model::explanation& explanation) {
  std::string text = fmt::format("{} is entitled to {:.2f} CPUs and got {:.2f}", name,
                                 explanation.entitled.usable, explanation.got);
  text += explanation.seconds ? fmt::format(" in the last {:.3g} s.\n", *explanation.seconds)
                              : " while it could run.\n";
  for (const std::string& reason : explanation.reasons) text += "  " + reason + "\n";
  return text;
}

json explanation_json(const std::string& name, const model::explanation& explanation) {
  json result = {{"name", name},
                 {"entitled", explanation.entitled.usable},
                 {"limit", name_of(explanation.entitled.limit)},
                 {"got", explanation.got},
                 {"waited_by_ran", nullptr},
                 {"seconds", nullptr},
                 {"reasons", explanation.reasons}};
  if (std::isfinite(explanation.waited_by_ran)) result["waited_by_ran"] = explanation.waited_by_ran;
  if (explanation.seconds) result["seconds"] = *explanation.seconds;
  return result;
}

}  // namespace sukima::cli::host

// SPDX-License-Identifier: Apache-2.0
// Compares estimates of guests with the CPU that they got; see comparison.hpp.
#include "guests/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace sukima::guests {

bool parse_sample(const std::string& line, double arrived, guest_sample& found) {
  const nlohmann::json one = nlohmann::json::parse(line, nullptr, false);
  if (!one.is_object() || !one.contains("now") || !one.contains("stolen") || !one.contains("usable"))
    return false;
  if (!one["now"].is_number() || !one["stolen"].is_number() || !one["usable"].is_array()) return false;
  found = {arrived, one["now"].get<double>(), one["stolen"].get<double>(), {}};
  for (const nlohmann::json& k : one["usable"]) {
    if (!k.is_number()) return false;
    found.usable.push_back(k.get<double>());
  }
  return true;
}

double comparison::error() const {
  if (lines == 0 || got <= 0) return std::numeric_limits<double>::infinity();
  return std::max(std::fabs(now / got - 1), std::fabs(usable / got - 1));
}

comparison compare(const std::string& name, unsigned threads, const std::vector<guest_sample>& samples,
                   double from, double to, double got, double waited) {
  comparison result;
  result.name = name;
  result.threads = threads;
  result.got = got;
  result.waited = waited;
  for (const guest_sample& one : samples) {
    if (one.arrived < from || one.arrived > to || one.usable.empty()) continue;
    ++result.lines;
    result.now += one.now;
    result.stolen += one.stolen;
    result.usable += one.usable[std::min<std::size_t>(threads, one.usable.size()) - 1];
  }
  if (result.lines == 0) return result;
  const auto count = static_cast<double>(result.lines);
  result.now /= count;
  result.stolen /= count;
  result.usable /= count;
  return result;
}

std::string table_of(const std::vector<comparison>& all) {
  std::string text = fmt::format("{:<10} {:>7} {:>6} {:>6} {:>6} {:>7} {:>7} {:>7}\n", "guest", "threads",
                                 "got", "waited", "now", "usable", "stolen", "error");
  for (const comparison& one : all)
    text += fmt::format("{:<10} {:>7} {:>6.2f} {:>6.2f} {:>6.2f} {:>7.2f} {:>6.0f}% {:>6.0f}%\n", one.name,
                        one.threads, one.got, one.waited, one.now, one.usable, one.stolen * 100,
                        one.error() * 100);
  return text;
}

std::string json_of(const std::vector<comparison>& all, const std::string& hypervisor) {
  nlohmann::json object{{"hypervisor", hypervisor}, {"guests", nlohmann::json::array()}};
  for (const comparison& one : all)
    object["guests"].push_back(
        {{"name", one.name},
         {"threads", one.threads},
         {"got", one.got},
         {"waited", one.waited},
         {"now", one.now},
         {"usable", one.usable},
         {"stolen", one.stolen},
         {"lines", one.lines},
         {"error", std::isfinite(one.error()) ? nlohmann::json(one.error()) : nullptr}});
  return object.dump(2);
}

}  // namespace sukima::guests

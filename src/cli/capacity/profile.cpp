// SPDX-License-Identifier: Apache-2.0
// Prints and measures the machine profile; see profile.hpp.
#include "capacity/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "capacity/meter.hpp"
#include "capacity/topology.hpp"
#include "shared/console.hpp"

namespace sukima::cli {
namespace {

/// The report lists at most this number of lines of pairs, because more are unreadable.
constexpr std::size_t most_lines = 20;
/// The difference between two measurements of the same pair is smaller than this.
constexpr double no_slowdown = 0.05;

/// If other programs use more CPUs than this, the measurement is wrong.
constexpr double quiet = 0.2;
constexpr double watch_seconds = 0.2;

std::vector<sukima_capacity_pair> chosen_pairs(const sukima_capacity_profile& profile,
                                               const std::set<unsigned>& among) {
  std::vector<sukima_capacity_pair> pairs;
  for (std::size_t i = 0; i < profile.pair_count; ++i) {
    const sukima_capacity_pair& p = profile.pairs[i];
    if (among.empty() || (among.contains(p.first) && among.contains(p.second))) pairs.push_back(p);
  }
  std::ranges::sort(pairs, {},
                    [](const sukima_capacity_pair& p) { return std::tuple(-p.slowdown, p.first, p.second); });
  return pairs;
}

std::string date_of(std::uint64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  localtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min);
}

/// \param ns 0: unknown
std::string duration_text(double ns) {
  return ns > 0 ? fmt::format("{:.0f} ns", ns) : std::string("unknown");
}

}  // namespace

void warn_of_others() {
  capacity_meter meter;
  meter.measure(watch_seconds);
  const double others = meter.load().others;
  if (others > quiet)
    complain(fmt::format("other programs use {:.2f} CPUs: the figures are larger than on an idle machine",
                         others));
}

std::string profile_path() {
  std::string path(sukima_capacity_profile_path(nullptr, 0), '\0');
  sukima_capacity_profile_path(path.data(), path.size() + 1);
  return path;
}

std::string state_text(sukima_capacity_profile_state state) {
  switch (state) {
    case SUKIMA_CAPACITY_PROFILE_VALID:
      return "is valid";
    case SUKIMA_CAPACITY_PROFILE_OLD:
      return "is old: measure again with sukima calibrate";
    case SUKIMA_CAPACITY_PROFILE_OTHER_MACHINE:
      return "is of another machine or kernel: measure again with sukima calibrate";
  }
  return "is unknown";
}

std::string pairs_text(const sukima_capacity_profile& profile, const std::set<unsigned>& among) {
  const std::vector<sukima_capacity_pair> pairs = chosen_pairs(profile, among);
  if (pairs.empty()) return "There is only one CPU: nothing to compare.\n";
  const auto slow = std::ranges::count_if(pairs, [](const auto& p) { return p.slowdown >= no_slowdown; });
  std::string text = fmt::format("{} of {} pairs of CPUs slow each other down by {:.0f} % or more:\n", slow,
                                 pairs.size(), no_slowdown * 100);
  for (std::size_t i = 0; i < std::min(pairs.size(), most_lines); ++i)
    text += fmt::format("  {:>4} and {:<4} {:5.1f} % slower together, a hand-over takes {}\n", pairs[i].first,
                        pairs[i].second, std::max(pairs[i].slowdown, 0.0) * 100,
                        duration_text(pairs[i].handover_ns));
  if (pairs.size() > most_lines)
    text += fmt::format("  and {} more (--json has all)\n", pairs.size() - most_lines);
  return text;
}

std::string profile_text(const sukima_capacity_profile& profile) {
  const std::set<unsigned> cpus(profile.cpus, profile.cpus + profile.cpu_count);
  std::string text = fmt::format("Measured {}, valid for {:.3g} days.\nCPUs: {}\n", date_of(profile.written),
                                 profile.valid_seconds / 86400, cpu_list_text(cpus));
  text += fmt::format("Waking a thread on another CPU: {}\nSwitching to another thread: {}\n",
                      duration_text(profile.wake_ns), duration_text(profile.switch_ns));
  for (std::size_t i = 0; i < profile.latency_count; ++i)
    text += fmt::format("Memory of node {} from a CPU of node {}: {}\n", profile.latencies[i].memory_node,
                        profile.latencies[i].cpu_node, duration_text(profile.latencies[i].ns));
  return text + pairs_text(profile, {});
}

nlohmann::json pairs_json(const sukima_capacity_profile& profile, const std::set<unsigned>& among) {
  nlohmann::json list = nlohmann::json::array();
  for (const sukima_capacity_pair& p : chosen_pairs(profile, among))
    list.push_back({{"cpus", {p.first, p.second}}, {"slowdown", p.slowdown}, {"handover_ns", p.handover_ns}});
  return list;
}

nlohmann::json profile_json(const sukima_capacity_profile& profile) {
  nlohmann::json object{{"written", profile.written},
                        {"valid_seconds", profile.valid_seconds},
                        {"cpus", std::vector<unsigned>(profile.cpus, profile.cpus + profile.cpu_count)},
                        {"wake_ns", profile.wake_ns},
                        {"switch_ns", profile.switch_ns},
                        {"pairs", pairs_json(profile, {})},
                        {"memory", nlohmann::json::array()}};
  for (std::size_t i = 0; i < profile.latency_count; ++i)
    object["memory"].push_back({{"cpu_node", profile.latencies[i].cpu_node},
                                {"memory_node", profile.latencies[i].memory_node},
                                {"ns", profile.latencies[i].ns}});
  return object;
}

sukima::calibration measure_profile(sukima::calibration_plan plan) {
  const std::set<unsigned> allowed = allowed_cpus();
  for (const unsigned cpu : plan.cpus)
    if (!allowed.contains(cpu))
      throw process::usage_error(
          fmt::format("this process may not use CPU {}: choose from {}", cpu, cpu_list_text(allowed)));
  warn_of_others();
  progress_line progress;
  plan.progress = [&progress](const std::string& step, std::size_t done, std::size_t total) {
    progress.show(fmt::format("{} ({} of {})", step, done, total));
  };
  try {
    return sukima::calibrate(plan);
  } catch (const std::invalid_argument& error) {
    throw process::usage_error(error.what());
  }
}

}  // namespace sukima::cli

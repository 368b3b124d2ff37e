// SPDX-License-Identifier: Apache-2.0
// Measures the machine profile.
#include <sukima/calibrate.hpp>

#include <base/shared/assert.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <stdexcept>
#include <utility>

#include "bound_threads.hpp"
#include "cpu_pairs.hpp"
#include "memory_latency.hpp"

namespace sukima {

using namespace calibrate_detail;

namespace {

/// If there are at most this many CPUs, all pairs are measured.
constexpr std::size_t few_cpus = 32;
/// Smaller slowdowns count as noise.
constexpr double least_slowdown = 0.03;

using cpu_pair = std::pair<unsigned, unsigned>;

std::vector<unsigned> cpus_of(const calibration_plan& plan) {
  std::vector<unsigned> allowed = allowed_cpus();
  if (plan.cpus.empty()) return allowed;
  std::vector<unsigned> wanted = plan.cpus;
  std::ranges::sort(wanted);
  const auto repeated = std::ranges::unique(wanted);
  wanted.erase(repeated.begin(), repeated.end());
  for (const unsigned cpu : wanted) {
    if (!std::ranges::binary_search(allowed, cpu)) {
      throw std::invalid_argument("this process may not run on CPU " + std::to_string(cpu) +
                                  ": name others, or none for all");
    }
  }
  return wanted;
}

std::vector<cpu_pair> pairs_of(const std::vector<unsigned>& cpus, bool all, const topology& machine) {
  std::vector<cpu_pair> result;
  for (std::size_t i = 0; i < cpus.size(); i++) {
    for (std::size_t k = i + 1; k < cpus.size(); k++) {
      const bool chosen = all || cpus.size() <= few_cpus || k == i + 1 || k == i + cpus.size() / 2 ||
                          machine.are_near(cpus[i], cpus[k]);
      if (chosen) result.emplace_back(cpus[i], cpus[k]);
    }
  }
  SUKIMA_ASSERT(std::ranges::is_sorted(result) &&
                    std::ranges::all_of(result, [](const cpu_pair& one) { return one.first < one.second; }),
                "a profile has each pair of CPUs once, the smaller number first");
  return result;
}

/// The part of its speed that the CPU with the larger loss loses.
double slowdown_of(double alone_first, double alone_second, const both_speeds& both) {
  const double kept = std::min(both.first / alone_first, both.second / alone_second);
  const double lost = std::clamp(1 - kept, 0.0, 1.0);
  return lost < least_slowdown ? 0 : lost;
}

}  // namespace

sukima_capacity_profile calibration::profile() const {
  return {.machine = machine,
          .written = written,
          .valid_seconds = valid_seconds,
          .switch_ns = switch_ns,
          .wake_ns = wake_ns,
          .cpus = cpus.data(),
          .cpu_count = cpus.size(),
          .pairs = pairs.data(),
          .pair_count = pairs.size(),
          .latencies = latencies.data(),
          .latency_count = latencies.size()};
}

calibration calibrate(const calibration_plan& plan) {
  const topology machine;
  const std::vector<unsigned> cpus = cpus_of(plan);
  const std::vector<cpu_pair> pairs = pairs_of(cpus, plan.all_pairs, machine);
  const double seconds = plan.window_seconds;
  const std::size_t total = cpus.size() + pairs.size() + 2;
  std::size_t done = 0;
  const auto show = [&](const std::string& step) {
    if (plan.progress) plan.progress(step, done, total);
    done++;
  };

  calibration result;
  result.cpus.assign(cpus.begin(), cpus.end());
  result.valid_seconds = plan.valid_seconds;
  std::map<unsigned, double> alone;
  for (const unsigned cpu : cpus) {
    show("CPU " + std::to_string(cpu));
    alone[cpu] = speed_of(cpu, seconds);
  }
  for (const auto& [first, second] : pairs) {
    show("CPUs " + std::to_string(first) + " and " + std::to_string(second));
    const both_speeds both = speed_of_both(first, second, seconds);
    const double slowdown = slowdown_of(alone[first], alone[second], both);
    result.pairs.push_back({first, second, slowdown, handover_ns(first, second, seconds)});
  }
  show("waking and switching");
  result.switch_ns = wake_ns(cpus.front(), cpus.front(), seconds);
  if (cpus.size() > 1) result.wake_ns = wake_ns(cpus[0], cpus[1], seconds);
  show("memory");
  SUKIMA_ASSERT(done == total, "the progress ends with the last step");
  result.latencies = machine.latencies(cpus);
  result.machine = sukima_capacity_machine(nullptr);
  result.written = static_cast<std::uint64_t>(std::time(nullptr));
  return result;
}

}  // namespace sukima

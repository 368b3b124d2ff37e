// SPDX-License-Identifier: Apache-2.0
// The answer as metrics for Prometheus; see answer.hpp.
#include <base/shared/metric_text.hpp>
#include <cmath>
#include <map>
#include <string>

#include "probe/answer.hpp"

namespace sukima::cli::probe {
namespace {

/// Appends a metric of one sample, unless its value is unknown or infinite.
void add_value(std::string& text, const char* name, const char* help, double value) {
  if (std::isfinite(value)) metric_family(text, name, "gauge", help).add({}, value);
}

/// Adds the quota of each group that has one. \param value computes the value from a limit
template <class Value>
void add_quotas(std::string& text, const answer& result, const char* name, const char* type, const char* help,
                Value value) {
  metric_family metric(text, name, type, help);
  for (std::size_t i = 0; i < result.report->limit_count; ++i) {
    const sukima_capacity_limit& limit = result.report->limits[i];
    if (limit.kind != SUKIMA_CAPACITY_QUOTA || !std::isfinite(limit.value)) continue;
    const double one = value(limit);
    if (std::isfinite(one)) metric.add(metric_label("level", std::to_string(limit.level)), one);
  }
}

/// Returns a number of periods; infinite if it is unknown, because 0 would reset the counter.
double count_of(const sukima_capacity_limit& limit, std::uint64_t number) {
  return limit.periods == 0 ? HUGE_VAL : static_cast<double>(number);
}

}  // namespace

std::string metrics_of(const answer& result) {
  const sukima_capacity_facts& facts = result.report->facts;
  std::string text;
  add_value(text, "sukima_usable_cpus", "CPUs that the process can use beside its neighbours.",
            result.estimate.usable);
  add_value(text, "sukima_usable_cpus_low", "Lower end of the interval of sukima_usable_cpus.",
            result.estimate.low);
  add_value(text, "sukima_usable_cpus_high", "Upper end of the interval of sukima_usable_cpus.",
            result.estimate.high);
  add_value(text, "sukima_limit_cpus", "CPUs that the limits of the process allow.", facts.usable);
  add_value(text, "sukima_cap_threads", "Threads that may run at the same moment.", facts.cap);
  add_value(text, "sukima_threads", "Threads to start.", result.threads);
  if (facts.online != 0)
    add_value(text, "sukima_online_cpus", "CPUs of the machine that are online.", facts.online);
  add_value(text, "sukima_used_cpus", "CPUs that the threads of the process get now.", result.load.now);
  add_value(text, "sukima_other_used_cpus", "CPUs that others use on this machine.", result.load.others);
  add_value(text, "sukima_stolen_ratio", "Part of each CPU that the hypervisor takes.", result.load.stolen);
  add_value(text, "sukima_throttled_ratio", "Part of the time in which a quota holds the group back.",
            result.load.throttled);
  add_value(text, "sukima_pressure_ratio", "Part of the time in which some thread waits for a CPU.",
            result.load.pressure);
  add_quotas(text, result, "sukima_quota_cpus", "gauge",
             "Quota of the process's group (level 0) or of a group above.",
             [](const sukima_capacity_limit& limit) { return limit.value; });
  add_quotas(text, result, "sukima_quota_periods_total", "counter",
             "Periods of the quota in which the group wanted CPU.",
             [](const sukima_capacity_limit& limit) { return count_of(limit, limit.periods); });
  add_quotas(text, result, "sukima_quota_throttled_periods_total", "counter",
             "Periods in which the quota held the group back.",
             [](const sukima_capacity_limit& limit) { return count_of(limit, limit.throttled_periods); });
  metric_family(text, "sukima_binding_info", "gauge",
                "1; the label is the kind of cause that takes most CPU away.")
      .add(metric_label("kind", sukima_capacity_kind_name(binding_limit(*result.report).kind)), 1);
  metric_family warnings(text, "sukima_warning_info", "gauge", "How many warnings of that name there are.");
  std::map<std::string, double> by_name;  // a name may have several warnings
  for (const warning& each : result.warnings) ++by_name[each.name];
  for (const auto& [name, count] : by_name) warnings.add(metric_label("name", name), count);
  return text;
}

}  // namespace sukima::cli::probe

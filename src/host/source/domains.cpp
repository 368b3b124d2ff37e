// SPDX-License-Identifier: Apache-2.0
// Interprets libvirt's statistics; see domains.hpp. Source: libvirt's reference of
// virConnectGetAllDomainStats and virDomainGetSchedulerParameters.
#include "source/domains.hpp"

#include <base/shared/parse_number.hpp>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "source/files.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

/// Values of virDomainState.
constexpr double state_paused = 3, state_shut_off = 5, state_crashed = 6, state_suspended = 7;

using texts = std::map<std::string, std::string>;

std::optional<double> value_in(const texts& all, const std::string& name) {
  const auto found = all.find(name);
  if (found == all.end()) return std::nullopt;
  const auto value = parse_number<double>(trimmed(found->second));
  return value && *value >= -1e18 && *value <= 1e19 ? value : std::nullopt;
}

/// A counter in nanoseconds, converted to seconds.
std::optional<double> seconds_in(const texts& all, const std::string& name) {
  const auto value = value_in(all, name);
  if (!value || *value < 0) return std::nullopt;
  return *value * 1e-9;
}

std::size_t count_in(const texts& all, const std::string& name, std::size_t otherwise) {
  const auto value = value_in(all, name);
  if (!value || *value < 0 || *value > static_cast<double>(most_vcpus)) return otherwise;
  return static_cast<std::size_t>(*value);
}

/// A quota divided by its period, in CPUs. libvirt writes no limit as -1 or, in old versions, as a very large
/// number.
std::optional<double> quota_in(const texts& all, const std::string& of) {
  const auto quota = value_in(all, of + "_quota"), period = value_in(all, of + "_period");
  if (!quota || !period || *quota <= 0 || *period <= 0 || *quota > 1e13) return std::nullopt;
  const double cpus = *quota / *period;
  if (cpus > static_cast<double>(most_vcpus)) return std::nullopt;
  return cpus;
}

void take_scheduler(const domain_record& record, double default_shares, vm& result,
                    std::optional<double>& vcpu_cap) {
  // Xen's schedulers weigh each vCPU, and control groups weigh the domain.
  const bool xen = record.scheduler.starts_with("credit");
  result.weight_of = xen ? weight_owner::vcpu : weight_owner::vm;
  result.weight = default_weight;
  if (const auto shares = value_in(record.parameters, "cpu_shares"); shares && *shares > 0)
    result.weight = *shares / default_shares * default_weight;
  else if (const auto weight = value_in(record.parameters, "weight"); weight && *weight >= 0)
    result.weight = *weight;
  result.weight = std::min(result.weight, most_weight);
  if (const auto percent = value_in(record.parameters, "cap"); percent && *percent > 0)
    result.cap = std::min(*percent / 100, static_cast<double>(most_vcpus));
  if (const auto cap = quota_in(record.parameters, "global")) result.cap = cap;
  vcpu_cap = quota_in(record.parameters, "vcpu");
  if (vcpu_cap && *vcpu_cap >= 1) vcpu_cap.reset();
}

/// Reads the vCPUs in the statistics.
void take_vcpus(const domain_record& record, std::optional<double> cap, observed_vm& result) {
  const texts& all = record.statistics;
  const std::size_t current = count_in(all, "vcpu.current", record.vcpus.size());
  const std::size_t most = std::max(count_in(all, "vcpu.maximum", current), current);
  std::unordered_map<std::uint32_t, const domain_vcpu*> places;
  for (const domain_vcpu& one : record.vcpus) places.emplace(one.id, &one);
  for (std::size_t i = 0, online = 0; i < most; ++i) {
    const std::string name = "vcpu." + std::to_string(i) + ".";
    vcpu one;
    one.id = static_cast<std::uint32_t>(i);
    one.ran = seconds_in(all, name + "time");
    one.waited = seconds_in(all, name + "delay");
    if (!one.waited) one.waited = seconds_in(all, name + "wait");
    // Only vCPUs that are plugged in have a state. If the source reports no states, the first ones count as
    // plugged in.
    const auto state = value_in(all, name + "state");
    const bool silent = !all.contains("vcpu.0.state") && !one.ran;
    one.online = silent ? online < current : state.value_or(one.ran ? 1 : 0) > 0 || one.ran.has_value();
    if (one.online) ++online;
    one.cap = cap;
    const auto place = places.find(one.id);
    result.last_pcpu.push_back(place == places.end() ? std::nullopt : place->second->last_pcpu);
    if (place != places.end()) one.hard = place->second->hard;
    result.now.vcpus.push_back(std::move(one));
  }
}

}  // namespace

std::optional<std::string> note_on_limits(const std::vector<domain_record>& domains, const std::string& uri) {
  const auto hiding =
      static_cast<std::size_t>(std::ranges::count(domains, true, &domain_record::hides_limits));
  if (hiding == 0) return std::nullopt;
  if (hiding == domains.size())
    return "libvirt at " + uri + " does not report weights and caps; as root, qemu:///system does";
  const auto first = std::ranges::find(domains, true, &domain_record::hides_limits);
  std::string note =
      "libvirt at " + uri + " does not report the weight and the cap of " + printable_name(first->name);
  if (hiding > 1) note += " and of " + std::to_string(hiding - 1) + (hiding > 2 ? " others" : " other");
  return note;
}

std::optional<observed_vm> observe_domain(const domain_record& record, double default_shares) {
  const auto state = value_in(record.statistics, "state.state");
  if (state && (*state == state_shut_off || *state == state_crashed)) return std::nullopt;
  observed_vm result;
  result.source = "libvirt";
  result.run = record.run;
  result.now.name = record.name;
  if (!record.uuid.empty()) result.now.id = record.uuid;
  if (!record.port.empty())
    result.now.unknown =
        nlohmann::json{{"port", record.port}}.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (state && (*state == state_paused || *state == state_suspended)) result.state = vm_state::paused;
  std::optional<double> vcpu_cap;
  take_scheduler(record, default_shares, result.now, vcpu_cap);
  take_vcpus(record, vcpu_cap, result);
  std::vector<vcpu>& vcpus = result.now.vcpus;
  if (vcpus.empty()) return std::nullopt;
  // Some drivers (LXC) count only for the whole domain.
  const bool counted = std::ranges::any_of(vcpus, [](const vcpu& one) { return one.ran.has_value(); });
  if (const auto time = seconds_in(record.statistics, "cpu.time"); !counted && time) {
    const auto online = std::ranges::count(vcpus, true, &vcpu::online);
    for (vcpu& one : vcpus)
      if (one.online) one.ran = *time / static_cast<double>(std::max<long>(online, 1));
  }
  return result;
}

}  // namespace sukima::host

// SPDX-License-Identifier: Apache-2.0
// Metrics in the text format of Prometheus.
#include <fmt/format.h>

#include <base/shared/metric_text.hpp>
#include <functional>

#include "shared/metrics.hpp"

namespace sukima::host {
namespace {

constexpr optimiser_state all_states[] = {
    optimiser_state::idle,  optimiser_state::learn, optimiser_state::trial, optimiser_state::rest,
    optimiser_state::sweep, optimiser_state::back,  optimiser_state::hold};

std::string label_of(const vm_metrics& one) { return metric_label("vm", one.name); }

/// Adds a metric that has at most one sample per machine.
void add_values(std::string& text, const host_metrics& all, const char* name, const char* type,
                const char* help, const std::function<std::optional<double>(const vm_metrics&)>& value) {
  metric_family metric(text, name, type, help);
  for (const vm_metrics& one : all.vms)
    if (const auto found = value(one)) metric.add(label_of(one), *found);
}

void add_vcpus(std::string& text, const host_metrics& all) {
  metric_family metric(text, "sukima_vm_vcpus", "gauge", "Virtual CPUs by their state.");
  for (const vm_metrics& one : all.vms) {
    metric.add(label_of(one) + ",state=\"online\"", static_cast<double>(one.online));
    metric.add(label_of(one) + ",state=\"offline\"", static_cast<double>(one.offline));
  }
}

void add_states(std::string& text, const host_metrics& all) {
  metric_family metric(text, "sukima_vm_optimiser_state", "gauge",
                       "1 for the state of the optimiser, else 0.");
  for (const vm_metrics& one : all.vms)
    for (const optimiser_state each : all_states)
      if (one.state)
        metric.add(fmt::format("{},state=\"{}\"", label_of(one), name_of(each)), *one.state == each ? 1 : 0);
}

void add_acts(std::string& text, const host_metrics& all) {
  metric_family metric(text, "sukima_host_acts_total", "counter", "Acts of this process by kind and result.");
  for (const auto& [kind, counts] : all.acts) {
    metric.add(fmt::format("kind=\"{}\",result=\"proved\"", name_of(kind)),
               static_cast<double>(counts.proved));
    metric.add(fmt::format("kind=\"{}\",result=\"failed\"", name_of(kind)),
               static_cast<double>(counts.failed));
  }
}

void add_messages(std::string& text, const guest_inbox::counts& seen) {
  metric_family metric(text, "sukima_guest_messages_total", "counter", "Messages of guests by result.");
  metric.add("result=\"taken\"", static_cast<double>(seen.taken));
  metric.add("result=\"malformed\"", static_cast<double>(seen.malformed));
  metric.add("result=\"too_many\"", static_cast<double>(seen.too_many));
}

}  // namespace

std::string metrics_text(const host_metrics& all) {
  std::string text;
  add_values(text, all, "sukima_vm_usable_cpus", "gauge", "CPUs that the machine can use.",
             [](const vm_metrics& one) { return one.usable; });
  add_values(text, all, "sukima_vm_used_cpus", "gauge", "CPUs that the machine used in the last cycle.",
             [](const vm_metrics& one) { return one.used; });
  add_values(text, all, "sukima_vm_demand_cpus", "gauge", "CPUs that the machine wants.",
             [](const vm_metrics& one) { return one.demand; });
  add_values(text, all, "sukima_vm_ran_seconds_total", "counter", "CPU time of the virtual CPUs.",
             [](const vm_metrics& one) { return one.ran; });
  add_values(text, all, "sukima_vm_waited_seconds_total", "counter",
             "Time that virtual CPUs waited for a CPU.", [](const vm_metrics& one) { return one.waited; });
  add_values(
      text, all, "sukima_vm_count", "gauge", "Threads or virtual CPUs in effect.",
      [](const vm_metrics& one) { return one.count ? std::optional<double>(*one.count) : std::nullopt; });
  add_vcpus(text, all);
  add_states(text, all);
  add_acts(text, all);
  if (all.messages) add_messages(text, *all.messages);
  metric_family vms(text, "sukima_host_vms", "gauge", "Virtual machines of this host.");
  vms.add("", static_cast<double>(all.vms.size()));
  if (all.cycle_seconds) {
    metric_family cycle(text, "sukima_host_cycle_seconds", "gauge", "How long the latest cycle took.");
    cycle.add("", *all.cycle_seconds);
  }
  return text;
}

}  // namespace sukima::host

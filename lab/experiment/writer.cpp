// SPDX-License-Identifier: Apache-2.0
// Writing experiments, and what follows from their settings and environments; see experiment.hpp.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "shared/experiment.hpp"

namespace sukima::lab {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const program& one) {
  ordered_json entry = {{"name", one.name}};
  if (!one.command.empty()) entry["command"] = one.command;
  if (!one.benchmark.empty()) entry["benchmark"] = one.benchmark;
  if (one.system != program().system) entry["system"] = one.system;
  if (one.size) entry["size"] = *one.size;
  if (one.quick_size) entry["quick_size"] = *one.quick_size;
  if (one.seconds) entry["seconds"] = *one.seconds;
  if (one.quick_seconds) entry["quick_seconds"] = *one.quick_seconds;
  if (!one.quick) entry["quick"] = false;
  return entry;
}

ordered_json json_of(const setting& one) {
  ordered_json entry = {{"name", one.name}};
  for (const auto& [name, value] : one.variables) entry["variables"][name] = value;
  if (one.workers_per_cpu != 1) entry["workers_per_cpu"] = one.workers_per_cpu;
  if (one.cpus_left) entry["cpus"] = "left";
  if (!one.through.empty()) entry["through"] = one.through;
  if (!one.arguments.empty()) entry["arguments"] = one.arguments;
  if (one.unit != setting().unit) entry["unit"] = one.unit;
  if (one.least_cpus != 1) entry["least_cpus"] = one.least_cpus;
  if (!one.quick) entry["quick"] = false;
  return entry;
}

ordered_json json_of(const environment& one) {
  ordered_json entry = {{"name", one.name}, {"kind", name_of(one.kind)}};
  if (one.kind == environment_kind::cap || one.kind == environment_kind::fewer) entry["part"] = one.part;
  if (one.copies != 1) entry["copies"] = one.copies;
  if (one.period_ms != environment().period_ms) entry["period_ms"] = one.period_ms;
  if (!one.weights.empty()) entry["weights"] = one.weights;
  if (one.vcpus) entry["vcpus"] = *one.vcpus;
  if (one.memory_mib != environment().memory_mib) entry["memory_mib"] = one.memory_mib;
  if (!one.baseline.empty()) entry["baseline"] = one.baseline;
  if (one.least_cpus != 1) entry["least_cpus"] = one.least_cpus;
  if (!one.quick) entry["quick"] = false;
  return entry;
}

ordered_json json_of(const side& one) {
  ordered_json entry = {{"settings", one.settings}};
  if (!one.environment.empty()) entry["environment"] = one.environment;
  if (!one.environments.empty()) entry["environments"] = one.environments;
  if (one.take != taking::best) entry["take"] = name_of(one.take);
  return entry;
}

ordered_json json_of(const claim& one) {
  ordered_json entry = {{"name", one.name}, {"text", one.text}};
  if (!one.figure.empty()) entry["figure"] = one.figure;
  if (!one.found.empty()) entry["found"] = one.found;
  if (!one.missing.empty()) {
    entry["missing"] = one.missing;
    return entry;
  }
  if (one.of != measure::time) entry["measure"] = name_of(one.of);
  entry["left"] = json_of(one.left);
  if (one.right) entry["right"] = json_of(*one.right);
  entry["programs"] = one.programs;
  entry["environments"] = one.environments;
  entry["relation"] = one.above ? "above" : "below";
  if (one.bound != 1) entry["bound"] = one.bound;
  if (one.in != 1) entry["in"] = one.in;
  if (one.worst) entry["judge"] = "worst";
  if (one.least_cpus != 1) entry["least_cpus"] = one.least_cpus;
  if (!one.needs.empty()) entry["needs"] = one.needs;
  return entry;
}

template <class Thing>
ordered_json json_of(const std::vector<Thing>& all) {
  ordered_json entries = ordered_json::array();
  for (const Thing& one : all) entries.push_back(json_of(one));
  return entries;
}

}  // namespace

const char* name_of(environment_kind kind) {
  switch (kind) {
    case environment_kind::machine:
      return "machine";
    case environment_kind::cap:
      return "cap";
    case environment_kind::fewer:
      return "fewer";
    case environment_kind::share:
      return "share";
    case environment_kind::vms:
      return "vms";
  }
  return "";
}

const char* name_of(taking which) {
  switch (which) {
    case taking::best:
      return "best";
    case taking::worst:
      return "worst";
    case taking::use:
      return "use";
  }
  return "";
}

const char* name_of(measure measure) {
  switch (measure) {
    case measure::time:
      return "time";
    case measure::converted:
      return "converted";
    case measure::relative:
      return "relative";
  }
  return "";
}

std::string experiment_text(const experiment& experiment) {
  const lab::experiment defaults;
  ordered_json document = {{"sukima-lab", 1}, {"name", experiment.name}, {"title", experiment.title}};
  if (!experiment.source.empty()) document["source"] = experiment.source;
  if (experiment.paper_cpus) document["paper_cpus"] = *experiment.paper_cpus;
  if (experiment.shown != defaults.shown) document["shown"] = name_of(experiment.shown);
  document["programs"] = json_of(experiment.programs);
  document["settings"] = json_of(experiment.settings);
  document["environments"] = json_of(experiment.environments);
  document["repetitions"] = experiment.repetitions;
  document["quick_repetitions"] = experiment.quick_repetitions;
  document["limit_seconds"] = experiment.limit_seconds;
  if (!experiment.claims.empty()) document["claims"] = json_of(experiment.claims);
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string place_name(const std::string& experiment, const std::string& environment) {
  return experiment + "/" + environment;
}

unsigned visible_cpus(const environment& where, unsigned cpus) {
  return where.kind == environment_kind::vms ? where.vcpus.value_or(cpus) : cpus;
}

unsigned cpus_left(const environment& where, unsigned cpus) {
  const double lack = where.kind == environment_kind::share ? where.copies : target_factor(where, cpus);
  const double left = static_cast<double>(cpus) / lack;
  // Subtracts the rounding error, which would make 4 CPUs of 3 in 9.
  return std::min(visible_cpus(where, cpus), static_cast<unsigned>(std::max(1.0, std::ceil(left - 1e-9))));
}

unsigned workers_of(const setting& how, const environment& where, unsigned cpus) {
  const unsigned all = how.cpus_left ? cpus_left(where, cpus) : visible_cpus(where, cpus);
  return static_cast<unsigned>(std::max(1.0, std::round(how.workers_per_cpu * static_cast<double>(all))));
}

unsigned remaining_cpus(const environment& where, unsigned cpus) {
  return static_cast<unsigned>(std::max(1.0, std::round(where.part * static_cast<double>(cpus))));
}

double target_factor(const environment& where, unsigned cpus) {
  const auto all = static_cast<double>(cpus);
  switch (where.kind) {
    case environment_kind::machine:
      return 1;
    case environment_kind::cap:
      return 1 / where.part;
    case environment_kind::fewer:
      return all / static_cast<double>(remaining_cpus(where, cpus));
    case environment_kind::vms:
      return static_cast<double>(where.copies);
    case environment_kind::share:
      break;
  }
  if (where.weights.empty()) return static_cast<double>(where.copies);
  // Equal work with unequal weights: the heaviest ends first, and leaves its share to the others.
  std::vector<int> weights = where.weights;
  std::ranges::sort(weights, std::greater<>());
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  double now = 0, done_by_weight = 0, ends = 0;
  for (const int weight : weights) {
    // Each copy has done its weight × done_by_weight of the work so far; this one ends at 1.
    now += (1.0 / weight - done_by_weight) * sum;
    done_by_weight = 1.0 / weight;
    sum -= weight;
    ends += now;
  }
  return ends / static_cast<double>(weights.size());
}

}  // namespace sukima::lab

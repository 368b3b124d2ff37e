// SPDX-License-Identifier: Apache-2.0
// Computes a description from snapshots; see shared/observer.hpp.
#include "shared/observer.hpp"

#include <base/shared/assert.hpp>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "source/demand.hpp"
#include "source/host_use.hpp"
#include "source/names.hpp"

namespace sukima::host {
namespace {

using nlohmann::json;

/// Seconds over which the host's own use is averaged.
constexpr double host_window = 10;
/// The shortest interval, in seconds, that is used: the counters of libvirt advance in steps of 10 ms.
constexpr double least_interval = 0.1;

bool knows_waiting(const vm& one) {
  return std::ranges::all_of(one.vcpus, [](const vcpu& v) { return !v.online || v.waited.has_value(); });
}

/// Returns a unique name for each machine, in their order. O(n log n), even if all machines have one name.
std::vector<std::string> unique_names(const std::vector<observed_vm>& vms) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  std::map<std::string, int> numbers;  // of each beginning: the last number that was tried
  for (const observed_vm& one : vms) {
    const std::string name = printable_name(one.now.name);
    std::string unique = name;
    if (taken.contains(unique) && one.now.id)
      unique = printable_name(name.substr(0, 180) + " (" + one.now.id->substr(0, 8) + ")");
    const std::string beginning = printable_name(name.substr(0, 180));  // may end inside a character
    for (int& number = numbers.try_emplace(beginning, 1).first->second; taken.contains(unique);)
      unique = beginning + "-" + std::to_string(++number);
    taken.insert(unique);
    names.push_back(unique);
  }
  return names;
}

}  // namespace

std::string text_of(const change& one) {
  switch (one.kind) {
    case change_kind::appeared:
      return one.name + " appeared.";
    case change_kind::ended:
      return one.name + " ended, or moved to another host.";
    case change_kind::paused:
      return one.name + " was paused.";
    case change_kind::resumed:
      return one.name + " was resumed.";
    case change_kind::renamed:
      return one.former + " was renamed to " + one.name + ".";
    case change_kind::restarted:
      return one.name + " was restarted, or came back from another host.";
    case change_kind::late:
      return one.name + " does not answer.";
    case change_kind::back:
      break;
  }
  return one.name + " answers again.";
}

void observer::take_changes(const observed_vm& one, const std::string& name, memory& before) {
  const auto add = [&](change_kind kind) { changes_.push_back({kind, name, before.name}); };
  bool restarted = !one.run.empty() && !before.run.empty() && one.run != before.run;
  for (const vcpu& each : one.now.vcpus) {
    const auto found = before.vcpus.find(each.id);
    // An unplugged vCPU has no counter. That does not mean that the counter went back.
    if (found != before.vcpus.end() && each.ran && *each.ran < found->second.ran) restarted = true;
  }
  if (before.name != name) add(change_kind::renamed);
  if (restarted) {
    add(change_kind::restarted);
    // The data of the former run are not valid for this run, least of all an interval between their counters.
    before.vcpus.clear();
    before.demands.clear();
    before.measured = {};
  }
  if (before.state != one.state)
    add(one.state == vm_state::paused ? change_kind::paused : change_kind::resumed);
  if (before.stale != one.stale) add(one.stale ? change_kind::late : change_kind::back);
}

std::vector<double> observer::measure(const observed_vm& one, memory& remembered) {
  const double seconds = one.read_at - remembered.read_at;
  const bool first = remembered.vcpus.empty();
  std::vector<double> ran;
  if (!first && seconds < least_interval) return ran;
  std::vector<ran_and_waited> done;
  for (const vcpu& each : one.now.vcpus) {
    // A vCPU that was plugged in since the last reading has run from 0 on.
    vcpu_memory& before = remembered.vcpus[each.id];
    const ran_and_waited now{each.ran.value_or(0), each.waited.value_or(0)};
    done.push_back(done_between({before.ran, before.waited}, now, seconds));
    ran.push_back(done.back().ran);
    before.ran = now.ran;
    before.waited = now.waited;
    if (each.ran) remembered.measured.ran.count(each.id, *each.ran);
    if (each.waited) remembered.measured.waited.count(each.id, *each.waited);
  }
  const std::optional<double> throttled_before = remembered.throttled;
  remembered.read_at = one.read_at;
  remembered.throttled = one.throttled;
  if (first) return {};
  double counted = 0;
  if (one.throttled && throttled_before) counted = std::max(*one.throttled - *throttled_before, 0.0);
  const ran_and_waited all = without_explained_waiting(one.now, done, seconds, counted);
  remembered.measured.used = all.ran / seconds;
  const bool known = knows_waiting(one.now);
  if (known)
    remembered.measured.waited_by_ran = all.ran > 0 ? all.waited / all.ran : all.waited > 0 ? 1e9 : 0;
  else
    remembered.measured.waited_by_ran.reset();
  remembered.demands.clear();
  const bool satisfied = known && !waits_for_cpu(all, seconds);
  for (std::size_t i = 0; i < one.now.vcpus.size(); ++i) {
    std::optional<double>& held = remembered.vcpus[one.now.vcpus[i].id].held;
    held = satisfied ? next_demand(held, ran[i] / seconds, seconds, ran.size()) : 1;
    remembered.demands.push_back(satisfied ? held : std::nullopt);
  }
  return ran;
}

void observer::take_host_use(const snapshot& now, const std::vector<std::vector<double>>& ran,
                             bool complete) {
  const double seconds = now.clock - clock_;
  std::vector<double> busy;
  std::map<std::uint32_t, std::size_t> position;
  for (std::size_t p = 0; p < now.busy.size() && p < now.pcpus.size(); ++p) {
    const auto before = busy_.find(now.pcpus[p].id);
    complete = complete && before != busy_.end();
    busy.push_back(before == busy_.end() ? 0 : std::clamp(now.busy[p] - before->second, 0.0, seconds));
    position[now.pcpus[p].id] = p;
  }
  while (!host_intervals_.empty() && host_intervals_.front().end <= now.clock - host_window)
    host_intervals_.pop_front();
  // If a machine ended or appeared in between, its running time is unknown and would count as the host's own
  // use.
  if (!complete || busy.empty() || seconds < least_interval) return;
  std::vector<ran_somewhere> all;
  for (std::size_t j = 0; j < now.vms.size(); ++j)
    for (std::size_t i = 0; i < ran[j].size(); ++i) {
      ran_somewhere one;
      one.seconds = ran[j][i];
      const auto& last = now.vms[j].last_pcpu;
      if (i < last.size() && last[i] && position.contains(*last[i])) one.last = position[*last[i]];
      if (!one.last) {
        for (const std::uint32_t id : now.vms[j].now.vcpus[i].hard)
          if (position.contains(id)) one.may.push_back(position[id]);
        if (one.may.empty())
          for (std::size_t p = 0; p < busy.size(); ++p) one.may.push_back(p);
      }
      all.push_back(std::move(one));
    }
  const std::vector<double> used = host_use(busy, all);
  host_interval interval{now.clock, seconds, {}};
  for (const auto& [id, p] : position) interval.used[id] = used[p];
  host_intervals_.push_back(std::move(interval));
}

vm observer::describe(const observed_vm& one, const std::string& name, const memory& remembered,
                      const std::unordered_set<std::uint32_t>& there) {
  vm result = one.now;
  result.name = name;
  if (result.id) result.id = printable_name(*result.id);
  result.weight = std::clamp(result.weight, 0.0, most_weight);
  for (std::size_t i = 0; i < result.vcpus.size(); ++i) {
    vcpu& each = result.vcpus[i];
    if (one.state == vm_state::paused)
      each.demand = 0;
    else if (i < remembered.demands.size())
      each.demand = remembered.demands[i];
    // Offline pCPUs are ignored. A vCPU left with no pCPU may run anywhere, as on Linux.
    const auto gone = [&](std::uint32_t id) { return !there.contains(id); };
    std::erase_if(each.hard, gone);
    if (each.hard.size() == there.size()) each.hard.clear();
    std::erase_if(each.soft, gone);
  }
  json more = result.unknown.empty() ? json::object() : json::parse(result.unknown);
  more["source"] = one.source;
  if (one.state == vm_state::paused) more["state"] = "paused";
  if (one.stale) more["stale"] = true;
  if (one.throttled) more["throttled"] = *one.throttled;
  result.unknown = more.dump();
  return result;
}

const description& observer::update(const snapshot& now) {
  changes_.clear();
  const std::vector<std::string> names = unique_names(now.vms);
  std::map<std::string, memory> memories;
  std::vector<std::vector<double>> ran(now.vms.size());
  std::vector<std::string> keys;
  std::map<std::string, std::size_t> with_key;
  bool complete = begun_;
  for (std::size_t j = 0; j < now.vms.size(); ++j) {
    const observed_vm& one = now.vms[j];
    std::string key = one.now.id ? "id " + *one.now.id : "name " + names[j];
    // Two machines have one id: keep both.
    if (const std::size_t others = with_key[key]++; others != 0)
      key = "same " + std::to_string(others) + " " + key;
    const auto found = memories_.find(key);
    memory remembered;
    if (found != memories_.end()) {
      remembered = std::move(found->second);
      memories_.erase(found);
      take_changes(one, names[j], remembered);
    } else if (begun_) {
      changes_.push_back({change_kind::appeared, names[j], {}});
    }
    // A machine that answered late has its own interval, which is longer than the host's.
    const bool was_stale = remembered.stale;
    ran[j] = measure(one, remembered);
    complete = complete && !was_stale && ran[j].size() == one.now.vcpus.size();
    remembered.name = names[j];
    remembered.run = one.run;
    remembered.state = one.state;
    remembered.stale = one.stale;
    remembered.measured.state = one.state;
    remembered.measured.stale = one.stale;
    remembered.measured.source = one.source;
    memories[key] = std::move(remembered);
    keys.push_back(std::move(key));
  }
  for (const auto& [key, gone] : memories_) changes_.push_back({change_kind::ended, gone.name, {}});
  complete = complete && memories_.empty();
  memories_ = std::move(memories);
  take_host_use(now, ran, complete);
  host_ = {};
  host_.taken = now.taken;
  host_.pcpus = now.pcpus;
  for (pcpu& one : host_.pcpus) {
    double used = 0, seconds = 0;
    for (const host_interval& each : host_intervals_)
      if (const auto found = each.used.find(one.id); found != each.used.end()) {
        used += found->second;
        seconds += each.seconds;
      }
    if (seconds > 0) one.capacity = std::clamp(1 - used / seconds, 0.0, 1.0);
  }
  std::unordered_set<std::uint32_t> there;
  for (const pcpu& one : host_.pcpus) there.insert(one.id);
  measured_.clear();
  for (std::size_t j = 0; j < now.vms.size(); ++j) {
    const memory& remembered = memories_[keys[j]];
    host_.vms.push_back(describe(now.vms[j], names[j], remembered, there));
    measured_.push_back(remembered.measured);
  }
  SUKIMA_ASSERT(measured_.size() == host_.vms.size() && memories_.size() == host_.vms.size(),
                "each machine is described, measured and remembered once");
  busy_.clear();
  for (std::size_t p = 0; p < now.busy.size() && p < now.pcpus.size(); ++p)
    busy_[now.pcpus[p].id] = now.busy[p];
  clock_ = now.clock;
  begun_ = true;
  return host_;
}

}  // namespace sukima::host
